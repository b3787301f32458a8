package io.github.rmsnorm4j.formats;

import io.github.rmsnorm4j.QuantizedType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

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
    return Map.entry(key(codes()), type.toString());
  }

  /**
   * {@return under what the metadata says how a tensor is quantised}
   *
   * @param tensor the tensor
   */
  public static String key(Tensor tensor) {
    return KEY + tensor.name();
  }

  /** {@return the elements as a float32 tensor, as which they are read} */
  public Tensor elements() {
    return new Tensor(name, Dtype.F32, shape);
  }

  /**
   * {@return the quantised tensors of a file by name, as its metadata says}
   *
   * @param file the file
   * @throws FormatException if the metadata says so of a tensor, and the file has no such codes or
   *     scales
   */
  public static Map<String, QuantizedTensor> of(TensorFile file) throws FormatException {
    Map<String, QuantizedTensor> found = new HashMap<>();
    for (Tensor codes : said(file)) {
      try {
        found.put(codes.name(), stored(file, codes));
      } catch (IllegalArgumentException e) {
        String type = Printable.shortened(file.metadata().get(key(codes)));
        throw new FormatException(
            file.path(),
            "says that the tensor %s is quantized as %s, but %s"
                .formatted(codes.label(), type, e.getMessage()));
      }
    }
    return found;
  }

  /**
   * {@return the names of the tensors of a file that hold the scales of others} Metadata that is
   * not true counts for nothing.
   *
   * @param file the file
   */
  public static Set<String> scales(TensorFile file) {
    Set<String> names = new HashSet<>();
    for (Tensor codes : said(file)) {
      try {
        stored(file, codes).scales().ifPresent(scales -> names.add(scales.name()));
      } catch (IllegalArgumentException ignored) {
        // The tensor is read as what it is.
      }
    }
    return names;
  }

  /** Those that the metadata says are quantised. */
  private static List<Tensor> said(TensorFile file) {
    Map<String, String> metadata = file.metadata();
    return file.tensors().stream().filter(t -> metadata.containsKey(key(t))).toList();
  }

  /** An {@link IllegalArgumentException} says why the tensors are not of the type. */
  private static QuantizedTensor stored(TensorFile file, Tensor codes) {
    QuantizedTensor tensor = of(codes, QuantizedType.ofName(file.metadata().get(key(codes))));
    tensor.elements(); // Their bytes may overflow where those of the codes do not.
    Optional<Tensor> scales = tensor.scales();
    if (!tensor.codes().equals(codes)
        || !scales.equals(scales.flatMap(wanted -> file.find(wanted.name())))) {
      throw new IllegalArgumentException("the file has no such codes and scales");
    }
    return tensor;
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
