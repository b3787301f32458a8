package io.github.rmsnorm4j.formats;

import io.github.rmsnorm4j.QuantizedType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A tensor whose rows are stored as codes and scales in a {@code .safetensors} file. A row is the
 * last axis.
 *
 * <p>A type of ggml is stored as one tensor of {@code U8}, whose last axis is the bytes of a row.
 * Other types are stored as codes of {@code I8}, {@code F8_E4M3} or {@code F8_E5M2} with the shape
 * of the elements, and as a tensor {@code NAME.scale} of {@code F32}, whose last axis is the scales
 * of a row. The metadata has the type's name under {@code quantized.NAME}.
 *
 * @param name the name of the tensor
 * @param type how its rows are stored
 * @param shape the shape of the elements
 */
public record QuantizedTensor(String name, QuantizedType type, List<Long> shape) {
  private static final String KEY = "quantized.";
  private static final String SCALES = ".scale";

  /**
   * Checks that there are such rows.
   *
   * @throws IllegalArgumentException if there is no axis, the last one is not whole blocks, or the
   *     type has one scale that is given
   */
  public QuantizedTensor {
    shape = List.copyOf(shape);
    if (type.toString().endsWith(":given")) {
      throw new IllegalArgumentException("a file has no place for the scale of " + type);
    }
    long width = shape.isEmpty() ? 0 : shape.getLast();
    if (width < 1 || width > Integer.MAX_VALUE || width % type.block((int) width) != 0) {
      throw new IllegalArgumentException(
          "rows are %s wide, for %s they must be a multiple of %s"
              .formatted(width, type, type.block(Math.clamp(width, 1, Integer.MAX_VALUE))));
    }
  }

  /** {@return the elements of a row} */
  public int width() {
    return Math.toIntExact(shape.getLast());
  }

  /** {@return the tensor of the codes, or of the blocks of ggml} */
  public Tensor codes() {
    String codes = type.toString();
    if (type.scales(width()) == 0) {
      return new Tensor(name, Dtype.U8, withLast(type.rowBytes(width())));
    }
    Dtype dtype =
        codes.startsWith("int8")
            ? Dtype.I8
            : codes.startsWith("f8e4m3") ? Dtype.F8_E4M3 : Dtype.F8_E5M2;
    return new Tensor(name, dtype, shape);
  }

  /** {@return the tensor of the scales, or nothing if they are among the codes} */
  public Optional<Tensor> scales() {
    int scales = type.scales(width());
    return scales == 0
        ? Optional.empty()
        : Optional.of(new Tensor(name + SCALES, Dtype.F32, withLast(scales)));
  }

  private List<Long> withLast(long length) {
    List<Long> other = new ArrayList<>(shape);
    other.set(other.size() - 1, length);
    return other;
  }

  /** {@return the entry of metadata that says how it is stored} */
  public Map.Entry<String, String> metadata() {
    return Map.entry(KEY + name, type.toString());
  }

  /** {@return the elements as a float32 tensor, as which they are read} */
  public Tensor elements() {
    return new Tensor(name, Dtype.F32, shape);
  }

  /**
   * {@return the tensor whose codes these are, if the metadata of the file says so}
   *
   * @param file the file
   * @param codes one of its tensors
   * @throws FormatException if the metadata says so, and the file has no such codes or scales
   */
  public static Optional<QuantizedTensor> of(TensorFile file, Tensor codes) throws FormatException {
    String type = file.metadata().get(KEY + codes.name());
    if (type == null) {
      return Optional.empty();
    }
    try {
      QuantizedTensor tensor = of(codes, QuantizedType.ofName(type));
      boolean stored =
          tensor.codes().equals(codes)
              && (tensor.scales().isEmpty() || file.tensors().contains(tensor.scales().get()));
      if (stored) {
        return Optional.of(tensor);
      }
    } catch (IllegalArgumentException _) {
      // No such type, or not of this shape.
    }
    throw new FormatException(
        file.path(),
        "says that the tensor %s is %s, but has no such codes and scales"
            .formatted(codes.label(), Printable.shortened(type)));
  }

  /** The tensor with the width of rows of so many bytes. */
  private static QuantizedTensor of(Tensor codes, QuantizedType type) {
    List<Long> shape = new ArrayList<>(codes.shape());
    if (codes.dtype() == Dtype.U8 && !shape.isEmpty()) {
      int block = type.block(1);
      shape.set(shape.size() - 1, shape.getLast() / type.rowBytes(block) * block);
    }
    return new QuantizedTensor(codes.name(), type, shape);
  }
}
