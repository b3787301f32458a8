package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.Printable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * What is in a model's folder, listed once before anything is read. A link may lead to a file in
 * the folder. In a snapshot of Hugging Face's cache, {@code models--NAME/snapshots/REVISION}, it
 * may also lead to a file in {@code models--NAME/blobs}. All else that is no file and no folder is
 * refused, so that nothing from elsewhere is read.
 *
 * @param folder the folder, with no link in its path
 * @param entries what is in it, by name
 */
record Listing(Path folder, SortedMap<String, Entry> entries) {
  private static final Path SNAPSHOTS = Path.of("snapshots");

  /**
   * What a name stands for.
   *
   * @param own the state of the entry, which may be a link
   * @param file where it leads, with no link in its path; the entry itself if it is no link
   * @param state the state of that file or folder
   */
  record Entry(FileState own, Path file, FileState state) {}

  /**
   * Lists a folder.
   *
   * @param goal named in messages
   * @throws RefusedException if an entry is neither a file nor a folder nor a link that is allowed
   */
  static Listing of(Path model, Goal goal) throws IOException {
    Path folder = model.toRealPath();
    SortedMap<String, Entry> entries = new TreeMap<>();
    try (Stream<Path> paths = Files.list(folder)) {
      for (Path path : paths.sorted().toList()) {
        try {
          entries.put(path.getFileName().toString(), entry(folder, path));
        } catch (RefusedException e) {
          throw new RefusedException(
              "%s cannot be %s: %s in it is %s"
                  .formatted(
                      model,
                      goal,
                      Printable.shortened(path.getFileName().toString()),
                      e.getMessage()));
        }
      }
    }
    return new Listing(folder, entries);
  }

  private static Entry entry(Path folder, Path path) throws IOException {
    if (path.getFileName().toString().indexOf('\ufffd') >= 0) {
      throw new RefusedException("a name that is not in the encoding of this system");
    }
    FileState own = FileState.of(path);
    Path file = own.isLink() ? target(folder, path) : path;
    FileState state = own.isLink() ? FileState.of(file) : own;
    if (!state.isFile() && !state.isFolder()) {
      throw new RefusedException("neither a file nor a folder");
    }
    return new Entry(own, file, state);
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

  /**
   * The file that a name stands for, as a name in the folder: another one if the name is a link to
   * a file next to it.
   */
  String name(String name) {
    Entry entry = entries.get(name);
    return entry != null && isLink(entry) ? entry.file().getFileName().toString() : name;
  }

  /** The state of the file that a name stands for. */
  FileState state(String name) {
    return entries.get(name).state();
  }

  /** The names of the entries that are as wanted, sorted. */
  List<String> names(Predicate<Entry> wanted) {
    return entries.entrySet().stream()
        .filter(entry -> wanted.test(entry.getValue()))
        .map(Map.Entry::getKey)
        .toList();
  }

  /** Whether an entry is a link to a file next to it. */
  boolean isLink(Entry entry) {
    return entry.own().isLink()
        && entry.state().isFile()
        && folder.equals(entry.file().getParent());
  }

  /**
   * Opens a file.
   *
   * @throws FileSystemException if it is not as it was when it was listed
   */
  InputStream open(String name) throws IOException {
    Entry entry = entries.get(name);
    if (!FileState.of(entry.file()).equals(entry.state())) {
      throw changed(name);
    }
    return Files.newInputStream(entry.file(), LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * Compares with a later listing.
   *
   * @throws FileSystemException if something was added, removed, changed or replaced
   */
  void requireSame(Listing now) throws IOException {
    TreeSet<String> names = new TreeSet<>(entries.keySet());
    names.addAll(now.entries.keySet());
    for (String name : names) {
      if (!Objects.equals(entries.get(name), now.entries.get(name))) {
        throw changed(name);
      }
    }
  }

  private FileSystemException changed(String name) {
    return new FileSystemException(
        folder.toString(),
        null,
        Printable.shortened(name) + " in it was changed while the model was read");
  }
}
