package io.github.rmsnorm4j.internal.quantized;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.internal.machine.Downcall;
import io.github.rmsnorm4j.internal.machine.ExecutableMemory;
import io.github.rmsnorm4j.internal.machine.FloatingPointState;
import io.github.rmsnorm4j.internal.machine.Shortage;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Codes of blocks by machine code, for the rules and layouts that it has. */
final class MachineBlocks {
  /** Scales that the code may write after those of the blocks. */
  static final int SLACK = 16;

  /** Of blocks of zeros. */
  private static final float[] ODD = {
    0, Float.NaN, Float.NEGATIVE_INFINITY, Float.MIN_VALUE, 0x1.7p-61f
  };

  private static final int TRIED = 36 * 2 * BlockCode.GROUP;

  /** The garbage collector waits for the end of a call with arrays. */
  private static final int MOST_ELEMENTS = 1 << 17;

  /** What a function is made for. */
  private record Kind(CodeFormat format, CodeRule rule, int bits) {}

  private static final ConcurrentHashMap<Kind, Optional<MemorySegment>> MADE =
      new ConcurrentHashMap<>();

  private static final Downcall ARRAYS =
      new Downcall(true, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG);

  /** Loaded when the first code is called. */
  private static final class OfArrays {
    static final MethodHandle HANDLE = ARRAYS.handle();
  }

  private final Kind kind;
  private final MemorySegment code;

  /** For blocks that 512 bits do not serve, when there have been any. */
  private @Nullable MachineBlocks narrow;

  private MachineBlocks(Kind kind, MemorySegment code) {
    this.kind = kind;
    this.code = code;
  }

  /**
   * For one thread; null where there is no machine code for a rule, or no memory for it at the
   * moment: then it may be there a second later.
   *
   * @param bits of a vector
   */
  static @Nullable MachineBlocks of(CodeFormat format, CodeRule rule, int bits) {
    if (!serves(format, rule, BlockCode.GROUP)) {
      return null;
    }
    Kind kind = kind(format, rule, bits);
    MemorySegment code = code(kind);
    return code == null ? null : new MachineBlocks(kind, code);
  }

  /** Whether there is nothing to make for a rule, or not any more. */
  static boolean isMade(CodeFormat format, CodeRule rule, int bits) {
    return !serves(format, rule, BlockCode.GROUP) || MADE.containsKey(kind(format, rule, bits));
  }

  private static Kind kind(CodeFormat format, CodeRule rule, int bits) {
    // Code for 512 bits does 64 elements at a time: two blocks of 32, or a part of a longer one.
    int block = bits == 512 && format.block() != BlockCode.GROUP ? 64 : BlockCode.GROUP;
    CodeFormat made = new CodeFormat(format.layout(), block, format.float8(), false);
    return new Kind(made, rule, bits);
  }

  /** The code of a kind; null if there is none, or no memory for it at the moment. */
  private static @Nullable MemorySegment code(Kind kind) {
    Optional<MemorySegment> made = MADE.get(kind);
    if (made == null && !Shortage.lasts()) {
      try {
        // Not in the lock of the map, where a thread that gets no memory leaves others waiting.
        made = kept(kind, Optional.ofNullable(make(kind.format, kind.rule, kind.bits)));
      } catch (OutOfMemoryError e) {
        Shortage.note(e);
      }
    }
    return made == null ? null : made.orElse(null);
  }

  private static Optional<MemorySegment> kept(Kind kind, Optional<MemorySegment> made) {
    Optional<MemorySegment> first = MADE.putIfAbsent(kind, made);
    if (first == null) {
      return made;
    }
    made.ifPresent(ExecutableMemory::giveBack);
    return first;
  }

  /** Whether there is machine code for a rule, and blocks of some size. */
  static boolean serves(CodeFormat format, CodeRule rule, int block) {
    boolean layout = format.layout() == CodeLayout.Q8_0 || format.layout() == CodeLayout.APART;
    boolean int8 = rule.rounding() == CodeRounding.EVEN && rule.factor() != CodeFactor.DIVISION;
    return layout
        && !format.given()
        && (int8 || format.float8() != null)
        && block % BlockCode.GROUP == 0;
  }

  /**
   * The code, if its bytes are right; null otherwise.
   *
   * @throws OutOfMemoryError if there is no memory for it
   */
  static @Nullable MemorySegment make(CodeFormat format, CodeRule rule, int bits) {
    String fault = "it gives other bytes than plain Java";
    MemorySegment code = null;
    boolean[] passes = new boolean[1];
    try (FloatingPointState state = new FloatingPointState()) {
      code = ExecutableMemory.of(BlockCode.of(format, rule, bits));
      MachineBlocks blocks = new MachineBlocks(new Kind(format, rule, bits), code);
      state.inContract(() -> passes[0] = blocks.pass());
    } catch (RuntimeException | LinkageError e) {
      Shortage.requireNone(e);
      fault = String.valueOf(e.getMessage());
    } finally {
      if (code != null && !passes[0]) {
        ExecutableMemory.giveBack(code);
      }
    }
    if (passes[0]) {
      return code;
    }
    System.getLogger("io.github.rmsnorm4j")
        .log(System.Logger.Level.WARNING, "machine code for {0} is not used: {1}", format, fault);
    return null;
  }

  /**
   * Ties, numbers of all sizes, subnormal ones among them, and blocks that have no codes: with
   * zeros alone, with a NaN and with an infinity.
   */
  private boolean pass() {
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
    boolean done = encode(from, TRIED, block, into, 0, intoScales);
    boolean among = format.layout() != CodeLayout.APART;
    return done
        && Arrays.equals(wanted, codes)
        && (among || Arrays.equals(wantedScales, Arrays.copyOf(scales, blocks)));
  }

  /**
   * Encodes the first n elements, which are whole blocks, and may change them. Nobody can close the
   * memory of the codes meanwhile, as it is an argument of a native call.
   *
   * @param y native memory or an array, like the codes
   * @param offset of the codes in it, in bytes
   * @param scales has room for {@link #SLACK} more
   * @return whether it serves them; if not, nothing is done
   */
  boolean encode(
      MemorySegment y, int n, int block, MemorySegment codes, long offset, MemorySegment scales) {
    if (!serves(n, block)) {
      MachineBlocks other = narrow(n, block);
      return other != null && other.encode(y, n, block, codes, offset, scales);
    }
    ARRAYS.make();
    try {
      long groups = block / BlockCode.GROUP;
      // It returns nothing.
      long unused =
          (long)
              OfArrays.HANDLE.invokeExact(
                  code, (long) (n / block), groups, y, codes, scales, offset);
      return true;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  private boolean serves(int n, int block) {
    int of = kind.bits / Byte.SIZE;
    boolean alike = kind.format.block() < of ? block == kind.format.block() : block % of == 0;
    return alike && n % of == 0 && n <= MOST_ELEMENTS;
  }

  /** For vectors of 256 bits, where these serve blocks; null otherwise. */
  private @Nullable MachineBlocks narrow(int n, int block) {
    if (kind.bits == 256 || n > MOST_ELEMENTS || block % BlockCode.GROUP != 0) {
      return null;
    }
    if (narrow == null) {
      narrow = of(kind.format, kind.rule, 256);
    }
    return narrow;
  }
}
