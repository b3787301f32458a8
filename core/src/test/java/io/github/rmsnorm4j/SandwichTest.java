package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.rmsnorm4j.RandomRows.Mix;
import java.lang.foreign.Arena;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two norms around an addition have the bits of the two calls that they stand for. */
class SandwichTest {
  /** A call and the two calls, drawn from a seed. */
  private static final class Drawn {
    private final Draw draw;
    private final Arena arena;
    private final int rows;
    private final int width;
    private final Operand x;
    private final Operand residual;
    private final ElementType to;
    private final NormSpec first;
    private final NormSpec next;
    private final float[] gain;
    private final float[] bias;
    private final boolean keeps;

    /** Whether gain and bias are arguments of the call, and not the norms' own. */
    private final boolean ofCall;

    private final boolean inPlace;
    private final Keep keep;

    Drawn(int seed, ElementType type, int rows, int width, Arena arena) {
      draw = new Draw(seed);
      this.arena = arena;
      this.rows = rows;
      this.width = width;
      x = filled(type);
      residual = filled(type == ElementType.FLOAT64 ? type : draw.narrowType());
      to = type == ElementType.FLOAT64 ? type : draw.narrowType();
      first = spec();
      next = spec();
      gain = floats(0.2, 1.5);
      bias = draw.evenly() ? floats(2, 0) : null;
      keeps = draw.evenly();
      ofCall = keeps && draw.evenly();
      inPlace = !keeps && to == type && draw.evenly();
      keep = draw.of(Keep.INPUT, Keep.NOTHING);
    }

    private Operand filled(ElementType type) {
      Place place = draw.evenly() ? Place.NATIVE : draw.place();
      Mix mix = draw.of(Mix.ANY, Mix.ORDINARY, Mix.ORDINARY);
      double[][] values = draw.rows.of(mix, type, rows, width, 1, false);
      return new Operand(type, place, draw.gap(9), width, values);
    }

    private NormSpec spec() {
      double epsilon = draw.epsilon(new double[] {1e-6, 1e-300}, width, Mix.ANY);
      Variant any = Variant.any(draw.random, draw.evenly(), width, epsilon);
      Variant grouped = any.withoutCasts().withGroups(draw.onceIn(5) ? draw.divisor(width, 2) : 1);
      return (draw.evenly() ? grouped : any).spec();
    }

    private float[] floats(double spread, double mean) {
      double[] values = draw.rows.scaled(ElementType.FLOAT32, width, spread, mean);
      float[] floats = new float[width];
      for (int i = 0; i < width; i++) {
        floats[i] = (float) values[i];
      }
      return floats;
    }

    private Norm norm(NormSpec spec, Backend backend, int threads) {
      NormBuilder<?> builder = spec.builder(width).gain(gain).backend(backend).threads(threads);
      return hasBias(spec) ? builder.bias(bias).build() : builder.build();
    }

    private Norm bare(NormSpec spec, Backend backend, int threads) {
      return spec.builder(width).backend(backend).threads(threads).build();
    }

    private boolean hasBias(NormSpec spec) {
      return bias != null && spec.castOrder() == CastOrder.FLOAT32;
    }

    private Rows biasOfCall(NormSpec spec) {
      return hasBias(spec) ? Rows.of(bias, width) : null;
    }

