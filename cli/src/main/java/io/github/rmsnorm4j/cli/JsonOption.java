package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.formats.ReplacingFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** The options of commands that give what they found to programs, too. */
public final class JsonOption {
  private static final Path STANDARD_OUTPUT = Path.of("-");

  /** For picocli. */
  public JsonOption() {}

  @Option(
      names = "--json",
      paramLabel = "FILE.json|-",
      description =
          "Write all figures to this file as JSON, also those that are not shown. With - they go to"
              + " standard output, and the text goes nowhere.")
  private Path json;

  @Option(
      names = {"-f", "--force"},
      description = "Replace files that exist.")
  public boolean force;

  /** Where the JSON goes: to a file, or to standard output. */
  public record JsonOutput(ReplacingFile file, PrintWriter out) implements AutoCloseable {
    public void write(String text) throws IOException {
      if (file == null) {
        out.print(text);
      } else {
        ReportOptions.write(file, text);
      }
    }

    /** Without {@link #write} as if nothing had been begun. */
    @Override
    public void close() throws IOException {
      if (file != null) {
        file.close();
      }
    }
  }

  /** The file that is asked for; null if there is none. */
  Path file() {
    return STANDARD_OUTPUT.equals(json) ? null : json;
  }

  /**
   * Begins the output. If that is standard output, the command prints nothing else from now on.
   *
   * @return null if no JSON is wanted
   * @throws WrongUseException if it cannot be begun
   */
  JsonOutput begin(CommandLine command) throws IOException {
    ReportOptions.requireName("--json", file(), ".json");
    if (json == null) {
      return null;
    }
    if (file() != null) {
      return new JsonOutput(ReportOptions.begin("--json", json, force), null);
    }
    PrintWriter out = command.getOut();
    command.setOut(new PrintWriter(Writer.nullWriter()));
    return new JsonOutput(null, out);
  }
}
