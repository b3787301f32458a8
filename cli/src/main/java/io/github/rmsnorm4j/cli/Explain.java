package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.formats.ReplacingFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code rmsnorm explain}: a page that explains RMSNorm with the reader's numbers. */
@Command(
    name = "explain",
    description = {
      "Write a page that explains RMSNorm, to open in a browser.",
      "",
      "The page is one file and needs no network. The reader changes the numbers of a row, and the"
          + " page computes each step of RMSNorm and LayerNorm as this library does, bit for bit.",
      ""
    },
    footer = {"", "Examples:", "  rmsnorm explain", "  rmsnorm explain -o page.html --language ko"})
final class Explain implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE.html",
      defaultValue = "explain.html",
      description = "The file to write (default: ${DEFAULT-VALUE}).")
  private Path out;

  @Option(
      names = "--language",
      paramLabel = "LANGUAGE",
      description =
          "The language that is shown first: ${COMPLETION-CANDIDATES} (default: that of the"
              + " reader's browser). The page has all of them.")
  private ExplainPage.Language language;

  @Option(
      names = {"-f", "--force"},
      description = "Replace the file if it exists.")
  private boolean force;

  @Override
  public Integer call() throws IOException {
    ReportOptions.requireName("--output", out, ".html");
    try (ReplacingFile file = ReportOptions.begin("--output", out, force)) {
      ReportOptions.write(file, ExplainPage.html(language));
    }
    String done = Printable.escaped(out + ": a page to open in a browser");
    spec.commandLine().getErr().println(done);
    return ExitCode.OK;
  }
}
