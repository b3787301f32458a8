package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A norm of rows with groups and a gate has the bits of gated norms of the single groups. */
class GatedGroupsTest {
  private static final int ROWS = 35;
  private static final int GROUPS = 3;
  private static final int[] WIDTHS = {31, 64, 1056};

  /** Rows of all groups in native memory, apart if they are strided. */
  private record Memory(MemorySegment segment, ElementType type, int width, int stride) {
    static Memory of(Arena arena, ElementType type, int width, boolean apart) {
      int stride = apart ? GROUPS * width + 5 : GROUPS * width;
      MemorySegment segment = arena.allocate((long) ROWS * stride * type.bytes(), 64);
      return new Memory(segment, type, width, stride);
    }

    Memory filled(SplittableRandom random, double size) {
      for (long i = 0; i < segment.byteSize() / type.bytes(); i++) {
        type.set(segment, i, size * random.nextGaussian());
      }
      return this;
    }

    Rows rows() {
      return Rows.of(segment, type, ROWS, GROUPS * width, stride);
    }

    Rows group(int group) {
      MemorySegment from = segment.asSlice((long) group * width * type.bytes());
      return Rows.of(from, type, ROWS, width, stride);
    }

    byte[] bytes() {
      return segment.toArray(ValueLayout.JAVA_BYTE);
    }
  }

  /** Output and gradients of a call. */
  private record Results(Memory y, Memory dx, Memory dz, float[] dgain) {}

  @ParameterizedTest
  @EnumSource(
      value = Gate.class,
      names = {"SILU", "SIGMOID", "SILU_BEFORE"})
  void haveTheBitsOfNormsOfTheirOwn(Gate gate) {
    for (ElementType type : ElementType.values()) {
      for (int w = 0; w < WIDTHS.length; w++) {
        // Any two of the four choices are together on each backend.
        int call = gate.ordinal() + type.ordinal() + w;
        check(gate, type, WIDTHS[w], false, call);
        check(gate, type, WIDTHS[w], true, call + 1);
      }
    }
  }

  private static void check(Gate gate, ElementType type, int width, boolean apart, int call) {
    SplittableRandom random = new SplittableRandom(width);
    try (Arena arena = Arena.ofShared()) {
      Memory x = Memory.of(arena, type, width, apart).filled(random, 1);
      Memory z = Memory.of(arena, type, width, apart).filled(random, 3);
      Memory dy = Memory.of(arena, type, width, apart).filled(random, 1);
      float[] gain = new float[GROUPS * width];
      for (int i = 0; i < gain.length; i++) {
        gain[i] = (float) random.nextDouble(0.5, 2);
      }
      NormSpec spec = NormSpec.LLAMA.withGate(gate);
      for (Backend backend : Backends.inTurn(Backends.EACH, call)) {
        Results wanted = empty(arena, type, width, apart);
        for (int g = 0; g < GROUPS; g++) {
          float[] part = Arrays.copyOfRange(gain, g * width, (g + 1) * width);
          float[] dgain = new float[width];
          Norm norm = spec.builder(width).gain(part).backend(backend).build();
          run(
              norm,
              List.of(x.group(g), z.group(g), dy.group(g)),
              List.of(wanted.y.group(g), wanted.dx.group(g), wanted.dz.group(g)),
              dgain);
          System.arraycopy(dgain, 0, wanted.dgain, g * width, width);
        }
        Results actual = empty(arena, type, width, apart);
        NormBuilder<?> builder = spec.builder(GROUPS * width).gain(gain).backend(backend);
        run(
            builder.groupCount(GROUPS).build(),
            List.of(x.rows(), z.rows(), dy.rows()),
            List.of(actual.y.rows(), actual.dx.rows(), actual.dz.rows()),
            actual.dgain);
        String what = "%s %s, %s groups of %s, %s".formatted(gate, type, GROUPS, width, backend);
        assertThat(actual.y.bytes()).as(what + ", y").isEqualTo(wanted.y.bytes());
        assertThat(actual.dx.bytes()).as(what + ", dx").isEqualTo(wanted.dx.bytes());
        assertThat(actual.dz.bytes()).as(what + ", dz").isEqualTo(wanted.dz.bytes());
        assertThat(actual.dgain).as(what + ", dgain").isEqualTo(wanted.dgain);
      }
    }
  }

  private static Results empty(Arena arena, ElementType type, int width, boolean apart) {
    return new Results(
        Memory.of(arena, type, width, apart),
        Memory.of(arena, type, width, apart),
        Memory.of(arena, type, width, apart),
        new float[GROUPS * width]);
  }

  private static void run(Norm norm, List<Rows> in, List<Rows> out, float[] dgain) {
    Saved saved = new Saved(Keep.INPUT, ROWS);
    norm.applyGated(in.get(0), in.get(1), out.get(0), saved);
    norm.backwardGated(
        in.get(2), saved, out.get(1), out.get(2), ParameterGradients.assigned(dgain, null));
  }
}
