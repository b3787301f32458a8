package io.github.rmsnorm4j;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.zip.CRC32;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every machine gives the bits of every gate, forward and backward, in {@code golden/gates.txt}, on
 * the backends in turn.
 */
class GoldenGatesTest {
  private static final int[] WIDTHS = {33, 100, 1025};
  private static final int ROWS = 40;

  /** Standard deviations of gates: about 0, and over the range of the exponential. */
  private static final double[] SIZES = {1, 6, 60, 500};

  @ParameterizedTest
  @MethodSource("io.github.rmsnorm4j.Golden#backends")
  void everyGate(Backend backend) throws IOException {
    Golden.Lines lines = new Golden.Lines(backend);
    for (ElementType type : ElementType.values()) {
      for (Gate gate : List.of(Gate.SILU, Gate.SIGMOID, Gate.SILU_BEFORE)) {
        lines.add(type, () -> line(NormSpec.LLAMA.withGate(gate), type, false, backend));
        lines.add(type, () -> line(NormSpec.RMSNORM.withGate(gate), type, true, backend));
      }
      lines.add(type, () -> line(NormSpec.LAYERNORM.withGate(Gate.SILU), type, true, backend));
    }
    lines.check("gates.txt");
  }

  private static String line(NormSpec spec, ElementType type, boolean biased, Backend backend) {
    CRC32 crc = new CRC32();
    for (int width : WIDTHS) {
      Golden.Source source = new Golden.Source(width * 8L + type.ordinal());
      double[] gain = source.row(ElementType.FLOAT32, width, 0.5, 1.25);
      double[] bias = source.row(ElementType.FLOAT32, width, 1, 0);
      NormBuilder<?> builder = spec.builder(width).backend(backend).threads(1).gain(gain);
      Norm norm = biased ? builder.bias(bias).build() : builder.build();
      double[] dgain = new double[width];
      double[] dbias = new double[width];
      try (Arena arena = Arena.ofConfined()) {
        Block x = block(arena, type, width);
        Block z = block(arena, type, width);
        Block dy = block(arena, type, width);
        for (int r = 0; r < ROWS; r++) {
          x.put(r, source.row(r % Golden.KINDS, type, width));
          z.put(r, source.row(type, width, SIZES[r % SIZES.length], 0));
          dy.put(r, source.row(type, width, 1, 0));
        }
        Block y = block(arena, type, width);
        Block dx = block(arena, type, width);
        Block dz = block(arena, type, width);
        Saved saved = new Saved(Keep.INPUT, ROWS);
        norm.applyGated(x.rows, z.rows, y.rows, saved);
        norm.backwardGated(
            dy.rows, saved, dx.rows, dz.rows, ParameterGradients.assigned(dgain, dbias));
        Golden.add(crc, y);
        Golden.add(crc, dx);
        Golden.add(crc, dz);
      }
      Golden.add(crc, dgain);
      Golden.add(crc, dbias);
    }
    return "%s %s %08x".formatted(spec, type.shortName(), crc.getValue());
  }

  private static Block block(Arena arena, ElementType type, int width) {
    return new Block(arena, Place.NATIVE, type, ROWS, width, width);
  }
}
