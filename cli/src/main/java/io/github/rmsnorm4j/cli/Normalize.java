package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Quantizer;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code rmsnorm normalize}: what is wanted. {@link NormalizeJob} does it. */
@Command(
    name = "normalize",
    description = {
      "Normalize the rows of a file.",
      "",
      "All files that are read may be .npy, .safetensors or GGUF files, the folder of a Hugging Face"
          + " model, or the index of a sharded one. Quantized tensors of GGUF can be neither"
          + " normalized nor kept.",
      "",
      "OUT appears when it is complete, or not at all. A process that is killed may leave a file"
          + " .OUT.xxxxxxxx.tmp next to it, which can be deleted. A .npy file holds one tensor and"
          + " nothing else. A .safetensors file also gets the tensors that are not chosen, and the"
          + " metadata, unchanged. One line on standard error says what was done.",
      "",
      "With --residual, IN is added to a residual, and OUT is the norm of the sum. The file of"
          + " --residual-out holds that sum and nothing else. It appears just before OUT.",
      "",
      "With --gate, --like names a norm with a gate, and OUT is the norm of IN with that gate.",
      "",
      "With --quantize, a tensor NAME becomes codes and scales. The metadata of OUT has the type"
          + " under quantized.NAME, and show and stats read the tensor as numbers.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm normalize hidden.npy -o normed.npy",
      "  rmsnorm normalize hidden.npy -o normed.npy --gain m.safetensors:norm.weight",
      "  rmsnorm normalize acts.safetensors:layer.0 -o out.safetensors",
      "  rmsnorm normalize x.npy -o x.npy --force --like layernorm --dtype f16",
      "  rmsnorm normalize x.npy -o y.npy --like gemma --gain m.safetensors:norm.weight",
      "  rmsnorm normalize embeddings.npy -o y.npy --like l2",
      "  rmsnorm normalize x.npy -o y.npy --gain model.gguf:output_norm.weight",
      "  rmsnorm normalize x.npy -o y.npy --gain Llama-3.2-1B:model.norm.weight",
      "  rmsnorm normalize x.npy -o y.npy --residual h.npy --residual-out h2.npy",
      "  rmsnorm normalize x.npy -o y.npy --like 'llama(gate=silu)' --gate z.npy",
      "  rmsnorm normalize hidden.npy -o codes.safetensors --quantize q8_0",
      "  rmsnorm normalize hidden.npy -o normed.npy --device cuda"
    })
final class Normalize implements Callable<Integer> {
  @Parameters(
      paramLabel = "IN",
      description = "The file to read, or one tensor of it as FILE:NAME.")
  private String reference;

  @Mixin private ResultOptions result;

  @Option(
      names = "--tensor",
      paramLabel = "NAME",
      description =
          "A tensor to normalize, as FILE:NAME chooses it too; may be repeated (default: all of a"
              + " floating type with two axes or more, because one axis is a gain or a bias).")
  private List<String> tensors = List.of();

  @Mixin private NormOptions norm;

  @Mixin private QuantizeOptions quantized;

  @Mixin private BesideOptions besides;

  @Mixin private DeviceOption device;

  @Option(
      names = "--residual-out",
      paramLabel = "FILE",
      description =
          "Where the sum with the residual is written, in the residual's type (default: nowhere).")
  private Path sums;

