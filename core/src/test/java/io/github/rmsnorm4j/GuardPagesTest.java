package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Rows that end, and rows that begin, where memory does, in a JVM of its own: a kernel that touches
 * anything else ends it.
 */
@Timeout(180)
class GuardPagesTest {
  private static final List<Integer> WIDE =
      List.of(
          1000, 1023, 1024, 1025, 1055, 2048, 4095, 4096, 4097, 65_535, 65_536, 65_537, 131_103,
          200_000);

  @Test
  @EnabledOnOs(OS.LINUX)
  void noKernelLeavesItsRows(@TempDir Path folder) throws Exception {
    List<String> flags =
        ChildJvm.flags("-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=" + folder.resolve("crash"));
    String output = ChildJvm.output(flags, Guarded.class);
    assertThat(output).contains("calls between guard pages");
    assertThat(output.contains("machine code,")).isEqualTo(!Backends.machineCode().isEmpty());
  }

  /** Calls on such rows. */
  static final class Guarded {
    private static final SplittableRandom RANDOM = new SplittableRandom(5);
    private static final List<ElementType> TYPES = List.of(FLOAT32, BFLOAT16, FLOAT16);

    private Guarded() {}

    public static void main(String[] args) {
      List<Backend> backends = backends();
      int calls = 0;
      try (GuardedMemory x = new GuardedMemory(1 << 20);
          GuardedMemory y = new GuardedMemory(1 << 20);
          GuardedMemory residual = new GuardedMemory(1 << 20)) {
        for (int width : widths()) {
          for (Backend backend : backends) {
            for (boolean atEnd : new boolean[] {false, true}) {
              Call call = new Call(width, atEnd, backend);
              call.check(x, y, residual);
              calls++;
            }
          }
        }
      }
      System.out.println(calls + " calls between guard pages on " + backends);
    }

    private static List<Integer> widths() {
      List<Integer> widths = new ArrayList<>();
      for (int width = 1; width <= 300; width++) {
        widths.add(width);
      }
      widths.addAll(WIDE);
      return widths;
    }

    private static List<Backend> backends() {
      List<Backend> backends = new ArrayList<>(List.of(Backend.best()));
      for (int bits : new int[] {256, 512}) {
        try {
          backends.add(Backend.machineCode(bits));
        } catch (UnsupportedOperationException e) {
          System.out.println(e.getMessage());
        }
      }
      return backends;
    }

    /** Everything but width, place and backend is drawn. */
    private static final class Call {
      private final int width;
      private final int rows;
      private final long stride;
      private final boolean atEnd;
      private final ElementType type = TYPES.get(RANDOM.nextInt(TYPES.size()));
      private final ElementType to =
          RANDOM.nextInt(4) > 0 ? type : TYPES.get(RANDOM.nextInt(TYPES.size()));
      private final boolean adds = RANDOM.nextBoolean();
      private final boolean inPlace = to == type && RANDOM.nextInt(4) == 0;
      private final Norm norm;
      private final Norm plain;

      Call(int width, boolean atEnd, Backend backend) {
        this.width = width;
        this.atEnd = atEnd;
        rows = width > 5000 ? 1 : 1 + RANDOM.nextInt(19);
        stride = width + (RANDOM.nextInt(3) == 0 ? RANDOM.nextInt(40) : 0);
        boolean centred = RANDOM.nextBoolean();
        float[] gain = floats(width);
        float[] bias = floats(width);
        norm = norm(centred, width, gain, bias, backend);
        plain = norm(centred, width, gain, bias, Backend.scalar());
      }

      private static float[] floats(int n) {
        float[] floats = new float[n];
        for (int i = 0; i < n; i++) {
          floats[i] = (float) RANDOM.nextDouble(-2, 2);
        }
        return floats;
      }

      private static Norm norm(
          boolean centred, int width, float[] gain, float[] bias, Backend backend) {
        return centred
            ? LayerNorm.builder(width).gain(gain).bias(bias).threads(1).backend(backend).build()
            : RmsNorm.builder(width).gain(gain).bias(bias).threads(1).backend(backend).build();
      }

      private long bytes(ElementType type) {
        return ((rows - 1) * stride + width) * type.bytes();
      }

      private Rows rows(MemorySegment segment, ElementType type) {
        return Rows.of(segment, type, rows, width, stride);
      }

      void check(GuardedMemory x, GuardedMemory y, GuardedMemory residual) {
        MemorySegment in = filled(x.bytes(bytes(type), atEnd), type);
        MemorySegment out = inPlace ? in : y.bytes(bytes(to), atEnd);
        MemorySegment sum = adds ? filled(residual.bytes(bytes(type), atEnd), type) : null;
        try (Arena arena = Arena.ofConfined()) {
          MemorySegment plainIn = GuardedMemory.copy(in, arena.allocate(in.byteSize()));
          MemorySegment wanted =
              inPlace ? plainIn : GuardedMemory.copy(out, arena.allocate(out.byteSize()));
          MemorySegment wantedSum =
              adds ? GuardedMemory.copy(sum, arena.allocate(sum.byteSize())) : null;
          run(plain, plainIn, wantedSum, wanted);
          run(norm, in, sum, out);
          if (!same(out, wanted, to) || adds && !same(sum, wantedSum, type)) {
            throw new AssertionError(
                "%s on %s: %d rows %d apart, %s to %s, residual %s, in place %s"
                    .formatted(norm, norm.backend(), rows, stride, type, to, adds, inPlace));
          }
        }
      }

      /** The same bits, but that NaN of float32 may be any. */
      private static boolean same(MemorySegment a, MemorySegment b, ElementType type) {
        if (type != FLOAT32) {
          return a.mismatch(b) < 0;
        }
        for (long i = 0; i < a.byteSize() / Float.BYTES; i++) {
          float x = a.getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i);
          float y = b.getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i);
          if (Float.floatToIntBits(x) != Float.floatToIntBits(y)) {
            return false;
          }
        }
        return true;
      }

      private void run(Norm norm, MemorySegment x, MemorySegment residual, MemorySegment y) {
        if (adds) {
          norm.addAndApply(rows(x, type), rows(residual, type), rows(y, to));
        } else {
          norm.apply(rows(x, type), rows(y, to));
        }
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

      /** Of all kinds: a few are subnormal, a few 0, and in some calls one is NaN or infinite. */
      private MemorySegment filled(MemorySegment segment, ElementType type) {
        int special = RANDOM.nextInt(6) == 0 ? RANDOM.nextInt(width) : -1;
        long n = segment.byteSize() / type.bytes();
        for (long i = 0; i < n; i++) {
          int pattern = Float.floatToRawIntBits((float) RANDOM.nextDouble(-4, 4));
          pattern &= RANDOM.nextInt(30) == 0 ? 0x807f_ffff : -1;
          pattern = i == special ? RANDOM.nextInt() | 0x7f80_0000 : pattern;
          if (type == FLOAT32) {
            segment.setAtIndex(ValueLayout.JAVA_INT_UNALIGNED, i, pattern);
          } else {
            segment.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i, narrow(pattern, type));
          }
        }
        return segment;
      }
    }
  }
}