    /** The calls that it stands for, against which a back end with some threads is compared. */
    void check(Backend backend, int threads) {
      String what =
          "%s and %s of %d x %d, x %s, residual %s to %s, %s"
              .formatted(
                  first, next, rows, width, Operand.text(x), Operand.text(residual), to, backend);
      Block wantedSum = residual.in(arena);
      Block between = x.empty(x.type()).in(arena);
      Block wanted = x.empty(to).in(arena);
      Saved savedFirst = new Saved(keep, rows);
      Saved savedNext = new Saved(keep, rows);
      Norm plain = norm(first, Backend.scalar(), 1);
      Norm plainNext = norm(next, Backend.scalar(), 1);
      plain.apply(x.in(arena).rows, between.rows, savedFirst);
      plainNext.addAndApply(between.rows, wantedSum.rows, wanted.rows, savedNext);

      Block in = x.in(arena);
      Block sum = residual.in(arena);
      Block out = inPlace ? in : x.empty(to).in(arena);
      Saved saved = new Saved(keep, rows);
      Saved savedOfNext = new Saved(keep, rows);
      Norm norm = ofCall ? bare(first, backend, threads) : norm(first, backend, threads);
      Norm other = ofCall ? bare(next, backend, threads) : norm(next, backend, threads);
      if (keeps) {
        if (ofCall) {
          Rows gains = Rows.of(gain, width);
          norm.withParameters(gains, biasOfCall(first))
              .applyAndAdd(
                  in.rows,
                  sum.rows,
                  other.withParameters(gains, biasOfCall(next)),
                  out.rows,
                  saved,
                  savedOfNext);
        } else {
          norm.applyAndAdd(in.rows, sum.rows, other, out.rows, saved, savedOfNext);
        }
        assertThat(saved.rstd()).as(what).isEqualTo(savedFirst.rstd());
        assertThat(saved.mean()).as(what).isEqualTo(savedFirst.mean());
        assertThat(savedOfNext.rstd()).as(what).isEqualTo(savedNext.rstd());
        assertThat(savedOfNext.mean()).as(what).isEqualTo(savedNext.mean());
        Block dx = x.empty(x.type()).in(arena);
        Block wantedDx = x.empty(x.type()).in(arena);
        norm.backward(in.rows, saved, dx.rows, null);
        plain.backward(in.rows, savedFirst, wantedDx.rows, null);
        requireSame(dx, wantedDx, what + ", dx");
        other.backward(in.rows, savedOfNext, dx.rows, null);
        plainNext.backward(in.rows, savedNext, wantedDx.rows, null);
        requireSame(dx, wantedDx, what + ", dx of next");
      } else {
        norm.applyAndAdd(in.rows, sum.rows, other, out.rows);
      }
      requireSame(sum, wantedSum, what + ", sum");
      requireSame(out, wanted, what + ", y");
    }
  }

  /** The same bits in every row, and nothing written between rows. */
  private static void requireSame(Block got, Block wanted, String what) {
    for (int r = 0; r < got.rows.rows(); r++) {
      assertThat(got.mismatch(r, wanted.values(r))).as("%s of row %d", what, r).isEqualTo(-1);
    }
    assertThat(got.isGuardIntact()).as(what).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "1, 64",
    "33, 128",
    "70, 96",
    "7, 1",
    "40, 33",
    "400, 60",
    "3, 1025",
    "9, 4096",
    "2, 17000",
    "2, 70000"
  })
  void hasTheBitsOfTwoCalls(int rows, int width) {
    for (int seed = 0; seed < (rows * width > 20_000 ? 4 : 12); seed++) {
      try (Arena arena = Arena.ofShared()) {
        ElementType type = ElementType.values()[seed % 4];
        Drawn drawn = new Drawn(seed, type, rows, width, arena);
        Backends.inTurn(Backends.EACH, seed + rows + width)
            .forEach(backend -> drawn.check(backend, 1));
      }
    }
  }

  @Test
  void manyThreadsHaveTheSameBits() {
    for (int seed = 0; seed < 4; seed++) {
      try (Arena arena = Arena.ofShared()) {
        Drawn drawn = new Drawn(seed, ElementType.values()[seed], 5000, 120, arena);
        Backends.EACH.forEach(backend -> drawn.check(backend, 3));
      }
    }
  }

  private static void refused(ThrowingCallable call, String message) {
    assertThatIllegalArgumentException().isThrownBy(call).withMessage(message);
  }

  @Test
  void refusesWhatDoesNotFit() {
    RmsNorm norm = RmsNorm.builder(4).build();
    Rows x = Rows.of(new float[8], 4);
    float[] sum = {1, 1, 1, 1, 1, 1, 1, 1};
    Rows residual = Rows.of(sum, 4);
    Rows y = Rows.of(new float[8], 4);
    refused(
        () -> norm.applyAndAdd(x, residual, RmsNorm.builder(8).build(), y),
        "next is 8 wide, the norm is 4 wide");
    refused(
        () -> norm.applyAndAdd(x, residual, RmsNorm.builder(4).gate(Gate.SILU).build(), y),
        "next has the gate silu, for applyAndAdd it must have none");
    Saved saved = new Saved(Keep.INPUT, 2);
    Saved other = new Saved(Keep.INPUT, 2);
    refused(
        () -> norm.applyAndAdd(x, residual, norm, y, saved, saved),
        "saved and savedOfNext are one object: each needs its own");
    refused(
        () -> norm.applyAndAdd(x, residual, norm, y, new Saved(Keep.OUTPUT, 2), other),
        "saved keeps the output, which is not stored: it must keep the input or nothing");
    refused(
        () -> norm.applyAndAdd(x, residual, norm, y, saved, new Saved(Keep.INPUT, 1)),
        "savedOfNext has room for 1 rows, there are 2");
    assertThat(sum).containsOnly(1);
  }
}
