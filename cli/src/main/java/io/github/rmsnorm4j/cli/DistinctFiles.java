package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.formats.ReplacingFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether two names are of one file, also where links lead there. */
final class DistinctFiles {
  private DistinctFiles() {}

  /**
   * Checks that two arguments name two files.
   *
   * @throws IllegalArgumentException if they do not
   */
  static void require(String argument, Path path, String otherArgument, Path other)
      throws IOException {
    if (same(path, other)) {
      throw new IllegalArgumentException(
          "%s is %s, %s is the same file: they must be two"
              .formatted(argument, path, otherArgument));
    }
  }

  static boolean same(Path path, Path other) throws IOException {
    return real(path).equals(real(other));
  }

  /** Where a name leads to, also through links to a file that is not there yet. */
  private static Path real(Path path) throws IOException {
    if (Files.exists(path)) {
      return path.toRealPath();
    }
    Path target = ReplacingFile.target(path);
    Path folder = target.getParent();
    return folder != null && Files.exists(folder)
        ? folder.toRealPath().resolve(target.getFileName())
        : target.normalize();
  }
}
