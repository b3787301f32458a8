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
import java.util.List;
import java.util.Map;

/**
 * A {@code .npy} or {@code .safetensors} file, open for reading.
 *
 * <p>Opening reads and checks the header, but no element. Elements are read in pieces, by
 * positional reads, into the caller's memory. Nothing is mapped, so a file that is truncated
 * meanwhile gives a {@link FormatException} and not a crash. Several threads may read at the same
 * time.
 */
public abstract sealed class TensorFile implements Closeable permits NpyFile, SafetensorsFile {
  /** Limits the memory that the JDK uses for a copy of a heap segment, and one system call. */
  private static final long LARGEST_READ = 8 << 20;

  private final Path path;
  private final ByteSource source;

  /** The length of the file when it was opened; the header was checked against it. */
  final long size;

  TensorFile(Path path, ByteSource source) throws IOException {
    this.path = path;
    this.source = source;
    this.size = source.size();
  }

  /**
   * Opens a file of either kind. The first bytes decide which kind it is; if they do not, the
   * extension of the name does.
   *
   * @param path the file
   * @return the file, with its header read and checked
   * @throws FormatException if it is of neither kind, or its header is wrong
   * @throws NoSuchFileException if there is no such file
   * @throws IOException if it cannot be read
   */
  public static TensorFile open(Path path) throws IOException {
    return open(path, ByteSource.of(openChannel(path)));
  }

  /**
   * Reads bytes in memory as those of a file of either kind, as of a program's own resource.
   *
   * @param name stands for the file's path in messages
   * @param content the bytes, which must not change until it is closed
   * @return the file, its header read and checked
   * @throws FormatException if it is of neither kind, or its header is not as it should be
   * @throws IOException never for another reason
   */
  public static TensorFile of(Path name, byte[] content) throws IOException {
    return open(name, ByteSource.of(content));
  }

  private static TensorFile open(Path path, ByteSource source) throws IOException {
    try {
      byte[] start = new byte[9];
      int length = read(path, source, ByteBuffer.wrap(start), 0);
      if (NpyHeader.isMagic(start)) {
        return new NpyFile(path, source);
      }
      if (path.toString().endsWith(".safetensors") || start[8] == '{') {
        return new SafetensorsFile(path, source);
      }
      throw new FormatException(
          path, length <= 0 ? "the file is empty" : "is neither a .npy nor a .safetensors file");
    } catch (Throwable e) {
      source.close();
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

  /**
   * The file.
   *
   * @return the path that was given to {@link #open}, or the name given to {@link #of}
   */
  public final Path path() {
    return path;
  }

  /**
   * The tensors of the file.
   *
   * @return the tensors in the order of the header; exactly one, without a name, for {@code .npy}
   */
  public abstract List<Tensor> tensors();

  /**
   * The text stored beside the tensors.
   *
   * @return {@code __metadata__} in the order of the file, empty for {@code .npy}
   */
  public abstract Map<String, String> metadata();

  /**
   * The tensor with a name.
   *
   * @param name its name
   * @return the tensor
   * @throws FormatException if the file has no tensor of that name
   */
  public Tensor tensor(String name) throws FormatException {
    for (Tensor tensor : tensors()) {
      if (tensor.name().equals(name)) {
        return tensor;
      }
    }
    throw new FormatException(path, "has no tensor '" + Printable.shortened(name) + "'");
  }

  /**
   * Reads elements, counted in C order, in the byte order of this machine. A range of rows begins
   * at element {@code firstRow * width}.
   *
   * @param tensor one of {@link #tensors()} with an {@link Dtype#elementType()}
   * @param first the first element to read
   * @param count the number of elements
   * @param into takes the elements, from its first byte on: native memory, or a {@code byte[]}
   * @throws FormatException if the file has become shorter since it was opened
   * @throws IOException if the file cannot be read
   * @throws IllegalArgumentException if the tensor is not of this file or not of a floating type,
   *     the range is not within it, or {@code into} is too small
   * @throws UnsupportedOperationException if {@code into} is an array of another type
   */
  public final void read(Tensor tensor, long first, long count, MemorySegment into)
      throws IOException {
    if (tensor.dtype().elementType().isEmpty()) {
      throw new IllegalArgumentException(tensor + " is not of a type that is read as elements");
    }
    long elements = tensor.elements();
    if (first < 0 || count < 0 || first > elements - count) {
      throw new IllegalArgumentException(
          "elements %d to %d + %d of %d".formatted(first, first, count, elements));
    }
    int elementBytes = tensor.dtype().bits() / 8;
    if (into.byteSize() / elementBytes < count) {
      throw new IllegalArgumentException(
          "into has %d bytes, %d elements of %d bytes are asked for"
              .formatted(into.byteSize(), count, elementBytes));
    }
    readElements(tensor, first, count, into.asSlice(0, count * elementBytes));
  }

  abstract void readElements(Tensor tensor, long first, long count, MemorySegment into)
      throws IOException;

  /**
   * Reads bytes of a tensor as they are stored. With this, elements of any type can be copied to
   * another file.
   *
   * @param tensor one of {@link #tensors()}
   * @param offset the first byte to read, counted from the first byte of the tensor
   * @param into takes as many bytes as it has: native memory, or a {@code byte[]}
   * @throws FormatException if the file has become shorter since it was opened
   * @throws IOException if the file cannot be read
   * @throws IllegalArgumentException if the tensor is not of this file, or the range not within it
   * @throws UnsupportedOperationException if {@code into} is an array of another type
   */
  public final void readBytes(Tensor tensor, long offset, MemorySegment into) throws IOException {
    long bytes = tensor.bytes();
    if (offset < 0 || offset > bytes - into.byteSize()) {
      throw new IllegalArgumentException(
          "bytes %d to %d + %d of %d".formatted(offset, offset, into.byteSize(), bytes));
    }
    readFully(start(tensor) + offset, into);
  }

  /** The position of the first byte of the tensor; refuses a tensor that is not of this file. */
  abstract long start(Tensor tensor);

  final IllegalArgumentException notOfThisFile(Tensor tensor) {
    return new IllegalArgumentException(path + " has no tensor " + tensor);
  }

  /** Fills the segment with the bytes of the file from a position on. */
  final void readFully(long position, MemorySegment into) throws IOException {
    for (long done = 0; done < into.byteSize(); ) {
      long length = Math.min(into.byteSize() - done, LARGEST_READ);
      int read = read(path, source, into.asSlice(done, length).asByteBuffer(), position + done);
      if (read < 0) {
        throw new FormatException(
            path,
            "ends at byte %d of %d: it was truncated while it was read"
                .formatted(source.size(), size));
      }
      done += read;
    }
  }

  private static int read(Path path, ByteSource source, ByteBuffer into, long position)
      throws IOException {
    try {
      return source.read(into, position);
    } catch (IOException e) {
      throw unreadable(path, e);
    }
  }

  /** The system's own message does not name the file. */
  private static IOException unreadable(Path path, IOException cause) {
    String name = Printable.escaped(path.toString());
    return withReason(
        new FileSystemException(name, null, "cannot be read: " + cause.getMessage()), cause);
  }

  /** Closes the file; what was read from it stays. */
  @Override
  public void close() throws IOException {
    source.close();
  }
}
