package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The options of commands that make a file of rows out of another. */
final class ResultOptions {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "OUT",
      required = true,
      description = "The file to write. Its ending decides the format: .npy or .safetensors.")
  private Path out;

  @Option(
      names = "--axis",
      paramLabel = "N",
      description =
          "The first axis of a row: this axis and all after it are normalized as one row (default:"
              + " ${DEFAULT-VALUE}, the last axis alone).")
  private int axis = -1;

  @Option(
      names = "--dtype",
      paramLabel = "TYPE",
      converter = TypeName.class,
      description =
          "Type of OUT: f16, bf16, f32, f64, also float16, torch.bfloat16, ... (default: the type of"
              + " the input that it is made from).")
  private ElementType type;

  @Option(
      names = {"-f", "--force"},
      description = "Replace OUT and other files that are written, if they exist.")
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

  /** A part of the work that can turn out to be wrong use. */
  interface Step<T> {
    T make() throws IOException;
  }

  Path out() {
    return out;
  }

  int axis() {
    return axis;
  }

  /** The type of the result, or null for that of what it is made from. */
  ElementType type() {
    return type;
  }

  boolean force() {
    return force;
  }

  /**
   * Does a step; what it refuses, and files that exist already, are wrong use of the command.
   *
   * @throws ParameterException if it is
   */
  <T> T checked(Step<T> step) throws IOException {
    try {
      return step.make();
    } catch (FileAlreadyExistsException e) {
      throw wrongUse(e, e.getMessage() + "; --force replaces it");
    } catch (IllegalArgumentException e) {
      throw wrongUse(e, e.getMessage());
    }
  }

  /**
   * A name that is needed, of a file or a tensor in one.
   *
   * @throws ParameterException if it is empty
   */
  void requireName(String argument, Object name) {
    if (name.toString().isEmpty()) {
      throw wrongUse(null, argument + " is empty, it must name a file");
    }
  }

  private ParameterException wrongUse(Exception cause, String message) {
    return new ParameterException(spec.commandLine(), message, cause);
  }

  Progress progress(long bytes) {
    PrintWriter err = spec.commandLine().getErr();
    return new Progress(err, bytes, quiet ? () -> false : Terminal::isStandardError);
  }

  /** The closing line. */
  void done(String summary) {
    if (!quiet) {
      PrintWriter err = spec.commandLine().getErr();
      err.println(Rmsnorm.oneLine(out + ": ") + " " + summary);
      err.flush();
    }
  }
}
