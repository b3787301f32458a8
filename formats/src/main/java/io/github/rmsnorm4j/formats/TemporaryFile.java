package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A file beside the one it is to become, deleted when the JVM shuts down before that.
 *
 * @param path where it is
 */
record TemporaryFile(Path path) {
  /** Leaves room in a name of 255 bytes for what is put around it, at 4 bytes a character. */
  private static final int LONGEST_NAME = 40;

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Set<Path> LIVING = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(TemporaryFile::deleteAll, "delete-temporary"));
  }

  /**
   * Creates an empty file in the target's folder, with the permissions of the target if it is
   * there.
   */
  static TemporaryFile beside(Path target) throws IOException {
    Path folder = target.getParent();
    String shown = Printable.escaped(target.toString());
    if (folder == null || target.getFileName() == null) {
      throw new FileSystemException(shown, null, "is no name of a file");
    }
    if (!Files.isDirectory(folder)) {
      throw new NoSuchFileException(
          shown, null, "there is no folder " + Printable.escaped(folder.toString()));
    }
    try {
      return create(folder, target);
    } catch (AccessDeniedException e) {
      AccessDeniedException denied =
          new AccessDeniedException(
              shown,
              null,
              "the folder " + Printable.escaped(folder.toString()) + " may not be written to");
      denied.initCause(e);
      throw denied;
    }
  }

  private static TemporaryFile create(Path folder, Path target) throws IOException {
    String name = target.getFileName().toString();
    String start = name.substring(0, Math.min(name.length(), LONGEST_NAME));
    while (true) {
      Path path = folder.resolve(".%s.%08x.tmp".formatted(start, RANDOM.nextInt()));
      LIVING.add(path);
      try {
        createLike(target, path);
        return new TemporaryFile(path);
      } catch (FileAlreadyExistsException _) {
        LIVING.remove(path);
      } catch (Throwable e) {
        new TemporaryFile(path).delete();
        throw e;
      }
    }
  }

  private static void createLike(Path target, Path path) throws IOException {
    if (!Files.exists(target) || !supportsPosix(target)) {
      Files.createFile(path);
      return;
    }
    Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(target);
    FileAttribute<Set<PosixFilePermission>> attribute =
        PosixFilePermissions.asFileAttribute(permissions);
    Files.createFile(path, attribute);
    // Again, as the umask may have taken some away; and the owner, who is us, must be able to
    // write.
    Files.setPosixFilePermissions(path, permissions);
  }

  private static boolean supportsPosix(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  /** It has its final name now, or is gone. */
  void forget() {
    LIVING.remove(path);
  }

  void delete() throws IOException {
    Files.deleteIfExists(path);
    forget();
  }

  private static void deleteAll() {
    for (Path path : LIVING) {
      try {
        Files.deleteIfExists(path);
      } catch (IOException _) {
        // The JVM is on its way out; there is nobody left to tell.
      }
    }
  }
}
