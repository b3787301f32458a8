package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code rmsnorm gradient}: what is wanted. {@link GradientJob} does it. */
@Command(
    name = "gradient",
    description = {
      "Compute the gradients of a norm's input, gain and bias from the gradient of its output.",
      "",
      "X holds the rows that were normalized. DY holds the gradient of the norm's output. OUT gets"
          + " the gradient of X. --dgain and --dbias get the gradients of gain and bias, which are"
          + " sums over all rows. The options that describe the norm are those of normalize.",
      "",
      "With --residual, the norm is that of the sum X + residual. OUT is then the gradient of X, and"
          + " also the gradient of the residual before the addition: the two are equal. Use"
          + " --dresidual if the sum also went elsewhere, as in a skip connection: it is the gradient"
          + " that comes back from there, and it is added to OUT.",
      "",
      "With --gate, --like names a norm with a gate. --dz gets the gradient of the rows of the gate.",
      "",
      "Each file appears when it is complete, or not at all, OUT last. No file that is read is"
          + " replaced. One line on standard error says what was done.",
      ""
    },
    footer = {
      "",
      "X may also be the sum that normalize wrote with --residual-out. Then leave --residual out. The"
          + " result has the same bits if the sum was rounded first (--residual-rounding).",
      "",
      "Examples:",
      "  rmsnorm gradient x.npy --dy dy.npy -o dx.npy",
      "  rmsnorm gradient x.npy --dy dy.npy -o dx.npy --gain g.npy --dgain dgain.npy",
      "  rmsnorm gradient x.npy --dy dy.npy -o dx.npy --gain m.gguf:output_norm.weight",
      "  rmsnorm gradient x.safetensors:h --dy dy.safetensors:h -o dx.npy",
      "  rmsnorm gradient x.npy --dy dy.npy -o dx.npy --like layernorm --dbias db.npy",
      "  rmsnorm gradient x.npy --dy g.npy -o dx.npy --residual h.npy --dresidual d.npy"
    })
final class Gradient implements Callable<Integer> {
  @Parameters(
      paramLabel = "X",
      description = "The file of the rows that were normalized, or a tensor of it as FILE:NAME.")
  private String reference;

  @Option(
      names = "--dy",
      paramLabel = "FILE[:NAME]",
      required = true,
      description = "The gradient of the norm's output. It has the shape of X.")
  private String dy;

  @Mixin private ResultOptions result;

  @Option(
      names = "--dgain",
      paramLabel = "FILE",
      description =
          "Write the gradient of the gain to FILE: f32, or f64 if X is f64. Without --gain the gain"
              + " is taken as ones (default: not written).")
  private Path dgain;

  @Option(
      names = "--dbias",
      paramLabel = "FILE",
      description =
          "Write the gradient of the bias to FILE, in the same type (default: not written).")
  private Path dbias;

  @Option(
      names = "--dresidual",
      paramLabel = "FILE[:NAME]",
      description =
          "A gradient that is added to OUT: it reaches the normalized sum by another way, such as a"
              + " skip connection. It has the shape of X (default: none).")
  private String dresidual;

  @Option(
      names = "--dz",
      paramLabel = "FILE",
      description =
          "Write the gradient of the rows of --gate to FILE, in the type of OUT (default: not"
              + " written).")
  private Path dz;

  @Option(
      names = "--tensor",
      paramLabel = "NAME",
      description =
          "The tensor of X, as FILE:NAME chooses it too (default: the only one of a floating type"
              + " with two axes or more).")
  private String tensor;

  @Mixin private NormOptions norm;

  @Mixin private BesideOptions besides;

