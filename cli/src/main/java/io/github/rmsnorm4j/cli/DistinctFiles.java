package io.github.rmsnorm4j.cli;

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

  /** Where a name leads to, as far as there is anything yet. */
  private static Path real(Path path) throws IOException {
    if (Files.exists(path)) {
      return path.toRealPath();
    }
    Path absolute = path.toAbsolutePath().normalize();
    Path folder = absolute.getParent();
    return folder != null && Files.exists(folder)
        ? folder.toRealPath().resolve(absolute.getFileName())
        : absolute;
  }
}
