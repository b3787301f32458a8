package io.github.rmsnorm4j.formats;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A {@code .npy}, {@code .safetensors} or GGUF file, a sharded set of {@code .safetensors} files,
 * or a split GGUF file, open for reading.
 *
 * <p>Opening reads and checks the header, but no element. Elements are read in pieces, by
 * positional reads, into the caller's memory. Nothing is mapped, so a file that is truncated
 * meanwhile gives a {@link FormatException} and not a crash. Several threads may read at the same
 * time.
 */
public abstract sealed class TensorFile implements Closeable
    permits NpyFile, SafetensorsFile, GgufFile, ShardedFile, DequantizedFile {
  /**
   * A tensor and its place.
   *
   * @param tensor name, type and shape
   * @param bytes the file that holds it
   * @param start the position of its first byte in that file
   * @param order the byte order of its elements
   */
  record Place(Tensor tensor, StoredBytes bytes, long start, ByteOrder order) {
    Place(Tensor tensor, StoredBytes bytes, long start) {
      this(tensor, bytes, start, ByteOrder.LITTLE_ENDIAN);
    }

    /** The position after its last byte. */
    long end() {
      return start + tensor.bytes();
    }
  }

  private final Path path;
  private final List<StoredBytes> sources;
  private final Map<String, Place> places;
  private final List<Tensor> tensors;
  private final Map<String, String> metadata;

  /**
   * A file whose header has been read.
   *
   * @param sources the files that hold the tensors, which are closed with this one
   * @param places the tensors by name, in the order of the header; no other code writes to them
   * @param metadata the text stored with them, which no other code writes to either
   */
  TensorFile(
      Path path,
      List<StoredBytes> sources,
      Map<String, Place> places,
      Map<String, String> metadata) {
    this.path = path;
    this.sources = List.copyOf(sources);
    this.places = places;
    this.tensors = places.values().stream().map(Place::tensor).toList();
    this.metadata = Collections.unmodifiableMap(metadata);
  }

  /**
   * Opens a file of any kind. The first bytes decide which kind it is; if they do not, the
   * extension of the name does. A name that ends in {@code .json} is the index of a sharded set. A
   * part of a split GGUF file stands for all its parts.
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
    return FileOpener.open(path);
  }

  /**
   * Reads bytes in memory as those of one file, as of a program's own resource.
   *
   * @param name stands for the file's path in messages
   * @param content the bytes, which must not change until it is closed
   * @return the file, its header read and checked
   * @throws FormatException if it is of no known kind, or its header is not as it should be
   * @throws IOException never for another reason
   */
  public static TensorFile of(Path name, byte[] content) throws IOException {
    return FileOpener.open(StoredBytes.of(name, content));
  }

  /**
   * {@return the path that was given to {@link #open}, or the file in that folder that was opened,
   * or the first part of a split GGUF file, or the name given to {@link #of}}
   */
  public final Path path() {
    return path;
  }

  /**
   * {@return all files that are open: {@link #path()}, then the shards or parts, if there are any}
   */
  public final List<Path> files() {
    Stream<Path> holding = sources.stream().map(bytes -> bytes.path);
    return Stream.concat(Stream.of(path), holding).distinct().toList();
  }

  /**
   * {@return the tensors of the file in the order of the header, shard after shard; exactly one,
   * without a name, for {@code .npy}}
   */
  public final List<Tensor> tensors() {
    return tensors;
  }

  /**
   * {@return the text stored with the tensors: {@code __metadata__} in the order of the file, empty
   * for {@code .npy}; of a sharded set, the entries that all shards have; of a GGUF file, all
   * values of its first part except lists}
   */
  public final Map<String, String> metadata() {
    return metadata;
  }

  /**
   * {@return the tensor with a name}
   *
   * @param name its name
   * @throws FormatException if the file has no tensor of that name
   */
  public final Tensor tensor(String name) throws FormatException {
    return find(name).orElseThrow(() -> wrong("has no tensor '%s'", Printable.shortened(name)));
  }

  final Optional<Tensor> find(String name) {
    return Optional.ofNullable(places.get(name)).map(Place::tensor);
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

  /** Elements that are stored in C order, except where a format has others. */
  void readElements(Tensor tensor, long first, long count, MemorySegment into) throws IOException {
    int elementBytes = tensor.dtype().bits() / 8;
    Place place = place(tensor);
    place.bytes.readElements(place.start + first * elementBytes, elementBytes, place.order, into);
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
    Place place = place(tensor);
    place.bytes.readFully(place.start + offset, into);
  }

  /** Where the bytes of the tensor are; refuses a tensor that is not of this file. */
  Place place(Tensor tensor) {
    Place place = places.get(tensor.name());
    if (place == null || !place.tensor.equals(tensor)) {
      throw notOfThisFile(tensor);
    }
    return place;
  }

  final FormatException wrong(String problem, Object... values) {
    return new FormatException(path, problem.formatted(values));
  }

  final IllegalArgumentException notOfThisFile(Tensor tensor) {
    return new IllegalArgumentException(path + " has no tensor " + tensor);
  }

  /** In the order of the header. */
  final Collection<Place> places() {
    return places.values();
  }

  /** In the order of the data. */
  final List<Place> byPlace() {
    return places.values().stream()
        .sorted(Comparator.comparingLong(Place::start).thenComparingLong(Place::end))
        .toList();
  }

  final List<StoredBytes> sources() {
    return sources;
  }

  /** Closes the files; what was read from them stays. */
  @Override
  public final void close() throws IOException {
    for (StoredBytes bytes : sources) {
      bytes.close();
    }
  }
}
