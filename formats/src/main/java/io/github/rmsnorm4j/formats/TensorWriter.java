package io.github.rmsnorm4j.formats;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Writes a {@code .npy} or {@code .safetensors} file: first the header, then the bytes of the
 * tensors, in pieces of any size. {@link #commit()} makes the file appear whole, or not at all; see
 * {@link ReplacingFile}. Not for use by several threads.
 */
public final class TensorWriter implements Closeable {
  private final ReplacingFile file;
  private final List<Tensor> order;
  private final long bytes;
  private long written;

  private TensorWriter(ReplacingFile file, List<Tensor> order) {
    this.file = file;
    this.order = order;
    this.bytes = order.stream().mapToLong(Tensor::bytes).reduce(0, Math::addExact);
  }

  /**
   * Begins a file. The extension of its name, {@code .npy} or {@code .safetensors}, decides the
   * kind.
   *
   * @param path the final name of the file
   * @param tensors the tensors in the order of the header; exactly one for {@code .npy}, which does
   *     not keep its name
   * @param metadata the text to store with the tensors; must be empty for {@code .npy}
   * @param replace whether an existing file may be replaced
   * @return the file, with its header written
   * @throws FileAlreadyExistsException if the file exists and may not be replaced
   * @throws IOException if the file cannot be written
   * @throws IllegalArgumentException if the extension is another one, or a file of that kind cannot
   *     hold the tensors: several tensors or bfloat16 in {@code .npy}, one name twice, a type with
   *     {@link Dtype#isBlock()}
   */
  public static TensorWriter create(
      Path path, List<Tensor> tensors, Map<String, String> metadata, boolean replace)
      throws IOException {
    if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
      throw new UnsupportedOperationException("files are written on little-endian machines only");
    }
    String name = Printable.escaped(path.toString());
    byte[] header;
    List<Tensor> order;
    if (path.toString().endsWith(".npy")) {
      order = List.copyOf(tensors);
      header = npyHeader(name, order, metadata);
    } else if (path.toString().endsWith(".safetensors")) {
      SafetensorsLayout layout = SafetensorsLayout.of(tensors, metadata);
      order = layout.order();
      header = layout.header();
    } else {
      throw new IllegalArgumentException(name + ": the name must end in .npy or .safetensors");
    }
    return create(path, header, order, replace);
  }

  /**
   * Begins a {@code .safetensors} file with the header of another one, byte for byte. So each
   * tensor has the same type, shape and place in both.
   *
   * @param path the final name of the file
   * @param model the other file
   * @param replace whether an existing file may be replaced
   * @return the file, with its header written; {@link #order()} is that of the other's data
   * @throws FileAlreadyExistsException if the file exists and may not be replaced
   * @throws IOException if the file cannot be written, or the other cannot be read
   */
  public static TensorWriter like(Path path, SafetensorsFile model, boolean replace)
      throws IOException {
    SafetensorsLayout layout = model.layout();
    return create(path, layout.header(), layout.order(), replace);
  }

  private static TensorWriter create(Path path, byte[] header, List<Tensor> order, boolean replace)
      throws IOException {
    ReplacingFile file = ReplacingFile.create(path, replace);
    try {
      file.write(MemorySegment.ofArray(header));
      return new TensorWriter(file, order);
    } catch (Throwable e) {
      file.close();
      throw e;
    }
  }

  private static byte[] npyHeader(String name, List<Tensor> tensors, Map<String, String> metadata) {
    if (tensors.size() != 1) {
      throw new IllegalArgumentException(
          name + ": a .npy file holds one tensor, not " + tensors.size() + "; use .safetensors");
    }
    if (!metadata.isEmpty()) {
      throw new IllegalArgumentException(
          name + ": a .npy file holds no metadata; use .safetensors");
    }
    Tensor tensor = tensors.getFirst();
    return switch (tensor.dtype()) {
      case F16, F32, F64 ->
          new NpyHeader(tensor.dtype(), ByteOrder.nativeOrder(), false, tensor.shape()).toBytes();
      case BF16 ->
          throw new IllegalArgumentException(
              name + ": .npy has no bfloat16; write a .safetensors file or another type");
      default ->
          throw new IllegalArgumentException(
              name + ": only f16, f32 and f64 are written to .npy, not " + tensor);
    };
  }

  /**
   * The order in which the bytes must be written. It is the order of the header, unless that would
   * not align a tensor to the size of its elements. Then larger elements come first.
   *
   * @return the tensors in the order of their data
   */
  public List<Tensor> order() {
    return order;
  }

  /**
   * Writes the next bytes: elements in C order, one tensor after the other in the order of {@link
   * #order()}.
   *
   * @param piece the bytes: native memory, or a {@code byte[]}
   * @throws IOException if writing fails, for example because the disk is full
   * @throws UnsupportedOperationException if the bytes are in an array of another type
   * @throws IllegalArgumentException if the tensors have fewer bytes left
   */
  public void write(MemorySegment piece) throws IOException {
    if (piece.byteSize() > bytes - written) {
      throw new IllegalArgumentException(
          "%s bytes after %s of %s".formatted(piece.byteSize(), written, bytes));
    }
    file.write(piece);
    written += piece.byteSize();
  }

  /**
   * Writes the file to the disk, and then gives it its name.
   *
   * @throws IOException if this fails; the old file is then unchanged
   * @throws IllegalStateException if not all bytes have been written
   */
  public void commit() throws IOException {
    if (written != bytes) {
      throw new IllegalStateException(written + " of " + bytes + " bytes have been written");
    }
    file.commit();
  }

  /** Deletes what was written, unless it has been committed. */
  @Override
  public void close() throws IOException {
    file.close();
  }
}
