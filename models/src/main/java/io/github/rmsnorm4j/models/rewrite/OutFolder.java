package io.github.rmsnorm4j.models.rewrite;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.stream.Stream;

/** Where a result may be put. */
final class OutFolder {
  private OutFolder() {}

  /**
   * Checks that a folder is not in the way of the model.
   *
   * @return the folder, with no link in the path to it
   * @throws IllegalArgumentException if it is
   */
  static Path place(Path in, Path out) throws IOException {
    Path parent = out.toAbsolutePath().getParent();
    if (out.toString().isEmpty() || parent == null || out.endsWith(".") || out.endsWith("..")) {
      throw new IllegalArgumentException("OUT is '" + out + "', it must name a folder");
    }
    if (!Files.isDirectory(parent)) {
      throw new IllegalArgumentException(
          "OUT is %s, but there is no folder %s".formatted(out, parent));
    }
    Path real = parent.toRealPath().resolve(out.getFileName());
    Path model = in.toRealPath();
    if (real.startsWith(model)) {
      throw new IllegalArgumentException(
          "OUT is %s, which is the model or in it: the model is never written to".formatted(out));
    }
    if (model.startsWith(real.resolveSibling(real.getFileName() + ".partial"))) {
      throw new IllegalArgumentException(
          "MODEL is %s, which is where OUT is written first".formatted(in));
    }
    return real;
  }

  /**
   * Checks that a folder can be written without touching anything that is there.
   *
   * @throws IllegalArgumentException if it cannot
   */
  static void requireFree(Path out) throws IOException {
    if (Files.isSymbolicLink(out)) {
      throw new IllegalArgumentException(
          "OUT is %s, which is a link: name the folder itself".formatted(out));
    }
    if (Files.exists(out, LinkOption.NOFOLLOW_LINKS) && !isEmptyFolder(out)) {
      throw new IllegalArgumentException(
          "OUT is %s, which exists already: only an empty folder is replaced".formatted(out));
    }
  }

  private static boolean isEmptyFolder(Path path) throws IOException {
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    try (Stream<Path> entries = Files.list(path)) {
      return entries.findAny().isEmpty();
    }
  }

  /**
   * Gives a folder its final name, in one step. Of what may be there, the system replaces an empty
   * folder alone.
   *
   * @throws FileAlreadyExistsException if something else is there
   */
  static void put(Path folder, Path out) throws IOException {
    force(folder);
    try {
      Files.move(folder, out, StandardCopyOption.ATOMIC_MOVE);
    } catch (FileSystemException e) {
      throw Files.exists(out, LinkOption.NOFOLLOW_LINKS) && !isEmptyFolder(out)
          ? new FileAlreadyExistsException(out.toString(), null, "has appeared meanwhile")
          : e;
    }
    force(out.getParent());
  }

  /** Names in a folder survive a power cut once the folder is on the disk. */
  private static void force(Path folder) {
    try (FileChannel channel = FileChannel.open(folder)) {
      channel.force(true);
    } catch (IOException _) {
      // Not every system opens folders; the files are on the disk already.
    }
  }
}
