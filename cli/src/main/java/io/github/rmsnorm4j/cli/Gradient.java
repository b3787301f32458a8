package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code rmsnorm gradient}: what is wanted. {@link GradientJob} does it. */
@Command(
    name = "gradient",
    description = {
      "Go back through a norm: from the gradient of its output to that of its input.",
      "",
      "X holds the rows that were normalized, DY the gradient of the result, OUT gets that of X."
          + " --dgain and --dbias get those of gain and bias, which are sums over all rows. The"
          + " options of the norm are those of normalize.",
      "",
      "With --residual, X was added to a residual, and the norm is that of the sum. OUT is then the"
          + " gradient of X and of the residual as it was, which are the same; --dresidual is the"
          + " gradient that comes to the sum from where else it went.",
      "",
      "Each file appears when it is complete, or not at all, OUT last. No file that is read is"
          + " replaced. What was done is said in one line on standard error.",
      ""
    },
    footer = {
      "",
      "Without --residual, X may also be the sum that normalize wrote with --residual-out: the same"
          + " to the bit if the sum was rounded first.",
      "",
      "Examples:",
      "  rmsnorm gradient x.npy --dy dy.npy -o dx.npy",
      "  rmsnorm gradient x.npy --dy dy.npy -o dx.npy --gain g.npy --dgain dgain.npy",
      "  rmsnorm gradient x.safetensors --tensor h --dy dy.safetensors:h -o dx.npy",
      "  rmsnorm gradient x.npy --dy dy.npy -o dx.npy --norm layer --dbias dbias.npy",
      "  rmsnorm gradient x.npy --dy dy.npy -o dx.npy --residual h.npy --dresidual dh.npy"
    })
final class Gradient implements Callable<Integer> {
  @Parameters(paramLabel = "X", description = "The file of the rows that were normalized.")
  private Path in;

  @Option(
      names = "--dy",
      paramLabel = "FILE[:NAME]",
      required = true,
      description = "The gradient of the norm's output, of the shape of X.")
  private String dy;

  @Mixin private ResultOptions result;

  @Option(
      names = "--dgain",
      paramLabel = "FILE",
      description =
          "Where the gradient of the gain goes, in f32, or f64 if X is; without --gain that of a"
              + " gain of ones (default: nowhere).")
  private Path dgain;

  @Option(
      names = "--dbias",
      paramLabel = "FILE",
      description = "Where the gradient of the bias goes, likewise (default: nowhere).")
  private Path dbias;

  @Option(
      names = "--dresidual",
      paramLabel = "FILE[:NAME]",
      description =
          "Another gradient of what was normalized, of its shape, that is added to OUT: that of the"
              + " residual's sum (default: none).")
  private String dresidual;

  @Option(
      names = "--tensor",
      paramLabel = "NAME",
      description = "The tensor of X (default: its only floating one).")
  private String tensor;

  @Mixin private NormOptions norm;

  @Mixin private ResidualOptions residuals;

  @Override
  public Integer call() throws IOException {
    long start = System.nanoTime();
    outputs().forEach(result::requireName);
    result.requireName("X", in);
    try (TensorFile file = TensorFile.open(in);
        StoredRows residual = result.checked(residuals::open);
        StoredRows slopes = open("--dy", dy);
        StoredRows ofSum = dresidual == null ? null : open("--dresidual", dresidual)) {
      GradientJob job = result.checked(() -> plan(file, residual, slopes, ofSum));
      try (TensorWriter dx = create(result.out(), job.result());
          TensorWriter gain = dgain == null ? null : create(dgain, job.parameter("dgain"));
          TensorWriter bias = dbias == null ? null : create(dbias, job.parameter("dbias"));
          Progress progress = result.progress(job.bytes())) {
        job.run(dx, gain, bias, progress);
        if (gain != null) {
          gain.commit();
        }
        if (bias != null) {
          bias.commit();
        }
        dx.commit();
      }
      result.done(job.summary(System.nanoTime() - start));
    }
    return ExitCode.OK;
  }

  private Map<String, Path> outputs() {
    Map<String, Path> outputs = new LinkedHashMap<>();
    outputs.put("OUT", result.out());
    if (dgain != null) {
      outputs.put("--dgain", dgain);
    }
    if (dbias != null) {
      outputs.put("--dbias", dbias);
    }
    return outputs;
  }

  private StoredRows open(String option, String text) throws IOException {
    result.requireName(option, text);
    return result.checked(() -> StoredRows.open(option, text));
  }

  private GradientJob plan(
      TensorFile file, StoredRows residual, StoredRows slopes, StoredRows ofSum)
      throws IOException {
    NormSettings settings = norm.settings(residuals.rounding());
    Map<String, Path> inputs = new LinkedHashMap<>();
    inputs.put("X", in);
    inputs.put("--dy", slopes.file().path());
    if (residual != null) {
      inputs.put("--residual", residual.file().path());
    }
    if (ofSum != null) {
      inputs.put("--dresidual", ofSum.file().path());
    }
    for (StoredParameter parameter : settings.parameters()) {
      inputs.put("--" + parameter.kind(), parameter.reference().file());
    }
    requireDistinct(inputs);
    StoredRows rows = new StoredRows("X", file, choose(file, settings));
    GradientInputs read = new GradientInputs(rows, residual, slopes, ofSum);
    return new GradientJob(read, result.axis(), result.type(), settings, GradientJob.PIECE);
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

  private Tensor choose(TensorFile file, NormSettings settings) {
    TensorChoice choice = new TensorChoice(file, result.axis(), settings.parameters());
    List<Tensor> chosen = choice.choose(tensor == null ? List.of() : List.of(tensor));
    if (chosen.size() > 1) {
      throw new IllegalArgumentException(
          "%s: has %d floating tensors, gradient takes one: choose it with --tensor from %s"
              .formatted(in, chosen.size(), TensorChoice.list(chosen)));
    }
    return chosen.getFirst();
  }

  private TensorWriter create(Path path, Tensor content) throws IOException {
    return result.checked(
        () -> TensorWriter.create(path, List.of(content), Map.of(), result.force()));
  }
}
