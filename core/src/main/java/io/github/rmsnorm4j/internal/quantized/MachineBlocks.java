package io.github.rmsnorm4j.internal.quantized;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.ScaleFloor;
import io.github.rmsnorm4j.internal.machine.ExecutableMemory;
import io.github.rmsnorm4j.internal.machine.FloatingPointState;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;

/** Codes of blocks by machine code, for the rules and layouts that it has. */
final class MachineBlocks {
  /** Elements of 32 bits that the code writes after scales and factors. */
  static final int SLACK = 8;

  private static final int GROUP = 32;
  private static final int TRIED = 11 * GROUP;

  /** The garbage collector waits for the end of a call with arrays. */
  private static final int MOST_ELEMENTS = 1 << 17;

  private static final ConcurrentHashMap<CodeFormat, MemorySegment[]> MADE =
      new ConcurrentHashMap<>();

  /** Loaded when the first code is called. */
  private static final class OfArrays {
    static final MethodHandle HANDLE = handle();
  }

  private final MemorySegment code;
  private float[] factors = {};

  /** Arrays of the last call, with segments of them. */
  private final Object[] arrays = new Object[4];

  private final MemorySegment[] segments = new MemorySegment[4];

  private MachineBlocks(MemorySegment code) {
    this.code = code;
  }

  @SuppressWarnings("restricted")
  private static MethodHandle handle() {
    return Linker.nativeLinker()
        .downcallHandle(
            FunctionDescriptor.of(
                JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, ADDRESS),
            Linker.Option.critical(true));
  }

  /** For one thread; null where there is no machine code for a rule. */
  static MachineBlocks of(CodeFormat format, CodeRule rule) {
    CodeLayout layout = format.layout();
    boolean has = layout == CodeLayout.Q8_0 || layout == CodeLayout.APART;
    if (!has
        || format.float8() != null
        || rule.rounding() != CodeRounding.EVEN
        || rule.factor() == CodeFactor.DIVISION
        || rule.floor() != ScaleFloor.NONE) {
      return null;
    }
    CodeFormat tried = new CodeFormat(layout, GROUP, null, false);
    MemorySegment[] made = MADE.computeIfAbsent(tried, MachineBlocks::make);
    MemorySegment code = made[rule.factor() == CodeFactor.INVERSE ? 1 : 0];
    return code == null ? null : new MachineBlocks(code);
  }

  private static MemorySegment[] make(CodeFormat format) {
    return new MemorySegment[] {make(format, CodeFactor.RATIO), make(format, CodeFactor.INVERSE)};
  }

  /** The code, if its bytes are right; null otherwise. */
  static MemorySegment make(CodeFormat format, CodeFactor factor) {
    String fault = "it gives other bytes than plain Java";
    try {
      boolean inverse = factor == CodeFactor.INVERSE;
      MemorySegment code = ExecutableMemory.of(BlockCode.of(format.layout(), inverse));
      CodeRule rule = new CodeRule(factor, CodeRounding.EVEN, ScaleFloor.NONE);
      boolean[] passes = new boolean[1];
      try (FloatingPointState state = new FloatingPointState()) {
        state.inContract(() -> passes[0] = passes(code, format, rule));
      }
      if (passes[0]) {
        return code;
      }
      ExecutableMemory.giveBack(code);
    } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
      fault = String.valueOf(e.getMessage());
    }
    System.getLogger("io.github.rmsnorm4j")
        .log(System.Logger.Level.WARNING, "machine code for {0} is not used: {1}", format, fault);
    return null;
  }

  /** Ties, subnormal numbers and numbers of all sizes; then a block that it has to refuse. */
  private static boolean passes(MemorySegment code, CodeFormat format, CodeRule rule) {
    float[] y = new float[TRIED];
    for (int i = 0; i < TRIED; i++) {
      float half = (i * 37 % 255 - 127) * 0.5f;
      y[i] = i % GROUP == 0 ? 127 : i % 5 == 0 ? half * 1.01f : half;
      y[i] *= i < TRIED / 2 ? 1 : 0x1p-20f * (i + 1);
    }
    y[1] = Float.MIN_VALUE;
    byte[] wanted = new byte[TRIED / GROUP * (GROUP + format.layout().more)];
    float[] scales = new float[TRIED / GROUP];
    new Encoder(format, rule, false).encode(y, TRIED, GROUP, 0, wanted, scales);
    byte[] codes = new byte[wanted.length];
    float[] given = new float[scales.length + SLACK];
    MachineBlocks blocks = new MachineBlocks(code);
    boolean same = blocks.encode(y, TRIED, GROUP, codes, given);
    same &= Arrays.equals(wanted, codes);
    boolean among = format.layout() != CodeLayout.APART;
    same &= among || Arrays.equals(scales, Arrays.copyOf(given, scales.length));
    for (float bad : new float[] {Float.NaN, Float.NEGATIVE_INFINITY, 0}) {
      Arrays.fill(y, TRIED - GROUP, TRIED, 0);
      y[TRIED - 1] = bad;
      same &= !blocks.encode(y, TRIED, GROUP, codes, given);
    }
    return same;
  }

  /**
   * Encodes the first n elements, which are whole blocks.
   *
   * @param scales has room for {@link #SLACK} more
   * @return false if it does not serve them: no code is written
   */
  boolean encode(float[] y, int n, int block, byte[] codes, float[] scales) {
    int blocks = n / block;
    if (block % GROUP != 0 || n > MOST_ELEMENTS) {
      return false;
    }
    if (factors.length < blocks + SLACK) {
      factors = new float[blocks + SLACK];
    }
    try {
      return 1
          == (long)
              OfArrays.HANDLE.invokeExact(
                  code,
                  (long) blocks,
                  (long) (block / GROUP),
                  segment(0, y),
                  segment(1, factors),
                  segment(2, scales),
                  segment(3, codes));
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  private MemorySegment segment(int i, Object array) {
    if (arrays[i] != array) {
      arrays[i] = array;
      segments[i] =
          array instanceof float[] floats
              ? MemorySegment.ofArray(floats)
              : MemorySegment.ofArray((byte[]) array);
    }
    return segments[i];
  }
}
