package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.FLOAT32;

import java.io.IOException;
import java.util.List;
import java.util.zip.CRC32;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every machine gives the bits that are kept in files of {@code golden}, on the backends in turn:
 * of plain calls, and of calls with gates, groups and samples, forward and backward.
 */
class GoldenBitsTest {
  private static final int[] WIDTHS = {
    1, 2, 3, 7, 31, 32, 33, 64, 100, 768, 1023, 1024, 1025, 4097, 65537
  };

  private static final int GROUPS = 3;
  private static final int SAMPLES = 4;

  /** More than one block of rows of a group. */
  private static final int ROWS = 40;

  /** Standard deviations of gates: about 0, and over the range of the exponential. */
  private static final double[] SIZES = {1, 6, 60, 500};

  @ParameterizedTest
  @MethodSource("io.github.rmsnorm4j.Golden#backends")
  void everyMachineGivesTheseBits(Backend backend) throws IOException {
    Golden.Lines lines = new Golden.Lines(backend);
    for (boolean centred : new boolean[] {false, true}) {
      for (ElementType type : ElementType.values()) {
        for (int width : WIDTHS) {
          lines.add(type, () -> plain(centred, type, width, backend));
        }
      }
    }
    lines.check("checksums.txt");
  }

  /** Of the patterns of two calls, one plain and one with gain, bias and a small epsilon. */
  private static String plain(boolean centred, ElementType type, int width, Backend backend) {
    CRC32 crc = new CRC32();
    try (GoldenRows rows = new GoldenRows(type, width > 1000 ? 2 : Golden.KINDS, 1, width)) {
      rows.kinds(true);
      double[] gain = rows.source.row(FLOAT32, width, 1, 1);
      double[] bias = rows.source.row(FLOAT32, width, 1, 0);
      NormSpec spec = centred ? NormSpec.LAYERNORM : NormSpec.RMSNORM;
      for (boolean plain : new boolean[] {true, false}) {
        NormBuilder<?> builder = spec.withEpsilon(plain ? 1e-5 : 1e-300).builder(width);
        if (!plain) {
          builder.gain(gain).bias(bias);
        }
        builder.backend(backend).threads(1).build().apply(rows.x.rows, rows.y.rows);
        rows.add(crc, "y");
      }
    }
    String name = centred ? "LayerNorm" : "RMSNorm";
    return "%s %s %d %08x".formatted(name, type.shortName(), width, crc.getValue());
  }

  @ParameterizedTest
  @MethodSource("io.github.rmsnorm4j.Golden#backends")
  void everyGate(Backend backend) throws IOException {
    Golden.Lines lines = new Golden.Lines(backend);
    for (ElementType type : ElementType.values()) {
      for (Gate gate : List.of(Gate.SILU, Gate.SIGMOID, Gate.SILU_BEFORE)) {
        lines.add(type, () -> gated(NormSpec.LLAMA.withGate(gate), type, false, backend));
        lines.add(type, () -> gated(NormSpec.RMSNORM.withGate(gate), type, true, backend));
      }
      lines.add(type, () -> gated(NormSpec.LAYERNORM.withGate(Gate.SILU), type, true, backend));
    }
    lines.check("gates.txt");
  }

  private static String gated(NormSpec spec, ElementType type, boolean biased, Backend backend) {
    CRC32 crc = new CRC32();
    for (int width : new int[] {33, 100, 1025}) {
      try (GoldenRows rows = new GoldenRows(type, ROWS, 1, width)) {
        double[] gain = rows.source.row(FLOAT32, width, 0.5, 1.25);
        double[] bias = rows.source.row(FLOAT32, width, 1, 0);
        NormBuilder<?> builder = spec.builder(width).backend(backend).threads(1).gain(gain);
        rows.ofGate(SIZES);
        rows.run((biased ? builder.bias(bias) : builder).build(), Keep.INPUT, width);
        rows.add(crc, "y", "dx", "dz", "sums");
      }
    }
    return "%s %s %08x".formatted(spec, type.shortName(), crc.getValue());
  }

  @ParameterizedTest
  @MethodSource("io.github.rmsnorm4j.Golden#backends")
  void groupsAndSamples(Backend backend) throws IOException {
    NormSpec gated = NormSpec.RMSNORM.withGate(Gate.SILU_BEFORE);
    NormSpec offset = NormSpec.LAYERNORM.withGainOffset(1);
    Golden.Lines lines = new Golden.Lines(backend);
    for (ElementType type : ElementType.values()) {
      lines.add(type, () -> parts("gain of the row", NormSpec.RMSNORM, type, GROUPS, backend));
      lines.add(type, () -> parts("gain of a group", NormSpec.LAYERNORM, type, 1, backend));
      lines.add(type, () -> parts("gain of the row", gated, type, GROUPS, backend));
      lines.add(type, () -> parts("samples", offset, type, SAMPLES, backend));
    }
    lines.check("parts.txt");
  }

  /** A call whose gain and bias have so many parts. */
  private static String parts(
      String name, NormSpec spec, ElementType type, int parts, Backend backend) {
    CRC32 crc = new CRC32();
    boolean samples = name.equals("samples");
    int groups = samples ? 1 : GROUPS;
    for (int width : new int[] {33, 1025}) {
      try (GoldenRows rows = new GoldenRows(type, ROWS, groups, width)) {
        rows.ofGate(6);
        double[] gain = rows.source.row(FLOAT32, parts * width, 0.5, 1.25);
        double[] bias = rows.source.row(FLOAT32, parts * width, 1, 0);
        NormBuilder<?> builder = spec.builder(groups * width).groupCount(groups);
        builder.backend(backend).threads(1);
        Norm norm =
            samples
                ? builder.build().withParameters(Rows.of(gain, width), Rows.of(bias, width))
                : builder.gain(gain).bias(bias).build();
        rows.run(norm, Keep.INPUT, gain.length);
        if (spec.gate() != Gate.NONE) {
          rows.add(crc, "dz");
        }
        rows.add(crc, "y", "dx", "sums");
      }
    }
    return "%s %s %s %08x".formatted(spec, name, type.shortName(), crc.getValue());
  }
}
