package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.formats.ReplacingFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of commands that keep what they found as a page and as figures for programs. */
public final class ReportOptions {
  /** For picocli. */
  public ReportOptions() {}

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--report",
      paramLabel = "FILE.html",
      description = "Write a page with plots to this file. The page needs no network.")
  private Path report;

  @Mixin private JsonOption json;

  /** The files, of which either may be missing. To be made first: no minutes are spent in vain. */
  public record Files(ReplacingFile page, JsonOption.JsonOutput data) implements AutoCloseable {
    public void write(String html, String json) throws IOException {
      ReportOptions.write(page, html);
      if (data != null) {
        data.write(json);
      }
    }

    /** Without {@link #write} as if nothing had been begun. */
    @Override
    public void close() throws IOException {
      try (page;
          data) {
        // Either is closed if it is there, whatever the other says.
      }
    }
  }

  /** Whether files that exist are replaced. */
  public boolean force() {
    return json.force;
  }

  /** Refuses one file for both, and names that do not say what will be in the files. */
  public void requireDistinct() throws IOException {
    if (report != null && json.file() != null && DistinctFiles.same(report, json.file())) {
      String text = "--report and --json are both " + report + ", they must be two files";
      throw new WrongUseException(text);
    }
    requireName("--report", report, ".html");
    requireName("--json", json.file(), ".json");
  }

  /** Refuses to replace a file that the command reads, also with {@code --force}. */
  void requireNotRead(List<Path> read) throws IOException {
    for (Path file : read) {
      for (Path written : new Path[] {report, json.file()}) {
        if (written != null && DistinctFiles.same(written, file)) {
          String text =
              "%s is %s, which is read: name another file"
                  .formatted(written.equals(json.file()) ? "--json" : "--report", written);
          throw new WrongUseException(text);
        }
      }
    }
  }

  /**
   * Refuses a name that is empty or has another ending.
   *
   * @param file what the option was given, null if it was not
   */
  public static void requireName(String option, Path file, String ending) {
    WrongUseException.requireName(option, file, "a file that ends in " + ending);
    if (file != null && !file.toString().endsWith(ending)) {
      throw new WrongUseException(option + " is " + file + ", its name must end in " + ending);
    }
  }

  /**
   * Begins the files.
   *
   * @throws WrongUseException if they cannot be
   */
  public Files begin() throws IOException {
    ReplacingFile page = begin("--report", report, force());
    try {
      return new Files(page, json.begin(spec.commandLine()));
    } catch (IOException | RuntimeException e) {
      if (page != null) {
        page.close();
      }
      throw e;
    }
  }

  /**
   * Begins the file that an option names, if it names one.
   *
   * @throws WrongUseException if that cannot be
   */
  public static ReplacingFile begin(String option, Path file, boolean force) throws IOException {
    WrongUseException.requireName(option, file, "a file");
    return file == null
        ? null
        : WrongUseException.begun(option, () -> ReplacingFile.create(file, force));
  }

  /** Writes a text that is there whole or not at all. */
  public static void write(ReplacingFile file, String text) throws IOException {
    if (file != null) {
      file.write(MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8)));
      file.commit();
    }
  }

  /** What is said when they are written, for example {@code --report wrote page.html}. */
  public List<String> written() {
    List<String> lines = new ArrayList<>();
    if (report != null) {
      lines.add("--report wrote " + report);
    }
    if (json.file() != null) {
      lines.add("--json wrote " + json.file());
    }
    return lines;
  }

  /** The command as it was given, to be given to a shell again. */
  public String command() {
    List<String> words = spec.root().commandLine().getParseResult().originalArgs();
    return words.stream()
        .map(word -> word.matches("[\\w./=:+,-]+") ? word : "'" + word.replace("'", "'\\''") + "'")
        .collect(Collectors.joining(" ", "./rmsnorm ", ""));
  }
}
