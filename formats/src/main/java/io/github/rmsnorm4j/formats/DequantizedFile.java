package io.github.rmsnorm4j.formats;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Rows;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

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

  private DequantizedFile(
      TensorFile file, Map<String, QuantizedTensor> quantized, Map<String, Place> places) {
    super(file.path(), file.sources(), places, file.metadata());
    this.file = file;
    this.quantized = quantized;
  }

  private static DequantizedFile of(TensorFile file) throws FormatException {
    Map<String, QuantizedTensor> quantized = QuantizedTensor.of(file);
    Map<String, Place> places = new LinkedHashMap<>();
    for (Place place : file.places()) {
      String name = place.tensor().name();
      QuantizedTensor of = quantized.get(name);
      places.put(name, of == null ? place : new Place(of.elements(), place.bytes(), place.start()));
    }
    quantized.values().forEach(of -> of.scales().ifPresent(scales -> places.remove(scales.name())));
    return new DequantizedFile(file, quantized, places);
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
    return FileOpener.join(
        opened -> {
          opened.add(TensorFile.open(path));
          return of(opened.getFirst());
        });
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
  void readElements(Tensor tensor, long first, long count, MemorySegment into) throws IOException {
    QuantizedTensor of = quantized.get(tensor.name());
    if (of == null || !of.elements().equals(tensor)) {
      file.readElements(tensor, first, count, into);
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      Buffers buffers = new Buffers(arena);
      int block = of.type().block(of.width());
      boolean isPart = block > PIECE;
      long end = first + count;
      for (long at = first; at < end; ) {
        long inBlock = at % block;
        long from = isPart ? at : at - inBlock;
        int length = (int) (isPart ? Math.min(Math.min(end - at, block - inBlock), PIECE) : block);
        long blocks = isPart ? 1 : Math.min(Math.ceilDiv(end - from, (long) block), PIECE / block);
        decode(of, from, blocks, length, buffers);
        long taken = Math.min(end, from + blocks * length) - at;
        MemorySegment.copy(
            buffers.elements,
            (at - from) * Float.BYTES,
            into,
            (at - first) * Float.BYTES,
            taken * Float.BYTES);
        at += taken;
      }
    }
  }

  /** Memory for a piece. */
  private record Buffers(MemorySegment codes, MemorySegment scales, MemorySegment elements) {
    Buffers(Arena arena) {
      this(
          arena.allocate(2L * PIECE),
          arena.allocate((long) PIECE * Float.BYTES, Float.BYTES),
          arena.allocate((long) PIECE * Float.BYTES, Float.BYTES));
    }
  }

  /** Reads blocks of a length, or a part of one that is a row. */
  private void decode(QuantizedTensor of, long first, long blocks, int length, Buffers buffers)
      throws IOException {
    QuantizedType type = of.type();
    Optional<Tensor> scales = of.scales();
    long bytes = scales.isEmpty() ? type.rowBytes(length) : length;
    MemorySegment codes = buffers.codes.asSlice(0, blocks * bytes);
    file.readBytes(of.codes(), scales.isEmpty() ? first / length * bytes : first, codes);
    QuantizedRows rows;
    if (scales.isEmpty()) {
      rows = QuantizedRows.of(codes, type, blocks, length);
    } else {
      file.read(scales.get(), first / type.block(of.width()), blocks, buffers.scales);
      // Each block is a row of its own.
      String name = type.toString();
      QuantizedType ofRow = QuantizedType.ofName(name.substring(0, name.indexOf(':')) + ":row");
      rows = QuantizedRows.of(codes, buffers.scales, ofRow, blocks, length);
    }
    rows.dequantize(Rows.of(buffers.elements, ElementType.FLOAT32, blocks, length));
  }

  /** Codes are read of {@link #stored()}. */
  @Override
  Place place(Tensor tensor) {
    if (quantized.containsKey(tensor.name())) {
      throw notOfThisFile(tensor);
    }
    return super.place(tensor);
  }
}
