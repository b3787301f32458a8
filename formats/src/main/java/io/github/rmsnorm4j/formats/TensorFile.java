package io.github.rmsnorm4j.formats;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;

/**
 * A {@code .npy} or {@code .safetensors} file, open for reading.
 *
 * <p>Opening reads and checks the header, no element. Elements are read in pieces into the caller's
 * memory by positional reads; nothing is mapped, so a file that is truncated meanwhile is a {@link
 * FormatException} and not a crash. Several threads may read at a time.
 */
public abstract sealed class TensorFile implements Closeable permits NpyFile, SafetensorsFile {
  /** Keeps what the JDK copies through for a heap segment, or in one system call, small. */
  private static final long LARGEST_READ = 8 << 20;

  private final Path path;
  private final ByteSource source;

  /** The file's length when it was opened, which its header has been checked against. */
  final long size;

  TensorFile(Path path, ByteSource source) throws IOException {
    this.path = path;
    this.source = source;
    this.size = source.size();
  }

  /**
   * Opens a file of either kind. The first bytes decide which it is, and where they do not, the
   * name's extension.
   *
   * @param path the file
   * @return the file, its header read and checked
   * @throws FormatException if it is of neither kind, or its header is not as it should be
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
      int length = source.read(ByteBuffer.wrap(start), 0);
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
   * What the file holds.
   *
   * @return its tensors in the order of its header; exactly one, without a name, for {@code .npy}
   */
  public abstract List<Tensor> tensors();

  /**
   * The text stored beside the tensors.
   *
   * @return {@code __metadata__} in the file's order, empty for {@code .npy}
   */
  public abstract Map<String, String> metadata();

  /**
   * The tensor of a name.
   *
   * @param name its name
   * @return the tensor
   * @throws FormatException if the file has none of that name
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
   * Reads elements, as C order counts them, in the byte order of this machine. A row range of a
   * tensor of some width is the elements from {@code firstRow * width} on.
   *
   * @param tensor one of {@link #tensors()} with an {@link Dtype#elementType()}
   * @param first the first element to read
   * @param count how many
   * @param into where to: native memory, or a {@code byte[]}; its first {@code count} elements are
   *     written
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
   * Reads bytes of a tensor as they are stored, which is how elements of any type are carried into
   * another file.
   *
   * @param tensor one of {@link #tensors()}
   * @param offset the first byte to read, counted from the tensor's first
   * @param into where to: native memory, or a {@code byte[]}; it is filled
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

  /** Where in the file the tensor's first byte is; refuses a tensor that is not of this file. */
  abstract long start(Tensor tensor);

  final IllegalArgumentException notOfThisFile(Tensor tensor) {
    return new IllegalArgumentException(path + " has no tensor " + tensor);
  }

  /** Fills the segment with the bytes of the file from a position on. */
  final void readFully(long position, MemorySegment into) throws IOException {
    for (long done = 0; done < into.byteSize(); ) {
      long length = Math.min(into.byteSize() - done, LARGEST_READ);
      int read = source.read(into.asSlice(done, length).asByteBuffer(), position + done);
      if (read < 0) {
        throw new FormatException(
            path,
            "ends at byte %d of %d: it was truncated while it was read"
                .formatted(source.size(), size));
      }
      done += read;
    }
  }

  /** Closes the file; what was read from it stays. */
  @Override
  public void close() throws IOException {
    source.close();
  }
}
