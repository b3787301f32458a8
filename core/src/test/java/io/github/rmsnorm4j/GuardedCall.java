package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.ElementType.FLOAT64;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;

/** A call on rows between guard pages. Everything but width, place and backend is drawn. */
abstract class GuardedCall {
  private static final List<ElementType> TYPES = List.of(FLOAT32, BFLOAT16, FLOAT16);

  /** So many kinds of calls: each that is new takes long, for its kernels have to be made. */
  private static final int KINDS = 45;

  final SplittableRandom random;

  /** What kernels depend on is drawn from it. */
  final SplittableRandom kind;

  final int width;
  final int rows;
  final Norm norm;

  /** The same norm in plain Java. */
  final Norm plain;

  /** Elements of the statistic. */
  final int part;

  final Gate gate;

  /** Elements of a gain and a bias: of a row, of a group, or of the rows of all samples. */
  final int parameters;

  /** Whether gain and bias are arguments of a call: a row of each for every sample. */
  final boolean ofCall;

  private final Quantizer rule;
  private final int samples;
  private final int groups;
  private final boolean float64;
  private final boolean centred;
  private final EpsilonPlacement placement;
  private final long stride;

  /** Whether rows end where memory ends; otherwise they begin where it begins. */
  private final boolean atEnd;

  private final ElementType ofParameters;
  private final float[] gain;
  private final float[] bias;

  /**
   * Draws a call.
   *
   * @param sometimes whether there is only sometimes a gain, and only sometimes a bias
   * @param quantised whether the output is, so that there are neither gates nor groups, and gain
   *     and bias are the norm's
   */
  GuardedCall(
      SplittableRandom random,
      int width,
      boolean atEnd,
      Backend backend,
      boolean sometimes,
      boolean quantised) {
    this.random = random;
    kind = new SplittableRandom(random.nextInt(KINDS));
    this.width = width;
    this.atEnd = atEnd;
    rows = width > 5000 ? 1 : 1 + random.nextInt(19);
    stride = width + (random.nextInt(3) == 0 ? random.nextInt(40) : 0);
    float64 = kind.nextInt(4) == 0;
    centred = kind.nextBoolean();
    part = !centred && kind.nextInt(3) == 0 ? 1 + random.nextInt(width) : width;
    placement = EpsilonPlacement.values()[kind.nextInt(3)];
    Gate drawn = quantised || kind.nextInt(4) > 0 ? Gate.NONE : Gate.values()[1 + kind.nextInt(3)];
    gate = centred && drawn == Gate.SILU_BEFORE ? Gate.SIGMOID : drawn;
    boolean mayHaveGroups = !quantised && part == width && kind.nextBoolean();
    int divisor = random.nextInt(2, 6);
    groups = mayHaveGroups && width % divisor == 0 ? divisor : 1;
    boolean shared = groups > 1 && kind.nextBoolean();
    ofCall = !quantised && groups == 1 && gate == Gate.NONE && kind.nextBoolean();
    boolean hasGain = !sometimes || kind.nextBoolean();
    boolean hasBias = !sometimes || kind.nextBoolean();
    samples = ofCall && (hasGain || hasBias) && rows % divisor == 0 ? divisor : 1;
    parameters = shared ? width / groups : samples * width;
    ofParameters = type();
    rule = quantised && kind.nextBoolean() ? Quantizer.vllm() : Quantizer.defaults();
    gain = hasGain ? floats() : null;
    bias = hasBias ? floats() : null;
    norm = norm(backend);
    plain = norm(Backend.scalar());
  }

  private float[] floats() {
    float[] floats = new float[parameters];
    for (int i = 0; i < parameters; i++) {
      floats[i] = random.nextInt(-31, 32) / 16f + 1 / 32f; // A number of every type.
    }
    return floats;
  }

  private Norm norm(Backend backend) {
    return centred
        ? configured(LayerNorm.builder(width), backend).build()
        : configured(RmsNorm.builder(width).part(part), backend).build();
  }

  private <B extends NormBuilder<B>> B configured(B builder, Backend backend) {
    if (gain != null && !ofCall) {
      builder.gain(gain);
    }
    if (bias != null && !ofCall) {
      builder.bias(bias);
    }
    builder.gate(gate).groupCount(groups).quantizer(rule);
    return builder.epsilonPlacement(placement).threads(1).backend(backend);
  }

