package io.github.rmsnorm4j.studies.story;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorWriter;
import io.github.rmsnorm4j.models.transformer.DepthObserver;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The residual stream on the sample text as a file for the other commands: {@code layers.N.hidden}
 * is what block N is given, a row for each token, and {@code layers.N.norm.weight} is the gain of
 * the norm that it meets first. The last N is behind all blocks.
 */
public final class Activations implements AutoCloseable {
  private final Storyteller teller;
  private final List<int[]> windows;
  private final int depths;
  private final int width;
  private final int tokens;
  private final boolean hasGains;
  private final TensorWriter file;

  /** Begins the file, to be written later. */
  public Activations(Path path, Weights trained, Change change, List<int[]> windows, boolean force)
      throws IOException {
    this.windows = windows;
    depths = trained.config().layers() + 1;
    width = trained.config().width();
    tokens = windows.stream().mapToInt(window -> window.length - 1).sum();
    hasGains = !change.none();
    file = TensorWriter.create(path, tensors(), Map.of("norms", change.toString()), force);
    teller = new Storyteller(trained, change);
  }

  private List<Tensor> tensors() {
    List<Tensor> tensors = new ArrayList<>();
    for (int depth = 0; depth < depths; depth++) {
      String name = "layers." + depth;
      tensors.add(new Tensor(name + ".hidden", Dtype.F32, List.of((long) tokens, (long) width)));
      if (hasGains) {
        tensors.add(new Tensor(name + ".norm.weight", Dtype.F32, List.of((long) width)));
      }
    }
    return tensors;
  }

  /** Runs the model and writes the whole file. */
  public void write() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      long bytes = (long) tokens * width * Float.BYTES;
      MemorySegment all = arena.allocate(depths * bytes, Float.BYTES);
      teller.loss(windows, new Recorder(all, bytes));
      for (int depth = 0; depth < depths; depth++) {
        file.write(all.asSlice(depth * bytes, bytes));
        if (hasGains) {
          file.write(teller.gain(depth));
        }
      }
      file.commit();
    }
  }

  /** What is in the file: rows, their width, and at how many depths. */
  @Override
  public String toString() {
    return "%s rows of %s at %s depths%s"
        .formatted(tokens, width, depths, hasGains ? ", with the gains of the norms" : "");
  }

  /** Without {@link #write} as if nothing had been begun. */
  @Override
  public void close() throws IOException {
    try (file;
        teller) {
      // Both are closed, whatever the other says.
    }
  }

  /** Copies the rows of each depth behind one another. */
  private static final class Recorder implements DepthObserver {
    private final MemorySegment all;
    private final long bytes;
    private long done;

    Recorder(MemorySegment all, long bytes) {
      this.all = all;
      this.bytes = bytes;
    }

    @Override
    public void forward(int depth, MemorySegment activations) {
      long row = activations.byteSize();
      MemorySegment.copy(activations, 0, all, depth * bytes + done, row);
      done += (depth + 1) * bytes == all.byteSize() ? row : 0;
    }
  }
}
