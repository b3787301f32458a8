package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Finds the file to which a symbolic link leads, whether the file exists or not. */
final class Links {
  private static final int MOST_LINKS = 40;

  private Links() {}

  static Path follow(Path path) throws IOException {
    Path at = path.toAbsolutePath();
    for (int links = 0; Files.isSymbolicLink(at); links++) {
      if (links == MOST_LINKS) {
        throw new FileSystemException(
            Printable.escaped(path.toString()), null, "is a symbolic link that leads nowhere");
      }
      at = at.resolveSibling(Files.readSymbolicLink(at));
    }
    return at;
  }
}
