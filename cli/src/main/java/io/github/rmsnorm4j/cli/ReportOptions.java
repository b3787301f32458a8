package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.formats.ReplacingFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of commands that keep what they found as a page and as figures for programs. */
final class ReportOptions {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--report",
      paramLabel = "FILE.html",
      description = "Write a page with plots to this file. The page needs no network.")
  private Path report;

  @Option(
      names = "--json",
      paramLabel = "FILE.json",
      description = "Write all figures to this file as JSON, also those that are not shown.")
  private Path json;

  @Option(
      names = {"-f", "--force"},
      description = "Replace files that exist.")
  private boolean force;

  /** The files, of which either may be missing. To be made first: no minutes are spent in vain. */
  record Files(ReplacingFile page, ReplacingFile data) implements AutoCloseable {
    void write(String html, String json) throws IOException {
      ReportOptions.write(page, html);
      ReportOptions.write(data, json);
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

  boolean force() {
    return force;
  }

  /** Refuses one file for both, and names that do not say what will be in the files. */
  void requireDistinct() throws IOException {
    if (report != null && json != null && DistinctFiles.same(report, json)) {
      String text = "--report and --json are both " + report + ", they must be two files";
      throw wrongUse(spec.commandLine(), null, text);
    }
    requireName(spec.commandLine(), "--report", report, ".html");
    requireName(spec.commandLine(), "--json", json, ".json");
  }

  /** Refuses to replace a file that the command reads, also with {@code --force}. */
  void requireNotRead(List<Path> read) throws IOException {
    for (Path file : read) {
      for (Path written : new Path[] {report, json}) {
        if (written != null && DistinctFiles.same(written, file)) {
          String text =
              "%s is %s, which is read: name another file"
                  .formatted(written.equals(json) ? "--json" : "--report", written);
          throw wrongUse(spec.commandLine(), null, text);
        }
      }
    }
  }

  /**
   * Refuses a name that is empty or has another ending.
   *
   * @param file what the option was given, null if it was not
   */
  static void requireName(CommandLine command, String option, Path file, String ending) {
    if (file == null) {
      return;
    }
    if (file.toString().isEmpty()) {
      throw wrongUse(
          command, null, option + " is empty, it must name a file that ends in " + ending);
    }
    if (!file.toString().endsWith(ending)) {
      throw wrongUse(command, null, option + " is " + file + ", its name must end in " + ending);
    }
  }

  /**
   * Begins the files.
   *
   * @throws ParameterException if they cannot be
   */
  Files begin() throws IOException {
    CommandLine command = spec.commandLine();
    ReplacingFile page = begin(command, "--report", report, force);
    try {
      return new Files(page, begin(command, "--json", json, force));
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
   * @throws ParameterException if that cannot be
   */
  static ReplacingFile begin(CommandLine command, String option, Path file, boolean force)
      throws IOException {
    if (file == null) {
      return null;
    }
    if (file.toString().isEmpty()) {
      throw wrongUse(command, null, option + " is empty, it must name a file");
    }
    try {
      return ReplacingFile.create(file, force);
    } catch (FileAlreadyExistsException e) {
      throw wrongUse(command, e, option + " " + e.getMessage() + "; --force replaces it");
    } catch (FileSystemException e) {
      throw wrongUse(command, e, option + " " + e.getMessage());
    }
  }

  /** Writes a text that is there whole or not at all. */
  static void write(ReplacingFile file, String text) throws IOException {
    if (file != null) {
      file.write(MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8)));
      file.commit();
    }
  }

  /** The command as it was given, to be given to a shell again. */
  String command() {
    List<String> words = spec.root().commandLine().getParseResult().originalArgs();
    return words.stream()
        .map(word -> word.matches("[\\w./=:+,-]+") ? word : "'" + word.replace("'", "'\\''") + "'")
        .collect(Collectors.joining(" ", "./rmsnorm ", ""));
  }

  private static ParameterException wrongUse(CommandLine command, Exception cause, String text) {
    return new ParameterException(command, text, cause);
  }
}
