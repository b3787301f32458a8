package io.github.rmsnorm4j.formats;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A {@code .npy}, {@code .safetensors} or GGUF file, or a sharded set of {@code .safetensors}
 * files, open for reading.
 *
 * <p>Opening reads and checks the header, but no element. Elements are read in pieces, by
 * positional reads, into the caller's memory. Nothing is mapped, so a file that is truncated
 * meanwhile gives a {@link FormatException} and not a crash. Several threads may read at the same
 * time.
 */
public abstract sealed class TensorFile implements Closeable
    permits SingleFile, ShardedFile, DequantizedFile {
  private static final String MODEL = "model.safetensors";
  private static final String INDEX = "model.safetensors.index.json";
  private static final byte[] PARQUET_MAGIC = {'P', 'A', 'R', '1'};
  private static final String PARQUET = "is Parquet, which the command rmsnorm spark reads";
  private static final String CONFIG = "config.json";
  private static final String CONFIG_ALONE =
      "config.json alone is not enough: give the folder with the weights"
          + " (docs/choose.md reads a config.json by hand)";

  private final Path path;

  TensorFile(Path path) {
    this.path = path;
  }

  /**
   * Opens a file of any kind. The first bytes decide which kind it is; if they do not, the
   * extension of the name does. A name that ends in {@code .json} is the index of a sharded set.
   *
   * <p>A folder is a model as Hugging Face stores it. Its {@code model.safetensors} is opened, or,
   * if there is none, its {@code model.safetensors.index.json}.
   *
   * @param path the file or the folder
   * @return the file, with its header read and checked
   * @throws FormatException if it is of no known kind, or its header is wrong
   * @throws NoSuchFileException if there is no such file
   * @throws IOException if it cannot be read
   */
  public static TensorFile open(Path path) throws IOException {
    if (Files.isDirectory(path)) {
      return openFolder(path);
    }
    if (CONFIG.equals(String.valueOf(path.getFileName())) && Files.exists(path)) {
      throw new FormatException(path, "has no tensors; " + CONFIG_ALONE);
    }
    return ShardedFile.isIndex(path) ? ShardedFile.ofIndex(path) : open(StoredBytes.open(path));
  }

  private static TensorFile openFolder(Path folder) throws IOException {
    if (Files.exists(folder.resolve(MODEL))) {
      return requireModel(open(StoredBytes.open(folder.resolve(MODEL))));
    }
    if (Files.exists(folder.resolve(INDEX))) {
      return ShardedFile.ofIndex(folder.resolve(INDEX));
    }
    if (isParquet(folder)) {
      throw new FormatException(folder, PARQUET);
    }
    String missing = "is a folder with neither %s nor %s".formatted(MODEL, INDEX);
    boolean isOfModel = Files.exists(folder.resolve(CONFIG));
    throw new FormatException(folder, isOfModel ? missing + "; " + CONFIG_ALONE : missing);
  }

  /** By its name or the names of its files: programs write Parquet as a folder of files. */
  private static boolean isParquet(Path folder) throws IOException {
    if (folder.toString().endsWith(".parquet")) {
      return true;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.parquet")) {
      return files.iterator().hasNext();
    }
  }

  /** The content decides of which kind a file is, and a folder's is of one kind. */
  private static TensorFile requireModel(TensorFile file) throws IOException {
    if (file instanceof SafetensorsFile) {
      return file;
    }
    file.close();
    throw new FormatException(file.path(), "is no .safetensors file, as its name says");
  }

  /**
   * Reads bytes in memory as those of a file, as of a program's own resource.
   *
   * @param name stands for the file's path in messages
   * @param content the bytes, which must not change until it is closed
   * @return the file, its header read and checked
   * @throws FormatException if it is of no known kind, or its header is not as it should be
   * @throws IOException never for another reason
   */
  public static TensorFile of(Path name, byte[] content) throws IOException {
    return open(StoredBytes.of(name, content));
  }

  private static TensorFile open(StoredBytes bytes) throws IOException {
    try {
      if (bytes.startWith(NpyHeader.MAGIC)) {
        return new NpyFile(bytes);
      }
      if (bytes.startWith(GgufHeader.MAGIC)) {
        return new GgufFile(bytes);
      }
      if (bytes.startWith(PARQUET_MAGIC)) {
        throw new FormatException(bytes.path, PARQUET);
      }
      String name = bytes.path.toString();
      if (name.endsWith(".safetensors") || bytes.start(9)[8] == '{') {
        return new SafetensorsFile(bytes);
      }
      throw new FormatException(
          bytes.path, bytes.size == 0 ? "the file is empty" : noKnownKind(name));
    } catch (Throwable e) {
      bytes.close();
      throw e;
    }
  }

  private static String noKnownKind(String name) {
    if (name.endsWith(".parquet")) {
      return PARQUET;
    }
    if (name.endsWith(".npz")) {
      return "is a .npz archive: extract the array first, for example with unzip";
    }
    return "is neither a .npy, a .safetensors nor a GGUF file";
  }

  /**
   * {@return the path that was given to {@link #open}, or the file in that folder that was opened,
   * or the name given to {@link #of}}
   */
  public final Path path() {
    return path;
  }

  /**
   * {@return the tensors of the file in the order of the header, shard after shard; exactly one,
   * without a name, for {@code .npy}}
   */
  public abstract List<Tensor> tensors();

  /**
   * {@return the text stored with the tensors: {@code __metadata__} in the order of the file, empty
   * for {@code .npy}; of a sharded set, the entries that all shards have; of a GGUF file, all
   * values except lists}
   */
  public abstract Map<String, String> metadata();

  /**
   * {@return the tensor with a name}
   *
   * @param name its name
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
          "elements %s to %s + %s of %s".formatted(first, first, count, elements));
    }
    int elementBytes = tensor.dtype().bits() / 8;
    if (into.byteSize() / elementBytes < count) {
      throw new IllegalArgumentException(
          "into has %s bytes, %s elements of %s bytes are asked for"
              .formatted(into.byteSize(), count, elementBytes));
    }
    readElements(tensor, first, count, into.asSlice(0, count * elementBytes));
  }

  /** Little-endian elements in C order, except where a format has others. */
  void readElements(Tensor tensor, long first, long count, MemorySegment into) throws IOException {
    int elementBytes = tensor.dtype().bits() / 8;
    bytes(tensor).readFully(start(tensor) + first * elementBytes, into);
    ByteOrders.toNative(into, elementBytes, ByteOrder.LITTLE_ENDIAN);
  }

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
          "bytes %s to %s + %s of %s".formatted(offset, offset, into.byteSize(), bytes));
    }
    bytes(tensor).readFully(start(tensor) + offset, into);
  }

  /** The bytes that hold the tensor. */
  abstract StoredBytes bytes(Tensor tensor);

  /** The position of the first byte of the tensor; refuses a tensor that is not of this file. */
  abstract long start(Tensor tensor);

  final IllegalArgumentException notOfThisFile(Tensor tensor) {
    return new IllegalArgumentException(path + " has no tensor " + tensor);
  }

  /** Closes the file; what was read from it stays. */
  @Override
  public abstract void close() throws IOException;
}
