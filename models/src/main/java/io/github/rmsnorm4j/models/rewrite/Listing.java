package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.Printable;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What is in a model's folder, listed before anything is read. A link may lead to a file in the
 * folder. In a snapshot of Hugging Face's cache, {@code models--NAME/snapshots/REVISION}, it may
 * also lead to a file in {@code models--NAME/blobs}. All else that is no file and no folder is
 * refused, so that nothing from elsewhere is read.
 *
 * @param files where each name of a file leads, with no link in the path
 * @param folders the names of the folders, and of links to them
 * @param states the size and time of each file, and which one it is
 */
record Listing(SortedMap<String, Path> files, List<String> folders, List<String> states) {
  private static final Path SNAPSHOTS = Path.of("snapshots");

  /**
   * Lists a folder.
   *
   * @throws RefusedException if an entry is neither a file nor a folder nor a link that is allowed
   */
  static Listing of(Path model) throws IOException {
    Listing listing = new Listing(new TreeMap<>(), new ArrayList<>(), new ArrayList<>());
    Path folder = model.toRealPath();
    try (Stream<Path> paths = Files.list(folder)) {
      for (Path path : paths.sorted().toList()) {
        listing.add(folder, path);
      }
    }
    return listing;
  }

  private void add(Path folder, Path path) throws IOException {
    String name = path.getFileName().toString();
    Path file = Files.isSymbolicLink(path) ? target(folder, path) : path;
    require(name.indexOf('\ufffd') < 0, name, "a name that is not in the encoding of this system");
    BasicFileAttributes all =
        Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    require(all.isDirectory() || all.isRegularFile(), name, "neither a file nor a folder");
    if (all.isDirectory()) {
      folders.add(name);
    } else {
      files.put(name, file);
      states.add(all.size() + " " + all.lastModifiedTime() + " " + all.fileKey());
    }
  }

  private static void require(boolean holds, String name, String what) throws RefusedException {
    if (!holds) {
      throw new RefusedException(Printable.shortened(name) + " in it is " + what);
    }
  }

  private static Path target(Path folder, Path link) throws IOException {
    String name = link.getFileName().toString();
    String what = "a link to " + Printable.shortened(Files.readSymbolicLink(link).toString());
    Path file = folder;
    try {
      file = link.toRealPath();
    } catch (FileSystemException _) {
      require(false, name, what + ", which cannot be reached");
    }
    require(
        file.startsWith(folder) || isBlob(folder, file),
        name,
        what + ", which is outside of the folder: allowed are links to files in it");
    return file;
  }

  /** Whether a file is one of those to which the links of a snapshot lead in that cache. */
  private static boolean isBlob(Path folder, Path file) {
    Path snapshots = folder.getParent();
    return snapshots != null
        && SNAPSHOTS.equals(snapshots.getFileName())
        && String.valueOf(snapshots.getParent().getFileName()).startsWith("models--")
        && snapshots.resolveSibling("blobs").equals(file.getParent());
  }
}
