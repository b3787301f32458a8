package io.github.rmsnorm4j.formats;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;

/**
 * The bytes of one file, read by their position. A file that becomes shorter gives a {@link
 * FormatException}.
 */
final class StoredBytes implements Closeable {
  /** Limits the memory that the JDK uses for a copy of a heap segment, and one system call. */
  private static final long LARGEST_READ = 8 << 20;

  final Path path;

  /** The length of the file when it was opened; the header was checked against it. */
  final long size;

  /** Null where the bytes are in memory. */
  private final FileChannel channel;

  private final byte[] memory;

  private StoredBytes(Path path, FileChannel channel, byte[] memory) throws IOException {
    this.path = path;
    this.channel = channel;
    this.memory = memory;
    this.size = channel == null ? memory.length : channel.size();
  }

  /**
   * Bytes in memory, which must stay as they are.
   *
   * @param name stands for the file's path in messages
   */
  static StoredBytes of(Path name, byte[] content) throws IOException {
    return new StoredBytes(name, null, content);
  }

  /** Opens a file; symbolic links to one are followed. */
  static StoredBytes open(Path path) throws IOException {
    FileChannel channel = openChannel(path);
    try {
      return new StoredBytes(path, channel, null);
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
    } catch (NoSuchFileException ignored) {
      throw new NoSuchFileException(name, null, "there is no such file");
    } catch (AccessDeniedException ignored) {
      throw new AccessDeniedException(name, null, "may not be read");
    }
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
      throw wrong("has a header of %s bytes, which is longer than the file of %s", length, size);
    }
  }

  /** Fills the segment with the bytes of the file from a position on. */
  void readFully(long position, MemorySegment into) throws IOException {
    for (long done = 0; done < into.byteSize(); ) {
      long length = Math.min(into.byteSize() - done, LARGEST_READ);
      int read = read(into.asSlice(done, length).asByteBuffer(), position + done);
      if (read < 0) {
        throw wrong(
            "ends at byte %s of %s: it was truncated while it was read", channel.size(), size);
      }
      done += read;
    }
  }

  /**
   * Fills the segment with elements, in the byte order of this machine.
   *
   * @param order the byte order in which they are stored
   */
  void readElements(long position, int elementBytes, ByteOrder order, MemorySegment into)
      throws IOException {
    readFully(position, into);
    if (order != ByteOrder.nativeOrder()) {
      ValueLayout layout =
          switch (elementBytes) {
            case 2 -> ValueLayout.JAVA_SHORT_UNALIGNED;
            case 4 -> ValueLayout.JAVA_INT_UNALIGNED;
            default -> ValueLayout.JAVA_LONG_UNALIGNED;
          };
      long count = into.byteSize() / elementBytes;
      MemorySegment.copy(into, layout.withOrder(order), 0, into, layout, 0, count);
    }
  }

  private int read(ByteBuffer into, long position) throws IOException {
    if (channel == null) {
      int length = (int) Math.min(into.remaining(), size - position);
      if (length <= 0) {
        return -1;
      }
      into.put(memory, (int) position, length);
      return length;
    }
    try {
      return channel.read(into, position);
    } catch (IOException e) {
      // The system's own message does not name the file.
      String name = Printable.escaped(path.toString());
      IOException named = new FileSystemException(name, null, "cannot be read: " + e.getMessage());
      named.initCause(e);
      throw named;
    }
  }

  /** A tensor of this file, whose shape may be wrong. */
  Tensor tensor(String name, Dtype dtype, List<Long> shape) throws FormatException {
    try {
      return new Tensor(name, dtype, shape);
    } catch (IllegalArgumentException e) {
      throw name.isEmpty() ? wrong("%s", e.getMessage()) : wrongTensor(name, "%s", e.getMessage());
    }
  }

  /** An error of this file. */
  FormatException wrong(String problem, Object... values) {
    return new FormatException(path, problem.formatted(values));
  }

  /** An error of one tensor of this file. */
  FormatException wrongTensor(String name, String problem, Object... values) {
    return new FormatException(path, name, problem.formatted(values));
  }

  @Override
  public void close() throws IOException {
    if (channel != null) {
      channel.close();
    }
  }
}
