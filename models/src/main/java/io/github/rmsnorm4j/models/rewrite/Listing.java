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
   * @param goal named in messages
   * @throws RefusedException if an entry is neither a file nor a folder nor a link that is allowed
   */
  static Listing of(Path model, Goal goal) throws IOException {
    Listing listing = new Listing(new TreeMap<>(), new ArrayList<>(), new ArrayList<>());
    Path folder = model.toRealPath();
    try (Stream<Path> paths = Files.list(folder)) {
      for (Path path : paths.sorted().toList()) {
        String name = path.getFileName().toString();
        try {
          listing.add(name, Files.isSymbolicLink(path) ? target(folder, path) : path);
        } catch (RefusedException e) {
          throw new RefusedException(
              "%s cannot be %s: %s in it is %s"
                  .formatted(model, goal, Printable.shortened(name), e.getMessage()));
        }
      }
    }
    return listing;
  }

  private void add(String name, Path file) throws IOException {
    if (name.indexOf('\ufffd') >= 0) {
      throw new RefusedException("a name that is not in the encoding of this system");
    }
    BasicFileAttributes all =
        Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (all.isDirectory()) {
      folders.add(name);
    } else if (all.isRegularFile()) {
      files.put(name, file);
      states.add(all.size() + " " + all.lastModifiedTime() + " " + all.fileKey());
    } else {
      throw new RefusedException("neither a file nor a folder");
    }
  }

  private static Path target(Path folder, Path link) throws IOException {
    String to = Printable.shortened(Files.readSymbolicLink(link).toString());
    Path file;
    try {
      file = link.toRealPath();
    } catch (FileSystemException _) {
      throw new RefusedException("a link to " + to + ", which cannot be reached");
    }
    if (!file.startsWith(folder) && !isBlob(folder, file)) {
      throw new RefusedException(
          "a link to " + to + ", which is outside of the folder: allowed are links to files in it");
    }
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
