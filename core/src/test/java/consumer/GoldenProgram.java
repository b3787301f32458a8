package consumer;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

/**
 * A program outside of the library, which uses what users may use. It prints checksums of results:
 * one line for each norm, type and width. The rehearsal of a release compiles it against the
 * published jar, on the class path and on the module path.
 */
public final class GoldenProgram {
  private static final int ROWS = 5;
  private static final int[] WIDTHS = {1, 31, 64, 1000, 4096};

  private GoldenProgram() {}

  public static void main(String[] args) {
    lines().forEach(System.out::println);
  }

  static List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (ElementType type : ElementType.values()) {
      for (int width : WIDTHS) {
        double[] gain = new double[width];
        for (int i = 0; i < width; i++) {
          gain[i] = 1 + 0x1p-7 * (i % 11 - 5);
        }
        Norm rms = RmsNorm.builder(width).epsilon(1e-6).gain(gain).build();
        Norm layer = LayerNorm.builder(width).epsilon(1e-5).gain(gain).bias(gain).build();
        lines.add("RMSNorm %s %s %s".formatted(type.shortName(), width, checksum(rms, type)));
        lines.add("LayerNorm %s %s %s".formatted(type.shortName(), width, checksum(layer, type)));
      }
    }
    return lines;
  }

  /** Of y, the residual, dx and, for other types than float64, dgain. */
  private static String checksum(Norm norm, ElementType type) {
    int width = norm.width();
    CRC32 crc = new CRC32();
    try (Arena arena = Arena.ofConfined()) {
      Rows x = rows(arena, type, width, 1);
      Rows residual = rows(arena, type, width, 2);
      Rows dy = rows(arena, type, width, 3);
      Rows y = rows(arena, type, width, 4);
      Saved saved = new Saved(Keep.INPUT, ROWS);
      norm.addAndApply(x, residual, y, saved);
      add(crc, y);
      add(crc, residual);
      if (type == ElementType.FLOAT64) {
        norm.backward(dy, saved, y, null);
      } else {
        float[] dgain = new float[width];
        norm.backward(dy, saved, y, ParameterGradients.assigned(dgain, null));
        add(crc, Rows.of(dgain, width));
      }
      add(crc, y);
    }
    return "%08x".formatted(crc.getValue());
  }

  /** Rows of numbers from -2 to 2, which 8 bits of a significand hold. */
  private static Rows rows(Arena arena, ElementType type, int width, int seed) {
    MemorySegment memory = arena.allocate((long) ROWS * width * type.bytes(), 64);
    int state = seed;
    for (long i = 0; i < (long) ROWS * width; i++) {
      state = state * 1664525 + 1013904223;
      float number = (state >> 24) * 0x1p-6f;
      switch (type) {
        case FLOAT32 -> memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, number);
        case FLOAT64 -> memory.setAtIndex(ValueLayout.JAVA_DOUBLE, i, number);
        case FLOAT16 -> memory.setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16(number));
        case BFLOAT16 ->
            memory.setAtIndex(
                ValueLayout.JAVA_SHORT, i, (short) (Float.floatToRawIntBits(number) >> 16));
      }
    }
    return Rows.of(memory, type, ROWS, width);
  }

  private static void add(CRC32 crc, Rows rows) {
    crc.update(rows.segment().toArray(ValueLayout.JAVA_BYTE));
  }
}