  @Override
  public Integer call() throws IOException {
    long start = System.nanoTime();
    outputs().forEach((name, file) -> WrongUseException.requireName(name, file, "a file"));
    TensorReference in = WrongUseException.checked(() -> TensorReference.parse("X", reference));
    try (TensorFile file = TensorFile.open(in.file());
        StoredRows residual = WrongUseException.checked(besides::residual);
        StoredRows gate = WrongUseException.checked(this::gate);
        StoredRows slopes = open("--dy", dy);
        StoredRows ofSum = dresidual == null ? null : open("--dresidual", dresidual)) {
      GradientJob job =
          WrongUseException.checked(() -> plan(in, file, residual, gate, slopes, ofSum));
      SequencedMap<String, TensorWriter> writers = new LinkedHashMap<>();
      try (Closeable _ = () -> close(writers);
          Progress progress = result.progress(job.bytes())) {
        for (Map.Entry<String, Path> output : outputs().entrySet()) {
          writers.put(output.getKey(), create(output.getValue(), job.content(output.getKey())));
        }
        job.run(writers, progress);
        for (TensorWriter writer : writers.sequencedValues().reversed()) {
          writer.commit();
        }
      }
      result.done(job.summary(System.nanoTime() - start));
    }
    return ExitCode.OK;
  }

  private static void close(Map<String, TensorWriter> writers) throws IOException {
    for (TensorWriter writer : writers.values()) {
      writer.close();
    }
  }

  /** What is written, by the names of arguments. */
  private Map<String, Path> outputs() {
    Map<String, Path> outputs = new LinkedHashMap<>();
    outputs.put(GradientJob.DX, result.out);
    outputs.put(GradientJob.DZ, dz);
    outputs.put(GradientJob.DGAIN, dgain);
    outputs.put(GradientJob.DBIAS, dbias);
    outputs.values().removeIf(Objects::isNull);
    return outputs;
  }

  private StoredRows gate() throws IOException {
    StoredRows gate = besides.gate(norm.like());
    if (gate == null && dz != null) {
      throw new IllegalArgumentException("--dz is %s, it needs --gate".formatted(dz));
    }
    return gate;
  }

  private StoredRows open(String option, String text) throws IOException {
    return WrongUseException.checked(() -> StoredRows.open(option, text));
  }

  private GradientJob plan(
      TensorReference in,
      TensorFile file,
      StoredRows residual,
      StoredRows gate,
      StoredRows slopes,
      StoredRows ofSum)
      throws IOException {
    BesideOptions.requireAlone(gate, "--residual", residual);
    BesideOptions.requireAlone(gate, "--dresidual", ofSum);
    NormSettings settings = norm.settings(besides.rounding);
    Map<String, Path> inputs = new LinkedHashMap<>();
    inputs.put("X", in.file());
    Stream.of(slopes, residual, gate, ofSum)
        .filter(Objects::nonNull)
        .forEach(rows -> inputs.put(rows.argument(), rows.file().path()));
    for (StoredParameter parameter : settings.parameters()) {
      inputs.put("--" + parameter.kind(), parameter.reference().file());
    }
    requireDistinct(inputs);
    StoredRows rows = new StoredRows("X", file, choose(in, file, settings));
    GradientInputs read = new GradientInputs(rows, residual, gate, slopes, ofSum);
    return new GradientJob(read, result.axis, result.type, settings, GradientJob.PIECE);
  }

  /** Each file that is written must be none that is read and no other that is written. */
  private void requireDistinct(Map<String, Path> inputs) throws IOException {
    Map<String, Path> others = new LinkedHashMap<>(inputs);
    for (Map.Entry<String, Path> output : outputs().entrySet()) {
      for (Map.Entry<String, Path> other : others.entrySet()) {
        DistinctFiles.require(output.getKey(), output.getValue(), other.getKey(), other.getValue());
      }
      others.put(output.getKey(), output.getValue());
    }
  }

  private Tensor choose(TensorReference in, TensorFile file, NormSettings settings) {
    TensorChoice choice = new TensorChoice(file, result.axis, settings.parameters());
    List<Tensor> chosen = choice.choose(in.names(tensor == null ? List.of() : List.of(tensor)));
    if (chosen.size() > 1) {
      throw new IllegalArgumentException(
          "%s: has %s tensors of rows, gradient takes one: choose it with --tensor from %s"
              .formatted(in.file(), chosen.size(), TensorChoice.list(chosen)));
    }
    return chosen.getFirst();
  }

  private TensorWriter create(Path path, Tensor content) throws IOException {
    return WrongUseException.checked(
        () -> TensorWriter.create(path, List.of(content), Map.of(), result.force));
  }
}
