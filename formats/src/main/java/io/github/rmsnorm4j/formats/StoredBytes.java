package io.github.rmsnorm4j.formats;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * The bytes of one file, read by their position. A file that becomes shorter gives a {@link
 * FormatException}.
 */
final class StoredBytes implements Closeable {
  /** Limits the memory that the JDK uses for a copy of a heap segment, and one system call. */
  private static final long LARGEST_READ = 8 << 20;

  final Path path;
  private final Reading reading;
  private final Size now;
  private final Closeable closing;

  /** The length of the file when it was opened; the header was checked against it. */
  final long size;

  /** Reads at least one byte, unless there is none at the position; then the result is -1. */
  private interface Reading {
    int read(ByteBuffer into, long position) throws IOException;
  }

  /** How many bytes there are now; a file may become shorter. */
  private interface Size {
    long now() throws IOException;
  }

  private StoredBytes(Path path, Reading reading, Size now, Closeable closing) throws IOException {
    this.path = path;
    this.reading = reading;
    this.now = now;
    this.closing = closing;
    this.size = now.now();
  }

  /**
   * Bytes in memory, which must stay as they are.
   *
   * @param name stands for the file's path in messages
   */
  static StoredBytes of(Path name, byte[] content) throws IOException {
    return new StoredBytes(
        name,
        (into, position) -> {
          if (position >= content.length) {
            return -1;
          }
          int length = (int) Math.min(into.remaining(), content.length - position);
          into.put(content, (int) position, length);
          return length;
        },
        () -> content.length,
        () -> {});
  }

  /** Opens a file; symbolic links to one are followed. */
  static StoredBytes open(Path path) throws IOException {
    FileChannel channel = openChannel(path);
    try {
      return new StoredBytes(path, channel::read, channel::size, channel);
    } catch (Throwable e) {
      channel.close();
      throw e;
    }
  }

  private static FileChannel openChannel(Path path) throws IOException {
    String name = Printable.escaped(path.toString());
    if (Files.isDirectory(path)) {
      throw new FormatException(path, "is a folder, not a file");
    }
    if (Files.exists(path) && !Files.isRegularFile(path)) {
      throw new FormatException(path, "is not a regular file, and pieces are read out of order");
    }
    try {
      return FileChannel.open(path, StandardOpenOption.READ);
    } catch (NoSuchFileException e) {
      throw withReason(new NoSuchFileException(name, null, "there is no such file"), e);
    } catch (AccessDeniedException e) {
      throw withReason(new AccessDeniedException(name, null, "may not be read"), e);
    }
  }

  private static <E extends IOException> E withReason(E exception, IOException cause) {
    exception.initCause(cause);
    return exception;
  }

  /** The first bytes, with zeros behind them if the file has fewer. */
  byte[] start(int length) throws IOException {
    ByteBuffer start = ByteBuffer.allocate(length);
    while (start.hasRemaining() && read(start, start.position()) >= 0) {
      // A read may give fewer bytes than there are.
    }
    return start.array();
  }

  boolean startWith(byte[] magic) throws IOException {
    return Arrays.equals(start(magic.length), magic);
  }

  /**
   * Checks the length of a header that is announced.
   *
   * @param start the position at which it begins
   */
  void requireHeader(long start, long length) throws FormatException {
    if (length > size - start) {
      throw new FormatException(
          path,
          "has a header of %s bytes, which is longer than the file of %s".formatted(length, size));
    }
  }

  /** Fills the segment with the bytes of the file from a position on. */
  void readFully(long position, MemorySegment into) throws IOException {
    for (long done = 0; done < into.byteSize(); ) {
      long length = Math.min(into.byteSize() - done, LARGEST_READ);
      int read = read(into.asSlice(done, length).asByteBuffer(), position + done);
      if (read < 0) {
        throw new FormatException(
            path,
            "ends at byte %s of %s: it was truncated while it was read".formatted(now.now(), size));
      }
      done += read;
    }
  }

  /** The system's own message does not name the file. */
  private int read(ByteBuffer into, long position) throws IOException {
    try {
      return reading.read(into, position);
    } catch (IOException e) {
      String name = Printable.escaped(path.toString());
      throw withReason(new FileSystemException(name, null, "cannot be read: " + e.getMessage()), e);
    }
  }

  @Override
  public void close() throws IOException {
    closing.close();
  }
}
