package io.github.rmsnorm4j.formats;

import java.nio.ByteOrder;
import java.util.Map;

/** What {@code numpy.dtype} reads: a name, or a byte order and a code, such as {@code <f4}. */
final class NpyDescr {
  /** What the other names and codes of NumPy stand for. */
  private static final Map<String, String> KINDS =
      Map.of(
          "O8?|object_?", "pickled Python objects, which are never loaded",
          "c(8|16|24|32)|[FDG]|complex(64|128|192|256)?|c(single|double|longdouble)",
              "complex numbers",
          "[iu][1248]|[bBhHiIlLqQpP]|u?int(8|16|32|64|c|p|_)?|u?(byte|short|long|longlong)",
              "integers (in NumPy, x.astype(np.float32) makes float32)",
          "b1|[?]|bool[_8]?", "truth values",
          "f(12|16)|g|float(96|128)|longdouble|longfloat", "floats of that size",
          "[SaU]\\d*|c|(str|bytes)_?", "text",
          "[mM]8?(\\[.*\\])?|(datetime|timedelta)64(\\[.*\\])?", "dates or durations",
          "V\\d*|void", "raw bytes (bfloat16 has no type of its own here, but in .safetensors)",
          "bfloat16", "which has no type of its own here, but in .safetensors");

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
    return KINDS.entrySet().stream()
        .filter(kind -> code.matches(kind.getKey()))
        .findFirst()
        .map(Map.Entry::getValue)
        .orElse("what is no known type");
  }
}
