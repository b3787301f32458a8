package io.github.rmsnorm4j;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.zip.CRC32;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every machine gives the bits of rows with groups and of samples, forward and backward, in {@code
 * golden/parts.txt}, on the backends in turn.
 */
class GoldenPartsTest {
  private static final int[] WIDTHS = {33, 1025};
  private static final int GROUPS = 3;
  private static final int SAMPLES = 4;

  /** More than one block of rows of a group. */
  private static final int ROWS = 40;

  @ParameterizedTest
  @MethodSource("io.github.rmsnorm4j.Golden#backends")
  void groupsAndSamples(Backend backend) throws IOException {
    NormSpec gated = NormSpec.RMSNORM.withGate(Gate.SILU_BEFORE);
    Golden.Lines lines = new Golden.Lines(backend);
    for (ElementType type : ElementType.values()) {
      lines.add(type, () -> line("gain of the row", NormSpec.RMSNORM, type, GROUPS, backend));
      lines.add(type, () -> line("gain of a group", NormSpec.LAYERNORM, type, 1, backend));
      lines.add(type, () -> line("gain of the row", gated, type, GROUPS, backend));
      lines.add(
          type,
          () -> line("samples", NormSpec.LAYERNORM.withGainOffset(1), type, SAMPLES, backend));
    }
    lines.check("parts.txt");
  }

  /** A call whose gain and bias have so many parts. */
  private static String line(
      String name, NormSpec spec, ElementType type, int parts, Backend backend) {
    CRC32 crc = new CRC32();
    for (int width : WIDTHS) {
      try (Arena arena = Arena.ofConfined()) {
        new Calls(arena, type, width, name.equals("samples") ? 1 : GROUPS)
            .add(crc, spec, parts, backend);
      }
    }
    return "%s %s %s %08x".formatted(spec, name, type.shortName(), crc.getValue());
  }

  /** The rows of a forward and a backward call. */
  private static final class Calls {
    private final Golden.Source source;
    private final Arena arena;
    private final ElementType type;
    private final int groupWidth;
    private final int groups;
    private final Block x;
    private final Block z;
    private final Block dy;
    private final Block y;
    private final Block dx;
    private final Block dz;

    Calls(Arena arena, ElementType type, int groupWidth, int groups) {
      this.arena = arena;
      this.type = type;
      this.groupWidth = groupWidth;
      this.groups = groups;
      source = new Golden.Source(groupWidth * 8L + type.ordinal());
      x = block();
      z = block();
      dy = block();
      for (int r = 0; r < ROWS; r++) {
        x.put(r, kinds(r));
        z.put(r, source.row(type, groups * groupWidth, 6, 0));
        dy.put(r, source.row(type, groups * groupWidth, 1, 0));
      }
      y = block();
      dx = block();
      dz = block();
    }

    private Block block() {
      int width = groups * groupWidth;
      return new Block(arena, Place.NATIVE, type, ROWS, width, width);
    }

    /** A row whose groups have other characters. */
    private double[] kinds(int row) {
      double[] all = new double[groups * groupWidth];
      for (int g = 0; g < groups; g++) {
        double[] group = source.row((row + g) % Golden.KINDS, type, groupWidth);
        System.arraycopy(group, 0, all, g * groupWidth, groupWidth);
      }
      return all;
    }

    void add(CRC32 crc, NormSpec spec, int parts, Backend backend) {
      int n = parts * groupWidth;
      double[] gain = source.row(ElementType.FLOAT32, n, 0.5, 1.25);
      double[] bias = source.row(ElementType.FLOAT32, n, 1, 0);
      NormBuilder<?> builder = spec.builder(groups * groupWidth).groupCount(groups);
      boolean samples = parts > 1 && groups == 1;
      if (!samples) {
        builder.gain(gain).bias(bias);
      }
      Norm norm = builder.backend(backend).threads(1).build();
      Saved saved = new Saved(Keep.INPUT, ROWS * groups);
      double[] dgain = new double[n];
      double[] dbias = new double[n];
      ParameterGradients gradients = ParameterGradients.assigned(dgain, dbias);
      if (spec.gate() != Gate.NONE) {
        norm.applyGated(x.rows, z.rows, y.rows, saved);
        norm.backwardGated(dy.rows, saved, dx.rows, dz.rows, gradients);
        Golden.add(crc, dz);
      } else if (samples) {
        Rows g = Rows.of(gain, groupWidth);
        norm.withParameters(g, Rows.of(bias, groupWidth)).apply(x.rows, y.rows, saved);
        norm.backward(dy.rows, saved, dx.rows, gradients);
      } else {
        norm.apply(x.rows, y.rows, saved);
        norm.backward(dy.rows, saved, dx.rows, gradients);
      }
      Golden.add(crc, y);
      Golden.add(crc, dx);
      Golden.add(crc, dgain);
      Golden.add(crc, dbias);
    }
  }
}
