package io.github.rmsnorm4j.formats;

import java.nio.ByteOrder;

/** What {@code numpy.dtype} reads: a name, or a byte order and a code, such as {@code <f4}. */
final class NpyDescr {
  private NpyDescr() {}

  /** The type, or an {@link IllegalArgumentException} whose message says why there is none. */
  static Dtype dtype(String descr) {
    String code =
        descr.isEmpty() || "<>=|".indexOf(descr.charAt(0)) < 0 ? descr : descr.substring(1);
    return switch (code) {
      case "f2", "e" -> Dtype.F16;
      case "f4", "f" -> Dtype.F32;
      case "f8", "d" -> Dtype.F64;
      default ->
          switch (descr) {
            case "float16", "half" -> Dtype.F16;
            case "float32", "single" -> Dtype.F32;
            case "float64", "double", "float" -> Dtype.F64;
            default ->
                throw new IllegalArgumentException(
                    "has the type '%s', %s; supported are f2, f4 and f8 (float16, float32, float64)"
                        .formatted(Printable.shortened(descr), kind(code)));
          };
    };
  }

  /** {@code =} is the machine's own order, and so is {@code |}, 'not applicable'. */
  static ByteOrder order(String descr) {
    return switch (descr.charAt(0)) {
      case '<' -> ByteOrder.LITTLE_ENDIAN;
      case '>' -> ByteOrder.BIG_ENDIAN;
      default -> ByteOrder.nativeOrder();
    };
  }

  private static String kind(String code) {
    return switch (code.isEmpty() ? ' ' : code.charAt(0)) {
      case 'O', 'o' -> "pickled Python objects, which are never loaded";
      case 'c' -> "complex numbers";
      case 'i', 'u' -> "integers (in NumPy, x.astype(np.float32) makes float32)";
      case 'b', '?' -> "truth values";
      case 'f', 'g' -> "floats of that size";
      case 'S', 'a', 'U' -> "text";
      case 'M', 'm' -> "dates or durations";
      case 'V' -> "raw bytes (bfloat16 has no type of its own here, but in .safetensors)";
      default -> "what is no known type";
    };
  }
}
