package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Printable;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of commands that make a file of rows out of another. */
final class ResultOptions {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "OUT",
      required = true,
      description = "The file to write. Its ending decides the format: .npy or .safetensors.")
  Path out;

  @Option(
      names = "--axis",
      paramLabel = "N",
      description =
          "The first axis of a row: this axis and all after it are normalized as one row (default:"
              + " ${DEFAULT-VALUE}, only the last axis).")
  int axis = -1;

  @Option(
      names = "--dtype",
      paramLabel = "TYPE",
      description =
          "Type of OUT: f16, bf16, f32, f64, also float16, torch.bfloat16, ... (default: the type of"
              + " the input that it is made from).")
  ElementType type;

  @Option(
      names = {"-f", "--force"},
      description = "Replace OUT and other files that are written, if they exist.")
  boolean force;

  @Option(
      names = {"-q", "--quiet"},
      description = "No progress and no closing line.")
  private boolean quiet;

  Progress progress(long bytes) {
    PrintWriter err = spec.commandLine().getErr();
    return new Progress(err, bytes, quiet ? () -> false : Terminal::isStandardError);
  }

  /** The closing line. */
  void done(String summary) {
    if (!quiet) {
      spec.commandLine().getErr().println(Printable.escaped(out + ": ") + summary);
    }
  }
}
