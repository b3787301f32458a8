package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Set;

/**
 * A temporary file in the folder of its target. It is deleted if the JVM shuts down before it has
 * its final name.
 */
final class TemporaryFile {
  /** A name has at most 255 bytes, at 4 bytes per character; this leaves bytes for the rest. */
  private static final int LONGEST_NAME = 40;

  private static final SecureRandom RANDOM = new SecureRandom();

  private final Path path;

  /** Registered only while there is the file, since it keeps the class loader of this class. */
  private final Thread hook = new Thread(this::shutDown, "delete-temporary");

  /** Null until the file is created. */
  private FileChannel channel;

  private boolean isShutDown;

  private TemporaryFile(Path path) {
    this.path = path;
  }

  Path path() {
    return path;
  }

  /** {@return the file, open for writing} */
  FileChannel channel() {
    return channel;
  }

  /**
   * Creates an empty file in the folder of the target, with the permissions of the target if it
   * exists.
   */
  static TemporaryFile beside(Path target) throws IOException {
    Path folder = target.getParent();
    String shown = Printable.escaped(target.toString());
    if (folder == null || target.getFileName() == null) {
      throw new FileSystemException(shown, null, "is no name of a file");
    }
    if (!Files.isDirectory(folder)) {
      throw new FileSystemException(
          shown, null, "there is no folder " + Printable.escaped(folder.toString()));
    }
    try {
      return create(folder, target);
    } catch (FileSystemException e) {
      String reason = e instanceof AccessDeniedException ? "permission denied" : e.getReason();
      if (reason == null) {
        reason = "no file can be created there"; // As in /proc, where the system only says ENOENT.
      }
      String where = Printable.escaped(folder.toString());
      FileSystemException failure =
          new FileSystemException(
              shown, null, "cannot write to the folder " + where + ": " + reason);
      failure.initCause(e);
      throw failure;
    }
  }

  private static TemporaryFile create(Path folder, Path target) throws IOException {
    String name = target.getFileName().toString();
    String start = name.substring(0, Math.min(name.length(), LONGEST_NAME));
    TemporaryFile file =
        new TemporaryFile(folder.resolve(".%s.%08x.tmp".formatted(start, RANDOM.nextInt())));
    try {
      Runtime.getRuntime().addShutdownHook(file.hook);
      file.create(target);
      return file;
    } catch (IllegalStateException ignored) {
      throw new FileSystemException(file.path.toString(), null, "the process is being stopped");
    } catch (Throwable e) {
      file.forget();
      throw e;
    }
  }

  private synchronized void create(Path target) throws IOException {
    if (isShutDown) {
      throw new IllegalStateException();
    }
    channel = open(target, path);
  }

  private synchronized void shutDown() {
    isShutDown = true;
    if (channel != null) {
      try {
        Files.deleteIfExists(path);
      } catch (IOException ignored) {
        // Nothing can be reported any more.
      }
    }
  }

  private static FileChannel open(Path target, Path path) throws IOException {
    Set<StandardOpenOption> options =
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    PosixFileAttributeView replaced =
        Files.getFileAttributeView(target, PosixFileAttributeView.class);
    if (replaced == null || !Files.exists(target)) {
      return FileChannel.open(path, options);
    }
    PosixFileAttributes kept = replaced.readAttributes();
    Set<PosixFilePermission> permissions = kept.permissions();
    FileChannel channel =
        FileChannel.open(path, options, PosixFilePermissions.asFileAttribute(permissions));
    keepOwner(kept, path);
    try {
      // Again, as the umask may have taken some away.
      Files.setPosixFilePermissions(path, permissions);
    } catch (IOException ignored) {
      // The file system keeps no permissions, so they are no wider than those of the target.
    }
    return channel;
  }

  /** As far as this user may: root may change the owner, others only the group to one of theirs. */
  private static void keepOwner(PosixFileAttributes kept, Path path) {
    PosixFileAttributeView view = Files.getFileAttributeView(path, PosixFileAttributeView.class);
    try {
      PosixFileAttributes made = view.readAttributes();
      if (!made.group().equals(kept.group())) {
        view.setGroup(kept.group());
      }
      if (!made.owner().equals(kept.owner())) {
        view.setOwner(kept.owner());
      }
    } catch (IOException ignored) {
      // Then it belongs to the user that replaces it.
    }
  }

  /** The file has its final name now, or is deleted. */
  void forget() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ignored) {
      // The JVM is shutting down.
    }
  }

  void delete() throws IOException {
    channel.close();
    Files.deleteIfExists(path);
    forget();
  }
}
