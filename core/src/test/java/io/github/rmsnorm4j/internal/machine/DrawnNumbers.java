package io.github.rmsnorm4j.internal.machine;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/** Draws patterns of numbers, of which many are where instructions may err. */
final class DrawnNumbers {
  private static final int NAN = 0x7fc0_0000;

  private static final double[] DOUBLES = {
    1.0,
    2.0,
    -3.0,
    Double.POSITIVE_INFINITY,
    Double.MAX_VALUE,
    Double.MIN_VALUE,
    Double.MIN_NORMAL,
    Math.nextDown(Double.MIN_NORMAL),
    Float.MAX_VALUE,
    // Half a unit more, and its neighbours: infinite as a float32, or not.
    0x1.ffffffp127,
    Math.nextDown(0x1.ffffffp127),
    0x1p-150,
    Math.nextUp(0x1p-150)
  };

  private static final float[] FLOATS = {
    1.0f,
    2.0f,
    -3.0f,
    Float.POSITIVE_INFINITY,
    Float.MAX_VALUE,
    Float.MIN_VALUE,
    Float.MIN_NORMAL,
    Math.nextDown(Float.MIN_NORMAL),
    65504,
    65520,
    Math.nextDown(65520f),
    0x1p-25f,
    Math.nextUp(0x1p-25f),
    Math.nextUp(65504f)
  };

  /** What all elements are patterns of. */
  private enum Kind {
    DOUBLES,
    FLOATS,
    HALVES,
    INTS
  }

  private final SplittableRandom random;

  DrawnNumbers(long seed) {
    random = new SplittableRandom(seed);
  }

  /** The area of a {@link Probe}, before it is run where that area is. */
  byte[] area(RunnableInstruction instruction, long address) {
    ByteBuffer area = ByteBuffer.allocate(Probe.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    fill(area);
    for (int at = Probe.MASKS; at < Probe.VECTORS; at += Float.BYTES) {
      area.putInt(at, random.nextBoolean() ? NAN : 0);
    }
    boolean aligned = instruction.op() == VectorOp.VMOVNTPS_TO;
    long memory = address + Probe.MEMORY + (aligned ? 0 : random.nextInt(64));
    long index = area.getLong(Probe.GENERALS + Long.BYTES * RunnableInstruction.INDEX.n());
    long base = instruction.base(memory, index);
    area.putLong(Probe.GENERALS + Long.BYTES * RunnableInstruction.BASE.n(), base);
    return area.array();
  }

  /** Fills bytes with patterns of one kind. */
  private void fill(ByteBuffer bytes) {
    Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
    for (int at = 0; at < bytes.capacity(); at += Long.BYTES) {
      bytes.putLong(
          at,
          switch (kind) {
            case DOUBLES -> float64();
            case FLOATS -> pair(float32(), float32());
            case HALVES -> random.nextLong();
            case INTS -> pair(int32(), int32());
          });
    }
  }

  private static long pair(int low, int high) {
    return (long) high << 32 | low & 0xffff_ffffL;
  }

  private int int32() {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(-3, 20);
      case 1 -> Integer.MIN_VALUE >> random.nextInt(32);
      case 2 -> 65_536 + random.nextInt(-3, 3);
      default -> random.nextInt();
    };
  }

  private long float64() {
    long sign = random.nextLong() & Long.MIN_VALUE;
    return sign
        ^ switch (random.nextInt(8)) {
          case 0 -> Double.doubleToRawLongBits(DOUBLES[random.nextInt(DOUBLES.length)]);
          case 1 -> 0;
          // Infinite, or NaN: quiet or signalling.
          case 2 -> 0x7ff0_0000_0000_0000L | payload(52);
          case 3 -> random.nextLong() >>> 12 >>> random.nextInt(52);
          case 4 -> Double.doubleToRawLongBits(betweenFloats()) + random.nextInt(-1, 2);
          case 5 -> random.nextLong();
          default -> Double.doubleToRawLongBits(random.nextInt(1, 1 << 20) * exponent());
        };
  }

  /** Halfway between two floats. */
  private double betweenFloats() {
    float below = Float.intBitsToFloat(random.nextInt(0x7f7f_ffff) >>> 8 * random.nextInt(2));
    return ((double) below + Math.nextUp(below)) / 2;
  }

  private double exponent() {
    return Math.scalb(1.0, random.nextInt(-30, 10));
  }

  private long payload(int bits) {
    return switch (random.nextInt(4)) {
      case 0 -> 0;
      case 1 -> 1L << bits - 1;
      default -> random.nextLong(1L << bits);
    };
  }

  private int float32() {
    int sign = random.nextInt() & Integer.MIN_VALUE;
    return sign
        ^ switch (random.nextInt(8)) {
          case 0 -> Float.floatToRawIntBits(FLOATS[random.nextInt(FLOATS.length)]);
          case 1 -> 0;
          case 2 -> 0x7f80_0000 | (int) payload(23);
          case 3 -> random.nextInt() >>> 9 >>> random.nextInt(23);
          // Halfway between two bfloat16.
          case 4 -> (random.nextInt(0x7f80) << 16 | 0x8000) + random.nextInt(-1, 2);
          case 5 -> Float.floatToRawIntBits(betweenHalves()) + random.nextInt(-1, 2);
          case 6 -> random.nextInt();
          default -> Float.floatToRawIntBits((float) (random.nextInt(1, 1 << 12) * exponent()));
        };
  }

  /** Halfway between two float16. */
  private float betweenHalves() {
    short below = (short) random.nextInt(0x7bff);
    float sum = Float.float16ToFloat(below) + Float.float16ToFloat((short) (below + 1));
    return sum / 2;
  }
}
