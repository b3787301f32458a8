package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorWriter;
import io.github.rmsnorm4j.measure.Paragraph;
import io.github.rmsnorm4j.models.check.CheckReport;
import io.github.rmsnorm4j.models.check.Probe;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The file of rows that tell norms apart. */
final class CheckProbe {
  /** Wider rows take minutes: each pair of norms is tried on many rows. */
  private static final long GREATEST_WIDTH = 1 << 16;

  private CheckProbe() {}

  static void requireName(Path file, boolean residual) {
    boolean several = file.toString().endsWith(".safetensors");
    if (!several && !file.toString().endsWith(".npy")) {
      throw new IllegalArgumentException(
          "--probe is '%s', its name must end in .npy or .safetensors".formatted(file));
    }
    if (residual && !several) {
      throw new IllegalArgumentException(
          "--probe is %s, with --residual its name must end in .safetensors".formatted(file));
    }
  }

  /** Refuses a file that cannot hold the rows, before anything is compared. */
  static void requireHolds(Path file, Tensor x, ElementType type) {
    if (x.width(-1) > GREATEST_WIDTH) {
      throw new IllegalArgumentException(
          "--probe makes rows of %s elements at most, those of X have %s"
              .formatted(GREATEST_WIDTH, x.width(-1)));
    }
    if (type == ElementType.BFLOAT16 && file.toString().endsWith(".npy")) {
      throw new IllegalArgumentException(
          "--probe is %s, but .npy has no bfloat16: its name must end in .safetensors"
              .formatted(file));
    }
    if (!Files.isDirectory(file.toAbsolutePath().getParent())) {
      throw new IllegalArgumentException(
          "--probe is %s, there is no folder %s".formatted(file, file.getParent()));
    }
  }

  /**
   * Writes it, unless there is nothing to tell apart.
   *
   * @return what was done, in lines
   */
  static List<String> write(
      Path path, StoredRows like, Probe probe, CheckReport report, boolean force)
      throws IOException {
    if (report.status() != CheckReport.Status.CANNOT_TELL) {
      return List.of("No probe is written: there are no two norms to tell apart.");
    }
    if (probe.told() == 0) {
      return Paragraph.lines(
          "",
          "No probe is written: no row was found that tells any two of them apart, for example %s."
              .formatted(probe.untold().getFirst()));
    }
    List<Tensor> tensors = new ArrayList<>();
    List<Long> shape = List.of((long) probe.x().size(), (long) report.width());
    tensors.add(new Tensor("x", like.tensor().dtype(), shape));
    if (!probe.residual().isEmpty()) {
      tensors.add(new Tensor("residual", Dtype.of(like.type()), shape));
    }
    try (TensorWriter writer = TensorWriter.create(path, tensors, Map.of(), force);
        Arena arena = Arena.ofConfined()) {
      for (Tensor tensor : writer.order()) {
        List<double[]> rows = tensor.name().equals("residual") ? probe.residual() : probe.x();
        writer.write(stored(rows, like.type(), arena.allocate(tensor.bytes(), Double.BYTES)));
      }
      writer.commit();
    } catch (FileAlreadyExistsException e) {
      throw new IllegalArgumentException("--probe " + e.getMessage() + "; --force replaces it", e);
    }
    return words(path, probe);
  }

  private static List<String> words(Path path, Probe probe) {
    List<String> lines = new ArrayList<>();
    lines.addAll(
        Paragraph.lines(
            "",
            "%s: %s rows that tell %s pairs of these norms apart. Run your norm on them, and check again."
                .formatted(
                    Printable.escaped("" + path.getFileName()), probe.x().size(), probe.told())));
    List<String> untold = probe.untold();
    if (!untold.isEmpty()) {
      lines.addAll(
          Paragraph.lines(
              "",
              "Pairs that no row was found for: %s, for example %s."
                  .formatted(untold.size(), untold.getFirst())));
    }
    return lines;
  }

  /** Values that the type holds, as they are stored. */
  private static MemorySegment stored(
      List<double[]> rows, ElementType type, MemorySegment elements) {
    long at = 0;
    for (double[] row : rows) {
      for (double value : row) {
        type.set(elements, at++, value);
      }
    }
    return elements;
  }
}