  @Override
  public Integer call() throws IOException {
    long start = System.nanoTime();
    Path out = result.out;
    TensorReference in = WrongUseException.checked(() -> TensorReference.parse("IN", reference));
    Quantizer rule = WrongUseException.checked(() -> quantized.rule(out, result.axis, result.type));
    WrongUseException.requireName("OUT", out, "a file");
    WrongUseException.requireName("--residual-out", sums, "a file");
    device.requireCpu("--threads", norm.threads(), DeviceOption.OWN_THREADS);
    device.requireCpu("--quantize", quantized.ofGgml(), "no kernel for GPUs writes blocks of ggml");
    try (TensorFile file = TensorFile.open(in.file());
        StoredRows residual = WrongUseException.checked(this::residual);
        StoredRows gate = WrongUseException.checked(() -> besides.gate(norm.like()));
        Normalizer normalizer = normalizer()) {
      List<String> names = WrongUseException.checked(() -> in.names(tensors));
      BesideOptions.requireAlone(gate, "--residual", residual);
      StoredRows beside = gate == null ? residual : gate;
      NormalizeJob job =
          WrongUseException.checked(() -> plan(file, names, beside, rule, normalizer));
      try (TensorWriter added = WrongUseException.checked(() -> createSums(residual, in.file()));
          TensorWriter writer = WrongUseException.checked(() -> job.create(result.force));
          Progress progress = result.progress(job.bytes())) {
        job.run(writer, added, progress);
        if (added != null) {
          added.commit();
        }
        writer.commit();
      }
      result.done(job.summary(System.nanoTime() - start) + leftOut(file, names));
    }
    return ExitCode.OK;
  }

  private StoredRows residual() throws IOException {
    StoredRows residual = besides.residual();
    if (residual == null && sums != null) {
      throw new IllegalArgumentException(
          "--residual-out is %s, it needs --residual".formatted(sums));
    }
    return residual;
  }

  /** What was not chosen because it looks like a parameter, in words; empty if nothing. */
  private static String leftOut(TensorFile file, List<String> names) {
    List<Tensor> floating = new TensorChoice(file, -1, List.of()).floating();
    long left = floating.stream().filter(TensorChoice::isParameter).count();
    return !names.isEmpty() || left == 0 || floating.size() == 1
        ? ""
        : "; %s %s of one axis left as %s (--tensor chooses)"
            .formatted(left, left == 1 ? "tensor" : "tensors", left == 1 ? "it is" : "they are");
  }

  private Normalizer normalizer() throws IOException {
    return device.isCuda() ? new CudaNormalizer(device.open()) : new CpuNormalizer();
  }

  private NormalizeJob plan(
      TensorFile file, List<String> names, StoredRows beside, Quantizer rule, Normalizer normalizer)
      throws IOException {
    Path out = result.out;
    NormSettings settings = norm.settings(besides.rounding);
    TensorChoice choice = new TensorChoice(file, result.axis, settings.parameters());
    boolean plain = names.isEmpty() && beside == null && quantized.type == null;
    List<Tensor> chosen =
        plain && file.tensors().stream().allMatch(this::hasEmptyRows)
            ? List.of()
            : choice.choose(names);
    // One that is asked for by name may leave the others behind, for a format that holds one.
    boolean alone = NormalizeJob.isNpy(out) && !names.isEmpty();
    if (alone && chosen.size() > 1) {
      throw new IllegalArgumentException(
          "%s: a .npy file holds one tensor, %s were chosen: choose one or write .safetensors"
              .formatted(out, chosen.size()));
    }
    return new NormalizeJob(
        file,
        out,
        chosen,
        alone ? chosen : file.tensors(),
        result.axis,
        result.type,
        quantized.type,
        (width, backend) -> settings.norm(width, backend, rule),
        beside,
        normalizer);
  }

  /** A file with nothing else is written as it is. */
  private boolean hasEmptyRows(Tensor tensor) {
    return tensor.dtype().elementType().isPresent()
        && tensor.elements() == 0
        && tensor.width(result.axis) == 0;
  }

  /**
   * The file for the sums, which takes the place of no file and no tensor that is used; or null.
   */
  private TensorWriter createSums(StoredRows residual, Path in) throws IOException {
    if (sums == null) {
      return null;
    }
    DistinctFiles.require("--residual-out", sums, "OUT", result.out);
    DistinctFiles.require("--residual-out", sums, "IN", in);
    int tensors = residual.file().tensors().size();
    if (tensors > 1 && DistinctFiles.same(sums, residual.file().path())) {
      throw new IllegalArgumentException(
          "--residual-out is %s, which holds %s tensors: it must be a file of its own"
              .formatted(sums, tensors));
    }
    Tensor like = residual.tensor();
    Tensor content = new Tensor(residual.name(), like.dtype(), like.shape());
    return TensorWriter.create(sums, List.of(content), Map.of(), result.force);
  }
}
