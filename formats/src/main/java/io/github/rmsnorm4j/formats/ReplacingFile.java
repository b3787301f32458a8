package io.github.rmsnorm4j.formats;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * A file that appears whole or not at all. Until then the old file stays in place.
 *
 * <p>Bytes are written to a temporary file in the folder of the target, {@code .NAME.xxxx.tmp}.
 * {@link #commit()} brings it to the disk and then, in one step, to its name. The temporary file is
 * deleted by closing without a commit, by any error, and by a shutdown of the JVM (Ctrl-C, {@code
 * SIGTERM}). If the process cannot react ({@code kill -9}, a power cut), the target stays as it
 * was. The temporary file may then remain; it can be deleted.
 *
 * <p>If the target is a symbolic link, the file to which it leads is replaced, and the link stays.
 * A replaced file keeps its permissions, if the file system has any, and its owner and group, if
 * this process may set them. Not for use by several threads.
 */
public final class ReplacingFile implements Closeable {
  /** Limits the memory that the JDK uses for a copy of a heap segment, and one system call. */
  private static final long LARGEST_WRITE = 8 << 20;

  private static final int MOST_LINKS = 40;

  /** The path as the caller wrote it, for messages; {@code target} is where it leads. */
  private final String name;

  private final Path target;
  private final boolean replace;
  private final TemporaryFile temporary;
  private boolean committed;

  private ReplacingFile(String name, Path target, boolean replace, TemporaryFile temporary) {
    this.name = name;
    this.target = target;
    this.replace = replace;
    this.temporary = temporary;
  }

  /**
   * Begins a file.
   *
   * @param path the final name of the file
   * @param replace whether an existing file may be replaced
   * @return the file, empty and open for writing
   * @throws FileAlreadyExistsException if the file exists and may not be replaced
   * @throws IOException if the folder does not exist or cannot be written to, or the name belongs
   *     to something other than a file
   */
  public static ReplacingFile create(Path path, boolean replace) throws IOException {
    Path target = target(path);
    String name = Printable.escaped(path.toString());
    if (Files.exists(target)) {
      if (Files.isDirectory(target)) {
        throw new FileSystemException(name, null, "is a folder, not a file");
      }
      if (!Files.isRegularFile(target)) {
        throw new FileSystemException(name, null, "is not a regular file");
      }
      if (!replace) {
        throw new FileAlreadyExistsException(name, null, "exists already");
      }
    }
    return new ReplacingFile(name, target, replace, TemporaryFile.beside(target));
  }

  /**
   * The file that a name stands for: where its links lead, whether there is a file yet or not.
   *
   * @param path the name
   * @return an absolute path that is no symbolic link; its folder may be reached through some
   * @throws FileSystemException if the links go in a circle
   * @throws IOException if a link cannot be read
   */
  public static Path target(Path path) throws IOException {
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

  /**
   * Appends bytes.
   *
   * @param bytes the bytes: native memory, or a {@code byte[]}
   * @throws IOException if writing fails, for example because the disk is full
   * @throws UnsupportedOperationException if the bytes are in an array of another type
   */
  public void write(MemorySegment bytes) throws IOException {
    try {
      for (long done = 0; done < bytes.byteSize(); ) {
        long length = Math.min(bytes.byteSize() - done, LARGEST_WRITE);
        ByteBuffer piece = bytes.asSlice(done, length).asByteBuffer();
        while (piece.hasRemaining()) {
          done += temporary.channel().write(piece);
        }
      }
    } catch (IOException e) {
      throw failed(e);
    }
  }

  /**
   * Writes the file to the disk, and then gives it its name. Nothing can be written afterwards.
   *
   * @throws FileAlreadyExistsException if a file of that name has appeared meanwhile and may not be
   *     replaced
   * @throws IOException if this fails; the old file is then unchanged
   */
  public void commit() throws IOException {
    try {
      temporary.channel().force(true);
      temporary.channel().close();
      if (replace) {
        Files.move(temporary.path(), target, StandardCopyOption.ATOMIC_MOVE);
      } else {
        linkOrMove();
      }
    } catch (FileAlreadyExistsException e) {
      throw e;
    } catch (IOException e) {
      throw failed(e);
    }
    committed = true;
    temporary.forget();
    forceFolder();
  }

  /**
   * Only a second name (a hard link) is an atomic step that fails if the name is taken. On a file
   * system without hard links there is only a check.
   */
  private void linkOrMove() throws IOException {
    try {
      Files.createLink(target, temporary.path());
    } catch (FileAlreadyExistsException ignored) {
      throw new FileAlreadyExistsException(name, null, "has appeared meanwhile");
    } catch (UnsupportedOperationException | FileSystemException ignored) {
      if (Files.exists(target)) {
        throw new FileAlreadyExistsException(name, null, "has appeared meanwhile");
      }
      Files.move(temporary.path(), target, StandardCopyOption.ATOMIC_MOVE);
      return;
    }
    temporary.delete();
  }

  /**
   * A new name survives a power cut once its folder is on the disk. Not every system offers this.
   */
  private void forceFolder() {
    try (FileChannel folder = FileChannel.open(temporary.path().getParent())) {
      folder.force(true);
    } catch (IOException ignored) {
      // Windows does not open folders. The file itself is on the disk already.
    }
  }

  private IOException failed(IOException e) {
    boolean named = e instanceof FileSystemException f && f.getReason() != null;
    String reason = named ? ((FileSystemException) e).getReason() : e.getMessage();
    FileSystemException failure = new FileSystemException(name, null, "cannot write: " + reason);
    failure.initCause(e);
    return failure;
  }

  /** Deletes what was written, unless it has been committed. */
  @Override
  public void close() throws IOException {
    if (!committed) {
      temporary.delete();
    }
  }
}
