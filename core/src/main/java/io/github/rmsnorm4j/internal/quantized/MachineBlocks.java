package io.github.rmsnorm4j.internal.quantized;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.internal.machine.Downcall;
import io.github.rmsnorm4j.internal.machine.ExecutableMemory;
import io.github.rmsnorm4j.internal.machine.FloatingPointState;
import io.github.rmsnorm4j.internal.machine.MadeCode;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Codes of blocks by machine code, for the rules and layouts that it has.
 *
 * @param kind what the code is made for
 * @param code its memory
 */
record MachineBlocks(Kind kind, MemorySegment code) implements MadeCode.Made {
  /** Scales that the code may write after those of the blocks. */
  static final int SLACK = 16;

  /** Of blocks of zeros. */
  private static final float[] ODD = {
    0, Float.NaN, Float.NEGATIVE_INFINITY, Float.MIN_VALUE, 0x1.7p-61f
  };

  private static final int TRIED = 36 * 2 * BlockCode.GROUP;

  /** The garbage collector waits for the end of a call with arrays: rows may not be longer. */
  private static final int WIDEST = 1 << 17;

  /** Elements that the code for 512 bits does at a time. */
  private static final int LONG_GROUP = 2 * BlockCode.GROUP;

  /**
   * What a function is made for.
   *
   * @param bits of a vector
   */
  record Kind(CodeFormat format, CodeRule rule, int bits) implements MadeCode.Named {
    /**
     * The code for rows of a width. That for 512 bits does 64 elements at a time: two blocks of 32,
     * or a part of a longer one. Other blocks have code for 256 bits.
     */
    static Kind of(CodeFormat format, CodeRule rule, int width, int mostBits) {
      int block = format.block(width);
      boolean isShort = block == BlockCode.GROUP;
      boolean isLong = width % LONG_GROUP == 0 && (isShort || block % LONG_GROUP == 0);
      int bits = isLong ? mostBits : Math.min(mostBits, 256);
      int made = bits == 512 && !isShort ? LONG_GROUP : BlockCode.GROUP;
      return new Kind(new CodeFormat(format.layout(), made, format.float8(), false), rule, bits);
    }

    @Override
    public String name() {
      return "for " + format;
    }
  }

  private static final MadeCode<Kind, MachineBlocks> MADE =
      new MadeCode<>() {
        @Override
        protected MachineBlocks make(Kind kind) {
          return new MachineBlocks(kind);
        }
      };

  private static final Downcall ARRAYS =
      new Downcall(true, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG);

  /** Loaded when the first code is called. */
  private static final class OfArrays {
    static final MethodHandle HANDLE = ARRAYS.handle();
  }

  MachineBlocks(Kind kind) {
    this(kind, ExecutableMemory.of(BlockCode.of(kind.format, kind.rule, kind.bits)));
  }

  /**
   * Null where there is no machine code for a rule, or no memory for it at the moment: then it may
   * be there a second later.
   *
   * @param width of a row
   * @param bits of the longest vectors; 0 where there is to be none
   */
  static @Nullable MachineBlocks of(CodeFormat format, CodeRule rule, int width, int bits) {
    boolean serves = bits > 0 && serves(format, rule, width);
    return serves ? MADE.of(Kind.of(format, rule, width, bits)) : null;
  }

  /** Whether there is nothing to make for a rule, or not any more. */
  static boolean isMade(CodeFormat format, CodeRule rule, int width, int bits) {
    boolean serves = bits > 0 && serves(format, rule, width);
    return !serves || MADE.isMade(Kind.of(format, rule, width, bits));
  }

  /** Whether there is machine code for a rule, and rows of a width. */
  static boolean serves(CodeFormat format, CodeRule rule, int width) {
    boolean layout = format.layout() == CodeLayout.Q8_0 || format.layout() == CodeLayout.APART;
    boolean int8 = rule.rounding() == CodeRounding.EVEN && rule.factor() != CodeFactor.DIVISION;
    return layout
        && !format.given()
        && (int8 || format.float8() != null)
        && format.block(width) % BlockCode.GROUP == 0
        && width <= WIDEST;
  }

  @Override
  public boolean passes() {
    boolean[] passes = new boolean[1];
    try (FloatingPointState state = new FloatingPointState()) {
      state.inContract(() -> passes[0] = isRight());
    }
    return passes[0];
  }

  /**
   * Ties, numbers of all sizes, subnormal ones among them, and blocks that have no codes: with
   * zeros alone, with a NaN and with an infinity.
   */
  private boolean isRight() {
    CodeFormat format = kind.format;
    int block = format.block();
    float[] y = new float[TRIED];
    for (int i = 0; i < TRIED; i++) {
      float half = (i * 37 % 255 - 127) * 0.5f;
      y[i] = i % block == 0 ? 127 : i % 5 == 0 ? half * 1.01f : half;
      y[i] *= i < TRIED / 2 ? 1 : 0x1p-20f * (i + 1);
    }
    y[1] = Float.MIN_VALUE;
    int at = TRIED / 2;
    for (float odd : ODD) {
      Arrays.fill(y, at, at + block, 0);
      y[at + block - 1] = odd;
      at += 2 * block;
    }
    int blocks = TRIED / block;
    byte[] wanted = new byte[blocks * (block + format.layout().more)];
    float[] wantedScales = new float[blocks];
    new Encoder(format, kind.rule).encode(y, TRIED, block, 0, wanted, wantedScales);
    byte[] codes = new byte[wanted.length];
    float[] scales = new float[blocks + SLACK];
    MemorySegment into = MemorySegment.ofArray(codes);
    MemorySegment from = MemorySegment.ofArray(y);
    MemorySegment intoScales = MemorySegment.ofArray(scales);
    encode(from, TRIED, block, into, 0, intoScales);
    boolean among = format.layout() != CodeLayout.APART;
    return Arrays.equals(wanted, codes)
        && (among || Arrays.equals(wantedScales, Arrays.copyOf(scales, blocks)));
  }

  /**
   * Encodes the first n elements, which are whole rows, and may change them. Nobody can close the
   * memory of the codes meanwhile, as it is an argument of a native call.
   *
   * @param y native memory or an array, like the codes
   * @param offset of the codes in it, in bytes
   * @param scales has room for {@link #SLACK} more
   */
  void encode(
      MemorySegment y, int n, int block, MemorySegment codes, long offset, MemorySegment scales) {
    ARRAYS.make();
    try {
      long groups = block / BlockCode.GROUP;
      // It returns nothing.
      long unused =
          (long)
              OfArrays.HANDLE.invokeExact(
                  code, (long) (n / block), groups, y, codes, scales, offset);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