  /** The gain that a call takes, or null. */
  final Rows gain(GuardedMemories memories) {
    return ofCall ? parameter(memories.gain(), gain) : null;
  }

  /** The bias that a call takes, or null. */
  final Rows bias(GuardedMemories memories) {
    return ofCall ? parameter(memories.bias(), bias) : null;
  }

  private Rows parameter(GuardedMemory memory, float[] values) {
    if (values == null) {
      return null;
    }
    MemorySegment segment = memory.bytes((long) values.length * ofParameters.bytes(), atEnd);
    for (int i = 0; i < values.length; i++) {
      ofParameters.set(segment, i, values[i]);
    }
    return Rows.of(segment, ofParameters, samples, width);
  }

  final ElementType type() {
    return float64 ? FLOAT64 : TYPES.get(kind.nextInt(TYPES.size()));
  }

  final Rows rows(MemorySegment segment, ElementType type) {
    return Rows.of(segment, type, rows, width, stride);
  }

  /** Room for rows of a type. */
  final MemorySegment room(GuardedMemory memory, ElementType type) {
    return bytes(memory, bytes(type));
  }

  /** Room for so many bytes. */
  final MemorySegment bytes(GuardedMemory memory, long bytes) {
    return memory.bytes(bytes, atEnd);
  }

  /** Room for rows of a type in memory without guards. */
  final MemorySegment room(Arena arena, ElementType type) {
    return arena.allocate(bytes(type));
  }

  private long bytes(ElementType type) {
    return ((rows - 1) * stride + width) * type.bytes();
  }

  /** A copy in memory without guards. */
  static MemorySegment copy(MemorySegment segment, Arena arena) {
    return GuardedMemory.copy(segment, arena.allocate(segment.byteSize()));
  }

  /** Of all kinds: a few are subnormal, a few 0, and in some calls one is NaN or infinite. */
  final MemorySegment filled(GuardedMemory memory, ElementType type) {
    MemorySegment segment = room(memory, type);
    int special = random.nextInt(6) == 0 ? random.nextInt(width) : -1;
    long n = segment.byteSize() / type.bytes();
    for (long i = 0; i < n; i++) {
      int pattern = Float.floatToRawIntBits((float) random.nextDouble(-4, 4));
      pattern &= random.nextInt(30) == 0 ? 0x807f_ffff : -1;
      pattern = i == special ? random.nextInt() | 0x7f80_0000 : pattern;
      if (type == FLOAT64) {
        boolean subnormal = (pattern & 0x7f80_0000) == 0;
        double number = Float.intBitsToFloat(pattern) * (subnormal ? 0x1p-896 : 1 / 3.0);
        segment.setAtIndex(ValueLayout.JAVA_DOUBLE_UNALIGNED, i, number);
      } else if (type == FLOAT32) {
        segment.setAtIndex(ValueLayout.JAVA_INT_UNALIGNED, i, pattern);
      } else {
        segment.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i, narrow(pattern, type));
      }
    }
    return segment;
  }

  /** A subnormal float32 becomes a subnormal float16. */
  private static short narrow(int pattern, ElementType type) {
    if (type == BFLOAT16) {
      return (short) (pattern >>> 16);
    }
    boolean subnormal = (pattern & 0x7f80_0000) == 0;
    return subnormal
        ? (short) (pattern >>> 13 & 0x3ff)
        : Float.floatToFloat16(Float.intBitsToFloat(pattern));
  }

  /** Requires the same bits, but that NaN of float32 and float64 may be any. */
  final void requireSame(MemorySegment actual, MemorySegment expected, ElementType type) {
    require(same(actual, expected, type));
  }

  final void require(boolean holds) {
    if (!holds) {
      throw new AssertionError(
          "%s on %s, epsilon %s, part %d: %d rows %d apart, %d samples, %s"
              .formatted(norm, norm.backend(), placement, part, rows, stride, samples, this));
    }
  }

  private static boolean same(MemorySegment a, MemorySegment b, ElementType type) {
    if (type.bytes() == Short.BYTES) {
      return a.mismatch(b) < 0;
    }
    for (long i = 0; i < a.byteSize() / type.bytes(); i++) {
      if (Double.compare(type.get(a, i), type.get(b, i)) != 0) {
        return false;
      }
    }
    return true;
  }
}
