package io.github.rmsnorm4j.cli;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Elements of a tensor as numbers, and as text. */
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
    for (Object value : values(first, count)) {
      line.append(String.format(" %11s", value instanceof Double x ? number(x) : value));
    }
  }

  /** As many elements as fit the buffer, or fewer, as numbers or truths. */
  List<Object> values(long first, int count) throws IOException {
    int bytes = tensor.dtype().bits() / 8;
    if (tensor.dtype().elementType().isPresent()) {
      file.read(tensor, first, count, buffer);
    } else {
      file.readBytes(tensor, first * bytes, buffer.asSlice(0, (long) count * bytes));
    }
    List<Object> values = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      values.add(value((long) i * bytes));
    }
    return values;
  }

  private Object value(long at) {
    return switch (tensor.dtype()) {
      case F64, F32, F16, BF16 -> {
        ElementType type = tensor.dtype().elementType().orElseThrow();
        yield type.get(buffer, at / type.bytes());
      }
      case I64 -> buffer.get(LONG, at);
      case U64 -> new BigInteger(Long.toUnsignedString(buffer.get(LONG, at)));
      case I32 -> buffer.get(INT, at);
      case U32 -> Integer.toUnsignedLong(buffer.get(INT, at));
      case I16 -> buffer.get(SHORT, at);
      case U16 -> Short.toUnsignedInt(buffer.get(SHORT, at));
      case I8 -> buffer.get(JAVA_BYTE, at);
      case U8 -> Byte.toUnsignedInt(buffer.get(JAVA_BYTE, at));
      case BOOL -> buffer.get(JAVA_BYTE, at) != 0;
      default -> throw new IllegalStateException(tensor + " has no text");
    };
  }

  /** Five digits, the same for a large and for a small number. */
  private static String number(double value) {
    return value == 0 || !Double.isFinite(value)
        ? Double.toString(value)
        : String.format(Locale.ROOT, "%.5g", value);
  }
}
