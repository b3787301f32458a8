package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Elements of rows and columns, drawn from a seed. */
final class DrawnElements {
  /** Elements from one to the next whose gain is subnormal. */
  private static final int APART = 67;

  /** Rows above this have subnormal and NaN gains in some groups only, which their width says. */
  private static final int WIDE = 256;

  private final SplittableRandom random;

  DrawnElements(long seed) {
    random = new SplittableRandom(seed);
  }

  /** Numbers around 1 of all kinds; one in 50 is subnormal. */
  byte[] of(ElementType type, int n) {
    ByteBuffer bytes = ByteBuffer.allocate(n * type.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < n; i++) {
      float value = (float) random.nextDouble(-4, 4);
      int pattern = Float.floatToRawIntBits(value);
      put(bytes, type, random.nextInt(50) == 0 ? pattern & 0x807f_ffff : pattern);
    }
    return bytes.array();
  }

  /** Numbers below 2^-18. */
  byte[] tiny(ElementType type, int n) {
    byte[] elements = new byte[n * type.bytes()];
    for (int i = 0; i < n; i++) {
      set(elements, type, i, (float) random.nextDouble(-0x1p-18, 0x1p-18));
    }
    return elements;
  }

  /** Sets an element; a subnormal number becomes one of the type. */
  static void set(byte[] elements, ElementType type, int i, float value) {
    ByteBuffer bytes = ByteBuffer.wrap(elements).order(ByteOrder.LITTLE_ENDIAN);
    put(bytes.position(i * type.bytes()), type, Float.floatToRawIntBits(value));
  }

  private static void put(ByteBuffer bytes, ElementType type, int pattern) {
    switch (type) {
      case FLOAT64 -> bytes.putDouble(wide(pattern));
      case FLOAT32 -> bytes.putInt(pattern);
      default -> bytes.putShort(narrow(pattern, type));
    }
  }

  /** With digits that float32 has not. */
  private static double wide(int pattern) {
    return isSubnormal(pattern)
        ? Float.intBitsToFloat(pattern) * 0x1p-910
        : Float.intBitsToFloat(pattern) / 3.0;
  }

  private static short narrow(int pattern, ElementType type) {
    if (type == ElementType.BFLOAT16) {
      return (short) (pattern >>> 16);
    }
    return isSubnormal(pattern)
        ? (short) (pattern >>> 13 & 0x3ff)
        : Float.floatToFloat16(Float.intBitsToFloat(pattern));
  }

  private static boolean isSubnormal(int pattern) {
    return (pattern & 0x7f80_0000) == 0;
  }

  /** Numbers of columns in the compute type of rows of a type. */
  static Map<Tensor, byte[]> ofType(Map<Tensor, byte[]> columns, ElementType type) {
    if (type == ElementType.FLOAT64) {
      columns.replaceAll(
          (column, bytes) -> {
            ByteBuffer floats = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            ByteBuffer doubles = ByteBuffer.allocate(2 * bytes.length);
            doubles.order(ByteOrder.LITTLE_ENDIAN);
            while (floats.hasRemaining()) {
              put(doubles, type, floats.getInt());
            }
            return doubles.array();
          });
    }
    return columns;
  }

  /** Gain and bias. Some gains are subnormal and their biases 0, so that some outputs are, too. */
  Map<Tensor, byte[]> parameters(int width) {
    ByteBuffer gain = ByteBuffer.wrap(of(ElementType.FLOAT32, width));
    ByteBuffer bias = ByteBuffer.wrap(of(ElementType.FLOAT32, width));
    gain.order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < width; i++) {
      if ((i + offset(width)) % APART == 0) {
        gain.putInt(Float.BYTES * i, 0x0040_0000 + i);
      } else if (width > WIDE && isSubnormal(gain.getInt(Float.BYTES * i))) {
        gain.putFloat(Float.BYTES * i, 1.5F);
      }
      if (isSubnormal(gain.getInt(Float.BYTES * i))) {
        bias.putInt(Float.BYTES * i, 0);
      }
    }
    return new TreeMap<>(Map.of(Forward.GAIN, gain.array(), Forward.BIAS, bias.array()));
  }

  /** Where numbers of a row are NaN: in one of three groups of 32, once in each half. */
  static boolean isNan(int i, int width) {
    int within = (i + offset(width)) % (3 * SumOrder.LANES);
    return within == 5 || within == 5 + SumOrder.LANES / 2;
  }

  /** Some wide rows have no such numbers in their first group of 32, or in their last one. */
  private static int offset(int width) {
    return width > WIDE ? width % 3 * SumOrder.LANES : 0;
  }

  /** The same with gains that are NaN. */
  Map<Tensor, byte[]> parametersWithNan(int width) {
    Map<Tensor, byte[]> parameters = parameters(width);
    ByteBuffer gain = ByteBuffer.wrap(parameters.get(Forward.GAIN)).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < width; i++) {
      if (isNan(i, width)) {
        gain.putFloat(Float.BYTES * i, Float.NaN);
      }
    }
    return parameters;
  }
}
