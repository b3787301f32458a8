package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A gated call with gain and bias of the call has the bits of norms that own them. */
class GatedParametersTest {
  /** Rows of a call in native memory, and what it computes. */
  private static final class Results {
    private final ElementType type;
    private final int rows;
    private final int width;
    private final MemorySegment y;
    private final MemorySegment dx;
    private final MemorySegment dz;
    private final float[] dgain;
    private final float[] dbias;

    Results(Arena arena, ElementType type, int samples, int rows, int width) {
      this.type = type;
      this.rows = rows;
      this.width = width;
      long bytes = (long) samples * rows * width * type.bytes();
      y = arena.allocate(bytes, 64);
      dx = arena.allocate(bytes, 64);
      dz = arena.allocate(bytes, 64);
      dgain = new float[samples * width];
      dbias = new float[samples * width];
    }

    /** The rows of some samples. */
    Rows rows(MemorySegment all, int first, int n) {
      long ofSample = (long) rows * width * type.bytes();
      return Rows.of(all.asSlice(first * ofSample, n * ofSample), type, (long) n * rows, width);
    }

    /** Some samples; gain and bias are null where the norm has its own. */
    void run(Norm norm, MemorySegment[] in, Rows gain, Rows bias, int first, int n) {
      Saved saved = new Saved(Keep.INPUT, n * rows);
      norm.withParameters(gain, bias)
          .applyGated(rows(in[0], first, n), rows(in[1], first, n), rows(y, first, n), saved);
      float[] ofGain = new float[n * width];
      float[] ofBias = new float[n * width];
      norm.backwardGated(
          rows(in[2], first, n),
          saved,
          rows(dx, first, n),
          rows(dz, first, n),
          ParameterGradients.added(ofGain, ofBias));
      System.arraycopy(ofGain, 0, dgain, first * width, n * width);
      System.arraycopy(ofBias, 0, dbias, first * width, n * width);
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 37, 64", "1, 5, 300", "3, 12, 96", "4, 33, 31", "2, 2, 1056", "50, 1, 32"})
  void haveTheBitsOfNormsOfTheirOwn(int samples, int rows, int width) {
    SplittableRandom random = new SplittableRandom(width);
    float[] gain = floats(random, samples * width);
    float[] bias = floats(random, samples * width);
    for (Gate gate : new Gate[] {Gate.SILU, Gate.SIGMOID, Gate.SILU_BEFORE}) {
      for (ElementType type : ElementType.values()) {
        try (Arena arena = Arena.ofShared()) {
          MemorySegment[] in = new MemorySegment[3];
          for (int i = 0; i < in.length; i++) {
            in[i] = filled(arena, type, samples * rows * width, random);
          }
          boolean centred = gate.isAfter() && random.nextBoolean();
          NormSpec spec = (centred ? NormSpec.LAYERNORM : NormSpec.RMSNORM).withGate(gate);
          int call = samples + rows + gate.ordinal() + type.ordinal();
          for (Backend backend : Backends.inTurn(Backends.EACH, call)) {
            NormBuilder<?> builder = spec.builder(width).backend(backend);
            Results actual = new Results(arena, type, samples, rows, width);
            actual.run(builder.build(), in, Rows.of(gain, width), Rows.of(bias, width), 0, samples);
            MemorySegment alone = arena.allocate(actual.y.byteSize(), 64);
            builder
                .build()
                .withParameters(Rows.of(gain, width), Rows.of(bias, width))
                .applyGated(
                    actual.rows(in[0], 0, samples),
                    actual.rows(in[1], 0, samples),
                    actual.rows(alone, 0, samples));
            assertThat(bytes(alone)).isEqualTo(bytes(actual.y));
            Results wanted = new Results(arena, type, samples, rows, width);
            for (int s = 0; s < samples; s++) {
              Norm own = builder.gain(part(gain, s, width)).bias(part(bias, s, width)).build();
              wanted.run(own, in, null, null, s, 1);
            }
            requireSame(actual, wanted, spec + " " + type + " on " + backend);
          }
        }
      }
    }
  }

  private static float[] part(float[] all, int part, int width) {
    return Arrays.copyOfRange(all, part * width, (part + 1) * width);
  }

  private static float[] floats(SplittableRandom random, int n) {
    float[] floats = new float[n];
    for (int i = 0; i < n; i++) {
      floats[i] = (float) random.nextDouble(-2, 2);
    }
    return floats;
  }

  private static MemorySegment filled(
      Arena arena, ElementType type, int n, SplittableRandom random) {
    MemorySegment segment = arena.allocate((long) n * type.bytes(), 64);
    for (int i = 0; i < n; i++) {
      type.set(segment, i, 2 * random.nextGaussian());
    }
    return segment;
  }

  private static void requireSame(Results actual, Results wanted, String what) {
    assertThat(bytes(actual.y)).as(what + ", y").isEqualTo(bytes(wanted.y));
    assertThat(bytes(actual.dx)).as(what + ", dx").isEqualTo(bytes(wanted.dx));
    assertThat(bytes(actual.dz)).as(what + ", dz").isEqualTo(bytes(wanted.dz));
    assertThat(actual.dgain).as(what + ", dgain").isEqualTo(wanted.dgain);
    assertThat(actual.dbias).as(what + ", dbias").isEqualTo(wanted.dbias);
  }

  private static byte[] bytes(MemorySegment segment) {
    return segment.toArray(ValueLayout.JAVA_BYTE);
  }
}
