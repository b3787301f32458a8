package io.github.rmsnorm4j.formats;

import io.github.rmsnorm4j.formats.NpyHeaderParser.SyntaxException;
import java.nio.ByteOrder;

/** NumPy's description of an element type: a byte order, a kind and a size, such as {@code <f4}. */
final class NpyDescr {
  private static final String ORDERS = "<>=|";

  private NpyDescr() {}

  static Dtype dtype(String descr) throws SyntaxException {
    return switch (withoutOrder(descr)) {
      case "f2" -> Dtype.F16;
      case "f4" -> Dtype.F32;
      case "f8" -> Dtype.F64;
      default -> throw new SyntaxException(refusal(descr));
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

  private static String withoutOrder(String descr) {
    boolean ordered = !descr.isEmpty() && ORDERS.indexOf(descr.charAt(0)) >= 0;
    return ordered ? descr.substring(1) : descr;
  }

  private static String refusal(String descr) {
    String type = withoutOrder(descr);
    String what =
        switch (type.isEmpty() ? ' ' : type.charAt(0)) {
          case 'O' -> "pickled Python objects, which are never loaded";
          case 'c' -> "complex numbers";
          case 'i', 'u' -> "integers (in NumPy, x.astype(np.float32) makes float32)";
          case 'b', '?' -> "truth values";
          case 'f', 'g' -> "floats of that size";
          case 'S', 'a', 'U' -> "text";
          case 'M', 'm' -> "dates or durations";
          case 'V' -> "raw bytes (bfloat16 has no type of its own here, but in .safetensors)";
          default -> "what is no known type";
        };
    return "has the type '%s', %s; supported are f2, f4 and f8 (float16, float32, float64)"
        .formatted(Printable.shortened(descr), what);
  }
}
