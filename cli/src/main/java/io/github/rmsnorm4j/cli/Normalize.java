package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code rmsnorm normalize}: what is wanted. {@link NormalizeJob} does it. */
@Command(
    name = "normalize",
    description = {
      "Normalize the rows of a .npy or .safetensors file.",
      "",
      "OUT appears when it is complete, or not at all; what a killed process leaves behind is a file"
          + " .OUT.xxxxxxxx.tmp beside it, which can be deleted. Tensors that are not chosen, and the metadata,"
          + " are carried over as they are; a .npy file holds one tensor and nothing else. What was"
          + " done is said in one line on standard error.",
      "",
      "With --residual, IN is added to a residual, and OUT is the norm of the sum. The file of"
          + " --residual-out holds that sum and nothing else, and appears just before OUT.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm normalize hidden.npy -o normed.npy",
      "  rmsnorm normalize hidden.npy -o normed.npy --gain m.safetensors:norm.weight",
      "  rmsnorm normalize acts.safetensors -o out.safetensors --tensor layer.0",
      "  rmsnorm normalize x.npy -o x.npy --force --norm layer --dtype f16",
      "  rmsnorm normalize x.npy -o y.npy --like gemma --gain m.safetensors:norm.weight",
      "  rmsnorm normalize x.npy -o y.npy --residual h.npy --residual-out h2.npy"
    })
final class Normalize implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "IN", description = "The file to read.")
  private Path in;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "OUT",
      required = true,
      description = "The file to write: .npy or .safetensors, as its name says.")
  private Path out;

  @Option(
      names = "--tensor",
      paramLabel = "NAME",
      description = "A tensor to normalize; may be repeated (default: all floating ones).")
  private List<String> tensors = List.of();

  @Mixin private NormOptions norm;

  @Mixin private ResidualOptions residuals;

  @Option(
      names = "--axis",
      paramLabel = "N",
      description =
          "Where a row begins: this axis and those after it are normalized as one (default:"
              + " ${DEFAULT-VALUE}, the last).")
  private int axis = -1;

  @Option(
      names = "--dtype",
      paramLabel = "TYPE",
      converter = TypeName.class,
      description =
          "Type of the result: f16, bf16, f32, f64, also float16, torch.bfloat16, ... (default: that"
              + " of the input).")
  private ElementType type;

  @Option(
      names = {"-f", "--force"},
      description =
          "Replace OUT if it exists, which may be IN itself, and the file of --residual-out.")
  private boolean force;

  @Option(
      names = {"-q", "--quiet"},
      description = "No progress and no closing line.")
  private boolean quiet;

  /** Names of types, as NumPy, PyTorch and safetensors have them. */
  static final class TypeName implements ITypeConverter<ElementType> {
    @Override
    public ElementType convert(String name) {
      try {
        return ElementType.ofName(name);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  @Override
  public Integer call() throws IOException {
    long start = System.nanoTime();
    requireName("IN", in);
    requireName("OUT", out);
    PrintWriter err = spec.commandLine().getErr();
    if (residuals.out() != null) {
      requireName("--residual-out", residuals.out());
    }
    try (TensorFile file = TensorFile.open(in);
        StoredResidual residual = openResidual()) {
      NormalizeJob job = plan(file, residual);
      try (TensorWriter writer = create(job, residual);
          Progress progress =
              new Progress(err, job.bytes(), quiet ? () -> false : Terminal::isStandardError)) {
        job.run(writer, progress);
        if (residual != null) {
          residual.commit();
        }
        writer.commit();
      }
      if (!quiet) {
        err.println(Rmsnorm.oneLine(out + ": ") + " " + job.summary(System.nanoTime() - start));
        err.flush();
      }
    }
    return ExitCode.OK;
  }

  private void requireName(String argument, Path path) {
    if (path.toString().isEmpty()) {
      throw wrongUse(null, argument + " is empty, it must name a file");
    }
  }

  private StoredResidual openResidual() throws IOException {
    try {
      return residuals.open();
    } catch (IllegalArgumentException e) {
      throw wrongUse(e, e.getMessage());
    }
  }

  private NormalizeJob plan(TensorFile file, StoredResidual residual) throws IOException {
    try {
      NormSettings settings = norm.settings(residuals.rounding());
      TensorChoice choice = new TensorChoice(file, axis, settings.parameters());
      List<Tensor> chosen = choice.choose(tensors);
      // One that is asked for by name may leave the others behind, for a format that holds one.
      boolean alone = NormalizeJob.isNpy(out) && !tensors.isEmpty();
      if (alone && chosen.size() > 1) {
        throw new IllegalArgumentException(
            "%s: a .npy file holds one tensor, %d were chosen: choose one or write .safetensors"
                .formatted(out, chosen.size()));
      }
      return new NormalizeJob(
          file, out, chosen, alone ? chosen : file.tensors(), axis, type, settings, residual);
    } catch (IllegalArgumentException e) {
      throw wrongUse(e, e.getMessage());
    }
  }

  private TensorWriter create(NormalizeJob job, StoredResidual residual) throws IOException {
    try {
      if (residuals.out() != null) {
        residual.create(residuals.out(), in, out, force);
      }
      return job.create(force);
    } catch (FileAlreadyExistsException e) {
      throw wrongUse(e, e.getMessage() + "; --force replaces it");
    } catch (IllegalArgumentException e) {
      throw wrongUse(e, e.getMessage());
    }
  }

  private ParameterException wrongUse(Exception cause, String message) {
    return new ParameterException(spec.commandLine(), message, cause);
  }
}
