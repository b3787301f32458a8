package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.models.rewrite.Goal;
import io.github.rmsnorm4j.models.rewrite.RefusedException;
import io.github.rmsnorm4j.models.rewrite.Rewriting;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Result;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Wish;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What {@code fold} and {@code convert} have in common: their options, and the rewriting. */
final class FoldRun {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Parameters(paramLabel = "MODEL", description = "The folder of the model.")
  private Path in;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "OUT",
      required = true,
      description = "The folder to write. It must not exist, or be empty.")
  private Path out;

  @Option(
      names = "--untie",
      description =
          "Give a head that is tied to the token embedding a matrix of its own"
              + " (tie_word_embeddings becomes false). Without it the gain of the last norm cannot be"
              + " folded, and the embedding cannot be centered.")
  private boolean untie;

  @Mixin private MapOption map;

  @Option(
      names = "--trust-gains",
      description =
          "Fold gains as the architecture stores them, g or g - 1, even where the numbers look like"
              + " the other. Without it such a model is refused; rmsnorm inspect shows the numbers.")
  private boolean trustGains;

  @Option(names = "--no-verify", description = "Put OUT in place without comparing it with MODEL.")
  private boolean noVerify;

  @Option(
      names = {"-q", "--quiet"},
      description = "Print errors alone.")
  private boolean quiet;

  int run(Goal goal) throws IOException {
    WrongUseException.requireName("MODEL", in, "a folder");
    long start = System.nanoTime();
    Wish wish = new Wish(goal, map.file(), untie, trustGains);
    try (Rewriting rewriting = Rewriting.open(in, wish)) {
      requireUsable(rewriting);
      print(FoldText.ofPlan(rewriting, untie));
      Result result = write(rewriting);
      print(FoldText.ofResult(result));
      if (result.difference().isPresent()) {
        throw new RefusedException(
            "%s: not written: the result would differ from the model by more than rounding explains: %s"
                .formatted(out, result.difference().get()));
      }
    }
    if (!quiet) {
      double seconds = (System.nanoTime() - start) * 1e-9;
      String done = String.format(Locale.ROOT, "the model %s, in %.2f s", goal, seconds);
      spec.commandLine().getErr().println(Printable.escaped(out + ": ") + done);
    }
    return ExitCode.OK;
  }

  private Result write(Rewriting rewriting) throws IOException {
    PrintWriter err = spec.commandLine().getErr();
    try (Progress progress =
        new Progress(
            err, rewriting.bytes(!noVerify), quiet ? () -> false : Terminal::isStandardError)) {
      return rewriting.write(out, !noVerify, progress::step);
    }
  }

  /** Before anything is said or read. */
  private void requireUsable(Rewriting rewriting) throws IOException {
    try {
      rewriting.requireFree(out);
    } catch (IllegalArgumentException e) {
      throw new WrongUseException(e.getMessage());
    }
  }

  private void print(FoldText text) {
    if (!quiet) {
      PrintWriter to = spec.commandLine().getOut();
      text.lines.forEach(line -> to.println(Printable.escaped(line)));
      to.flush();
    }
  }
}
