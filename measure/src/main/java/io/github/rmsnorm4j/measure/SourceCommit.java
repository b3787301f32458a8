package io.github.rmsnorm4j.measure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The commit of the sources that are measured. */
public final class SourceCommit {
  private SourceCommit() {}

  /**
   * The commit of a checkout.
   *
   * @param folder in the checkout
   * @return the first twelve digits of the commit, with {@code and changes} behind them if a file
   *     that git knows has been changed since; null if git does not tell
   * @throws IOException if the thread was interrupted
   */
  public static String of(Path folder) throws IOException {
    String commit = git(folder, "rev-parse", "--short=12", "HEAD");
    String changes = git(folder, "status", "--porcelain", "--untracked-files=no");
    if (commit == null || changes == null) {
      return null;
    }
    return changes.isEmpty() ? commit : commit + " and changes";
  }

  /**
   * The beginning of a table's caption.
   *
   * @param date when it was measured
   * @param commit what was measured, or null if that is not known
   * @return both in words
   */
  public static String measuredOn(String date, String commit) {
    return "Measured on "
        + date
        + (commit == null ? ", the commit was not recorded." : ", commit " + commit + ".");
  }

  /** What git says, or null if it fails or is not there. */
  private static String git(Path folder, String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(List.of("git", "-C", folder.toAbsolutePath().toString()));
    command.addAll(List.of(arguments));
    Process process;
    try {
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    } catch (IOException e) {
      return null; // there is no git
    }
    try {
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor() == 0 ? out.strip() : null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while git was asked for the commit", e);
    }
  }
}
