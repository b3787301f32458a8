package io.github.rmsnorm4j.models.rewrite;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The folder {@code OUT.partial}, in which a result grows. When it is whole it becomes OUT, in one
 * step; otherwise what was written is deleted. A folder of that name that is there already is
 * refused, so nothing of another process or of the user is touched.
 */
final class OutFolder implements Closeable {
  private final Path model;
  private final Path out;
  private final Path folder;
  private final Set<String> written = new TreeSet<>();
  private boolean inPlace;

  /**
   * Makes the folder.
   *
   * @param model the folder of the model
   * @throws IllegalArgumentException if OUT is the model or exists, or cannot be there
   * @throws FileAlreadyExistsException if {@code OUT.partial} exists
   */
  OutFolder(Path model, Path out) throws IOException {
    this.model = model;
    this.out = requireFree(model, out);
    folder = Files.createDirectory(partial(this.out));
    permitLike(folder, model);
  }

  /** Who may not read the model may not read the result. */
  private static void permitLike(Path path, Path like) throws IOException {
    if (Files.exists(like)
        && like.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Set<PosixFilePermission> all = Files.getPosixFilePermissions(like);
      all.addAll(
          PosixFilePermissions.fromString(Files.isDirectory(path) ? "rwx------" : "rw-------"));
      Files.setPosixFilePermissions(path, all);
    }
  }

  private static Path partial(Path out) {
    return out.resolveSibling(out.getFileName() + ".partial");
  }

  /** Checks that a result can be put somewhere, as the constructor does; its real path. */
  static Path requireFree(Path model, Path out) throws IOException {
    Path parent = out.toAbsolutePath().getParent();
    boolean dots = out.endsWith(".") || out.endsWith("..") || out.toString().isEmpty();
    require(parent != null && !dots, "OUT is '%s', it must name a folder", out);
    require(Files.isDirectory(parent), "OUT is %s, but there is no folder %s", out, parent);
    Path real = parent.toRealPath().resolve(out.getFileName());
    Path partial = partial(real);
    Path from = model.toRealPath();
    require(
        !real.startsWith(from),
        "OUT is %s, which is the model or in it: the model is never written to",
        out);
    require(!from.startsWith(partial), "MODEL is %s, which is where OUT is written first", model);
    require(!Files.isSymbolicLink(out), "OUT is %s, which is a link: name the folder itself", out);
    require(
        !Files.exists(out) || Files.isDirectory(out) && names(out).isEmpty(),
        "OUT is %s, which exists already: only an empty folder is replaced",
        out);
    if (Files.exists(partial, LinkOption.NOFOLLOW_LINKS)) {
      throw new FileAlreadyExistsException(
          partial.toString(),
          null,
          "exists: another command is writing OUT, or was killed; if none is running, delete it");
    }
    return real;
  }

  private static void require(boolean holds, String message, Path... paths) {
    if (!holds) {
      throw new IllegalArgumentException(message.formatted((Object[]) paths));
    }
  }

  private static Set<String> names(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.map(path -> path.getFileName().toString()).collect(Collectors.toSet());
    }
  }

  /** Where the files are written. */
  Path folder() {
    return folder;
  }

  /** Takes a file that is written whole: it is deleted if the result is not put in place. */
  void add(String name) throws IOException {
    written.add(name);
    permitLike(folder.resolve(name), model.resolve(name));
  }

  void copy(InputStream content, String name) throws IOException {
    try (FileChannel to =
        FileChannel.open(
            folder.resolve(name), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      add(name);
      content.transferTo(Channels.newOutputStream(to));
      to.force(true);
    }
  }

  /** Gives the folder its name. Of what may be there, the system replaces an empty folder alone. */
  void putInPlace() throws IOException {
    if (!names(folder).equals(written)) {
      throw new FileSystemException(folder.toString(), null, "was changed by another program");
    }
    Files.move(folder, out, StandardCopyOption.ATOMIC_MOVE);
    inPlace = true;
  }

  /** Deletes what was written, unless it is in place. */
  @Override
  public void close() throws IOException {
    if (inPlace) {
      return;
    }
    for (String name : written) {
      Files.deleteIfExists(folder.resolve(name));
    }
    try {
      Files.deleteIfExists(folder);
    } catch (DirectoryNotEmptyException _) {
      // Somebody has put something there, which stays.
    }
  }
}
