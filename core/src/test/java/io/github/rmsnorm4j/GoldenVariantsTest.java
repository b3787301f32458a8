package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.EpsilonPlacement.FLOOR;
import static io.github.rmsnorm4j.EpsilonPlacement.OUTSIDE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.zip.CRC32;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every machine gives the bits of every choice, forward in {@code golden/variants.txt} and backward
 * in {@code golden/gradients.txt}, on the backends in turn.
 */
class GoldenVariantsTest {
  private static final int[] WIDTHS = {33, 100, 1025};
  private static final NormSpec RMS = NormSpec.RMSNORM.withEpsilon(1e-5);
  private static final NormSpec LENGTH = RMS.withKind(NormSpec.Kind.L2_NORM);
  private static final NormSpec OFFSET = RMS.withGainOffset(1);
  private static final NormSpec PART = RMS.withPart(RowPart.of(0.4));
  private static final List<NormSpec> BOTH = List.of(RMS, NormSpec.LAYERNORM.withEpsilon(1e-5));

  /** More than one block of rows, in a tree that is not full. */
  private static final int BACKWARD_ROWS = 70;

  private static NormSpec placed(NormSpec spec, EpsilonPlacement placement) {
    return spec.withEpsilon(1.25).withEpsilonPlacement(placement);
  }

  @ParameterizedTest
  @MethodSource("io.github.rmsnorm4j.Golden#backends")
  void everyChoiceOfTheForwardPass(Backend backend) throws IOException {
    Golden.Lines lines = new Golden.Lines(backend);
    for (ElementType type : ElementType.values()) {
      for (CastOrder order : CastOrder.values()) {
        NormSpec spec = RMS.withCastOrder(order);
        lines.add(type, () -> forward(order.name(), spec, type, false, backend));
      }
      lines.add(type, () -> forward("LENGTH", LENGTH, type, false, backend));
      lines.add(type, () -> forward("OFFSET", OFFSET, type, false, backend));
      lines.add(type, () -> forward("PART", PART, type, false, backend));
      for (NormSpec spec : BOTH) {
        for (EpsilonPlacement at : List.of(OUTSIDE, FLOOR)) {
          lines.add(type, () -> forward("EPSILON " + at, placed(spec, at), type, false, backend));
        }
        for (ResidualRounding rounding : ResidualRounding.values()) {
          NormSpec rounded = spec.withResidualRounding(rounding);
          lines.add(type, () -> forward("RESIDUAL " + rounding, rounded, type, true, backend));
        }
      }
    }
    lines.check("variants.txt");
  }

  @ParameterizedTest
  @MethodSource("io.github.rmsnorm4j.Golden#backends")
  void everyChoiceOfTheBackwardPass(Backend backend) throws IOException {
    Golden.Lines lines = new Golden.Lines(backend);
    for (ElementType type : ElementType.values()) {
      for (NormSpec spec : BOTH) {
        for (Keep keep : Keep.values()) {
          lines.add(type, () -> backward("KEEP " + keep, spec, type, keep, backend));
        }
        lines.add(type, () -> backward("DRESIDUAL", spec, type, Keep.INPUT, backend));
        for (EpsilonPlacement at : List.of(OUTSIDE, FLOOR)) {
          NormSpec placed = placed(spec, at);
          lines.add(type, () -> backward("EPSILON " + at, placed, type, Keep.INPUT, backend));
        }
      }
      lines.add(type, () -> backward("LENGTH", LENGTH, type, Keep.INPUT, backend));
      lines.add(type, () -> backward("PART", PART, type, Keep.INPUT, backend));
      lines.add(type, () -> backward("OFFSET", OFFSET, type, Keep.INPUT, backend));
    }
    lines.check("gradients.txt");
  }

  private static String forward(
      String name, NormSpec spec, ElementType type, boolean residual, Backend backend) {
    CRC32 crc = new CRC32();
    for (int width : WIDTHS) {
      try (GoldenRows rows = new GoldenRows(type, Golden.KINDS, 1, width);
          Arena arena = Arena.ofConfined()) {
        rows.kinds(true);
        Block sum = rows.kinds(false);
        Block gain = new Block(arena, Place.NATIVE, type, 1, width, width);
        gain.put(0, rows.source.row(type, width, 1, 1));
        Norm norm = spec.builder(width).backend(backend).threads(1).gain(gain.rows).build();
        if (residual) {
          norm.addAndApply(rows.x.rows, sum.rows, rows.y.rows);
          Golden.add(crc, sum);
        } else {
          norm.apply(rows.x.rows, rows.y.rows);
        }
        rows.add(crc, "y");
      }
    }
    return line(name, spec, type, crc);
  }

  private static String backward(
      String name, NormSpec spec, ElementType type, Keep keep, Backend backend) {
    CRC32 crc = new CRC32();
    for (int width : WIDTHS) {
      try (GoldenRows rows = new GoldenRows(type, BACKWARD_ROWS, 1, width)) {
        double[] gain = rows.source.row(FLOAT32, width, 0.5, 1.25);
        double[] bias = rows.source.row(FLOAT32, width, 1, 0);
        rows.kinds(true);
        rows.slopes(name.equals("DRESIDUAL"));
        NormBuilder<?> builder = spec.builder(width).backend(backend).threads(1);
        rows.run(builder.gain(gain).bias(bias).build(), keep, width);
        rows.add(crc, "dx", "sums");
      }
    }
    return line(name, spec, type, crc);
  }

  private static String line(String name, NormSpec spec, ElementType type, CRC32 crc) {
    String norm = spec.isCentred() ? "LayerNorm" : "RMSNorm";
    return "%s %s %s %08x".formatted(norm, type.shortName(), name, crc.getValue());
  }
}
