package io.github.rmsnorm4j.cli;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Locale;

/** Elements of a tensor as text. */
record ElementText(TensorFile file, Tensor tensor, MemorySegment buffer) {
  /** Elements of other than floating types are as they are stored. */
  private static final ValueLayout.OfLong LONG = JAVA_LONG_UNALIGNED.withOrder(LITTLE_ENDIAN);

  private static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT = JAVA_SHORT_UNALIGNED.withOrder(LITTLE_ENDIAN);

  static boolean isKnown(Dtype dtype) {
    return switch (dtype) {
      case F64, F32, F16, BF16, I64, U64, I32, U32, I16, U16, I8, U8, BOOL -> true;
      default -> false;
    };
  }

  /** Appends as many elements as fit the buffer, or fewer, each in a column of 12. */
  void append(StringBuilder line, long first, int count) throws IOException {
    int bytes = tensor.dtype().bits() / 8;
    if (tensor.dtype().elementType().isPresent()) {
      file.read(tensor, first, count, buffer);
    } else {
      file.readBytes(tensor, first * bytes, buffer.asSlice(0, (long) count * bytes));
    }
    for (long at = 0; at < (long) count * bytes; at += bytes) {
      line.append(String.format(" %11s", text(at)));
    }
  }

  private String text(long at) {
    return switch (tensor.dtype()) {
      case F64, F32, F16, BF16 -> number(at / (tensor.dtype().bits() / 8));
      case I64 -> Long.toString(buffer.get(LONG, at));
      case U64 -> Long.toUnsignedString(buffer.get(LONG, at));
      case I32 -> Integer.toString(buffer.get(INT, at));
      case U32 -> Integer.toUnsignedString(buffer.get(INT, at));
      case I16 -> Short.toString(buffer.get(SHORT, at));
      case U16 -> Integer.toString(Short.toUnsignedInt(buffer.get(SHORT, at)));
      case I8 -> Byte.toString(buffer.get(JAVA_BYTE, at));
      case U8 -> Integer.toString(Byte.toUnsignedInt(buffer.get(JAVA_BYTE, at)));
      case BOOL -> buffer.get(JAVA_BYTE, at) == 0 ? "false" : "true";
      default -> throw new IllegalStateException(tensor + " has no text");
    };
  }

  /** Five digits, the same for a large and for a small number. */
  private String number(long index) {
    double value = tensor.dtype().elementType().orElseThrow().get(buffer, index);
    return value == 0 || !Double.isFinite(value)
        ? Double.toString(value)
        : String.format(Locale.ROOT, "%.5g", value);
  }
}
