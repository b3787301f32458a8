package io.github.rmsnorm4j.formats;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Rows;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A file whose {@linkplain QuantizedTensor quantised tensors} are read as float32 elements: each
 * element is its code times its scale. Their scales are not among the tensors. Other tensors are as
 * in the file.
 */
public final class DequantizedFile extends TensorFile {
  /** The most elements that are decoded at a time. */
  private static final int PIECE = 1 << 16;

  private final TensorFile file;
  private final Map<String, QuantizedTensor> quantized;
  private final List<Tensor> tensors;

  private DequantizedFile(TensorFile file) throws FormatException {
    super(file.path());
    this.file = file;
    quantized = QuantizedTensor.of(file);
    Set<String> scales = QuantizedTensor.scales(file);
    tensors =
        file.tensors().stream()
            .filter(tensor -> !scales.contains(tensor.name()))
            .map(
                tensor -> {
                  QuantizedTensor found = quantized.get(tensor.name());
                  return found == null ? tensor : found.elements();
                })
            .toList();
  }

  /**
   * Opens a file of any kind, as {@link TensorFile#open} does.
   *
   * @param path the file or the folder
   * @return the file
   * @throws FormatException if it is of no known kind, its header is wrong, or its metadata names
   *     quantised tensors that it does not have
   * @throws IOException if it cannot be read
   */
  public static DequantizedFile open(Path path) throws IOException {
    TensorFile file = TensorFile.open(path);
    try {
      return new DequantizedFile(file);
    } catch (Throwable e) {
      file.close();
      throw e;
    }
  }

  /** {@return the file as it is stored} */
  public TensorFile stored() {
    return file;
  }

  /**
   * {@return how the elements of a tensor are stored, or nothing if it is not quantised}
   *
   * @param tensor one of {@link #tensors()}
   */
  public Optional<QuantizedType> type(Tensor tensor) {
    return Optional.ofNullable(quantized.get(tensor.name())).map(QuantizedTensor::type);
  }

  @Override
  public List<Tensor> tensors() {
    return tensors;
  }

  @Override
  public Map<String, String> metadata() {
    return file.metadata();
  }

  @Override
  void readElements(Tensor tensor, long first, long count, MemorySegment into) throws IOException {
    QuantizedTensor of = quantized.get(tensor.name());
    if (of == null || !of.elements().equals(tensor)) {
      file.readElements(tensor, first, count, into);
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      Buffers buffers = new Buffers(arena);
      int block = of.type().block(of.width());
      for (long at = first; at < first + count; ) {
        int inBlock = (int) (at % block);
        long left = first + count - at;
        int skipped = block <= PIECE ? inBlock : 0;
        long n =
            block <= PIECE
                ? decode(
                    of, at - inBlock, Math.ceilDiv(inBlock + left, (long) block), block, buffers)
                : decode(
                    of, at, 1, (int) Math.min(Math.min(left, block - inBlock), PIECE), buffers);
        long taken = Math.min(n - skipped, left) * Float.BYTES;
        long from = skipped * (long) Float.BYTES;
        MemorySegment.copy(buffers.elements, from, into, (at - first) * Float.BYTES, taken);
        at += taken / Float.BYTES;
      }
    }
  }

  /** Memory for a piece. */
  private static final class Buffers {
    final MemorySegment codes;
    final MemorySegment scales;
    final MemorySegment elements;

    Buffers(Arena arena) {
      codes = arena.allocate(2L * PIECE);
      scales = arena.allocate((long) PIECE * Float.BYTES, Float.BYTES);
      elements = arena.allocate((long) PIECE * Float.BYTES, Float.BYTES);
    }
  }

  /**
   * Reads blocks, or a part of one that is a row.
   *
   * @param blocks at most; as many as a piece has are read
   * @param length elements of a block, or of the part
   * @return the elements that were read
   */
  private long decode(QuantizedTensor of, long first, long blocks, int length, Buffers buffers)
      throws IOException {
    QuantizedType type = of.type();
    long n = Math.min(blocks, PIECE / length);
    if (of.scales().isEmpty()) {
      MemorySegment codes = buffers.codes.asSlice(0, n * type.rowBytes(length));
      file.readBytes(of.codes(), first / length * type.rowBytes(length), codes);
      dequantize(QuantizedRows.of(codes, type, n, length), buffers);
      return n * length;
    }
    MemorySegment codes = buffers.codes.asSlice(0, n * length);
    file.readBytes(of.codes(), first, codes);
    file.read(of.scales().get(), first / type.block(of.width()), n, buffers.scales);
    // Each block is a row of its own.
    String name = type.toString();
    QuantizedType ofRow = QuantizedType.ofName(name.substring(0, name.indexOf(':')) + ":row");
    dequantize(QuantizedRows.of(codes, buffers.scales, ofRow, n, length), buffers);
    return n * length;
  }

  private static void dequantize(QuantizedRows rows, Buffers buffers) {
    rows.dequantize(Rows.of(buffers.elements, ElementType.FLOAT32, rows.rows(), rows.width()));
  }

  @Override
  StoredBytes bytes(Tensor tensor) {
    return file.bytes(tensor);
  }

  /** Codes are read of {@link #stored()}. */
  @Override
  long start(Tensor tensor) {
    if (quantized.containsKey(tensor.name())) {
      throw notOfThisFile(tensor);
    }
    return file.start(tensor);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
