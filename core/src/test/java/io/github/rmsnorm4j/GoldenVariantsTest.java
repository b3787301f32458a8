package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.CastOrder.FLOAT32;
import static io.github.rmsnorm4j.EpsilonPlacement.FLOOR;
import static io.github.rmsnorm4j.EpsilonPlacement.INSIDE;
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

  /** More than one block of rows, in a tree that is not full. */
  private static final int BACKWARD_ROWS = 70;

  @ParameterizedTest
  @MethodSource("io.github.rmsnorm4j.Golden#backends")
  void everyChoiceOfTheForwardPass(Backend backend) throws IOException {
    Golden.Lines lines = new Golden.Lines(backend);
    for (ElementType type : ElementType.values()) {
      for (CastOrder order : CastOrder.values()) {
        lines.add(
            type, () -> forward(order.name(), rms(order, INSIDE, 0, 1), type, false, backend));
      }
      Choice length = width -> choice(false, width, INSIDE, ResidualRounding.FIRST).ofLength();
      lines.add(type, () -> forward("LENGTH", length, type, false, backend));
      lines.add(type, () -> forward("OFFSET", rms(FLOAT32, INSIDE, 1, 1), type, false, backend));
      lines.add(type, () -> forward("PART", rms(FLOAT32, INSIDE, 0, 0.4), type, false, backend));
      for (boolean centred : new boolean[] {false, true}) {
        for (EpsilonPlacement placement : List.of(OUTSIDE, FLOOR)) {
          Choice choice = width -> choice(centred, width, placement, ResidualRounding.FIRST);
          lines.add(type, () -> forward("EPSILON " + placement, choice, type, false, backend));
        }
        for (ResidualRounding rounding : ResidualRounding.values()) {
          Choice choice = width -> choice(centred, width, INSIDE, rounding);
          lines.add(type, () -> forward("RESIDUAL " + rounding, choice, type, true, backend));
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
      for (boolean centred : new boolean[] {false, true}) {
        Choice inside = width -> choice(centred, width, INSIDE, ResidualRounding.FIRST);
        for (Keep keep : Keep.values()) {
          lines.add(type, () -> backward("KEEP " + keep, inside, type, keep, false, backend));
        }
        lines.add(type, () -> backward("DRESIDUAL", inside, type, Keep.INPUT, true, backend));
        for (EpsilonPlacement placement : List.of(OUTSIDE, FLOOR)) {
          Choice choice = width -> choice(centred, width, placement, ResidualRounding.FIRST);
          lines.add(
              type,
              () -> backward("EPSILON " + placement, choice, type, Keep.INPUT, false, backend));
        }
      }
      Choice length = width -> choice(false, width, INSIDE, ResidualRounding.FIRST).ofLength();
      lines.add(type, () -> backward("LENGTH", length, type, Keep.INPUT, false, backend));
      Choice part = rms(FLOAT32, INSIDE, 0, 0.4);
      lines.add(type, () -> backward("PART", part, type, Keep.INPUT, false, backend));
      Choice offset = rms(FLOAT32, INSIDE, 1, 1);
      lines.add(type, () -> backward("OFFSET", offset, type, Keep.INPUT, false, backend));
    }
    lines.check("gradients.txt");
  }

  /** One thing about a norm, for every width. */
  private interface Choice {
    Variant of(int width);
  }

  private static Choice rms(
      CastOrder order, EpsilonPlacement placement, double offset, double share) {
    return width ->
        new Variant(
            false,
            width,
            (int) Math.ceil(width * share),
            1e-5,
            placement,
            order,
            offset,
            ResidualRounding.FIRST);
  }

  private static Variant choice(
      boolean centred, int width, EpsilonPlacement placement, ResidualRounding rounding) {
    double epsilon = placement == INSIDE ? 1e-5 : 1.25;
    return new Variant(centred, width, width, epsilon, placement, FLOAT32, 0, rounding);
  }

  private static String forward(
      String name, Choice choice, ElementType type, boolean residual, Backend backend) {
    CRC32 crc = new CRC32();
    for (int width : WIDTHS) {
      Golden.Source source = new Golden.Source(width * 8L + type.ordinal());
      try (Arena arena = Arena.ofConfined()) {
        Block x = kinds(arena, source, type, Golden.KINDS, width);
        Block sum = kinds(arena, source, type, Golden.KINDS, width);
        Block y = new Block(arena, Place.NATIVE, type, Golden.KINDS, width, width);
        Block gain = new Block(arena, Place.NATIVE, type, 1, width, width);
        gain.put(0, source.row(type, width, 1, 1));
        Norm norm = choice.of(width).norm(b -> b.backend(backend).threads(1).gain(gain.rows));
        if (residual) {
          norm.addAndApply(x.rows, sum.rows, y.rows);
          Golden.add(crc, sum);
        } else {
          norm.apply(x.rows, y.rows);
        }
        Golden.add(crc, y);
      }
    }
    return line(name, choice, type, crc);
  }

  private static String backward(
      String name, Choice choice, ElementType type, Keep keep, boolean dresidual, Backend backend) {
    CRC32 crc = new CRC32();
    for (int width : WIDTHS) {
      Golden.Source source = new Golden.Source(width * 8L + type.ordinal());
      double[] gain = source.row(ElementType.FLOAT32, width, 0.5, 1.25);
      double[] bias = source.row(ElementType.FLOAT32, width, 1, 0);
      double[] dgain = new double[width];
      double[] dbias = new double[width];
      Norm norm = choice.of(width).norm(b -> b.backend(backend).threads(1).gain(gain).bias(bias));
      try (Arena arena = Arena.ofConfined()) {
        Block x = kinds(arena, source, type, BACKWARD_ROWS, width);
        Block y = new Block(arena, Place.NATIVE, type, BACKWARD_ROWS, width, width);
        Block dx = new Block(arena, Place.NATIVE, type, BACKWARD_ROWS, width, width);
        Block dy = slopes(arena, source, type, width);
        Saved saved = new Saved(keep, BACKWARD_ROWS);
        norm.apply(x.rows, y.rows, saved);
        ParameterGradients gradients = ParameterGradients.assigned(dgain, dbias);
        if (dresidual) {
          norm.backward(
              dy.rows, saved, slopes(arena, source, type, width).rows, dx.rows, gradients);
        } else {
          norm.backward(dy.rows, saved, dx.rows, gradients);
        }
        Golden.add(crc, dx);
      }
      Golden.add(crc, dgain);
      Golden.add(crc, dbias);
    }
    return line(name, choice, type, crc);
  }

  private static String line(String name, Choice choice, ElementType type, CRC32 crc) {
    String norm = choice.of(1).centred() ? "LayerNorm" : "RMSNorm";
    return "%s %s %s %08x".formatted(norm, type.shortName(), name, crc.getValue());
  }

  private static Block kinds(
      Arena arena, Golden.Source source, ElementType type, int rows, int width) {
    Block block = new Block(arena, Place.NATIVE, type, rows, width, width);
    for (int r = 0; r < rows; r++) {
      block.put(r, source.row((r + width) % Golden.KINDS, type, width));
    }
    return block;
  }

  private static Block slopes(Arena arena, Golden.Source source, ElementType type, int width) {
    Block block = new Block(arena, Place.NATIVE, type, BACKWARD_ROWS, width, width);
    for (int r = 0; r < BACKWARD_ROWS; r++) {
      block.put(r, source.row(type, width, 1, 0));
    }
    return block;
  }
}
