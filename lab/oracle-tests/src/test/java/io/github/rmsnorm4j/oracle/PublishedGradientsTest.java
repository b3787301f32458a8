package io.github.rmsnorm4j.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.oracle.GradientCase.Gradients;
import io.github.rmsnorm4j.oracle.GradientFormula.Mistake;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every gradient against libtorch's autograd of the published formula: in the types of the case,
 * with the casts of the formula, and in float64 without them, for the same numbers.
 *
 * <p>Tolerances are in roundings of a type, each in proportion to the terms that the element is
 * made of, without their signs: see {@link GradientFormula}. Of an element whose terms do not
 * cancel that is 1.4e-6 in float32 and 3e-15 in float64.
 */
class PublishedGradientsTest {
  private static final int SEEDS = 30;

  @BeforeAll
  static void requireLibtorch() {
    Libtorch.require();
  }

  /** How many roundings of which unit two answers may be apart. */
  private record Tolerance(double unit, double least, GradientFormula sizes) {
    /** How much of it two answers take, at most: 1 is all. */
    double taken(Gradients a, Gradients b) {
      double most =
          Math.max(
              taken(a.dx(), b.dx(), sizes.dxSize), taken(a.dgain(), b.dgain(), sizes.dgainSize));
      if (b.dresidual() != null) {
        most = Math.max(most, taken(a.dresidual(), b.dresidual(), sizes.dxSize));
      }
      return b.dbias() == null
          ? most
          : Math.max(most, taken(a.dbias(), b.dbias(), sizes.dbiasSize));
    }

    private double taken(double[] a, double[] b, double[] size) {
      double largest = 0;
      for (int i = 0; i < b.length; i++) {
        double ratio = Math.abs(a[i] - b[i]) / (unit * size[i] + least);
        largest = ratio <= largest ? largest : Double.isNaN(ratio) ? Double.MAX_VALUE : ratio;
      }
      return largest;
    }
  }

  @ParameterizedTest
  @EnumSource
  void asAutogradHasThem(PublishedNorm norm) {
    Map<ElementType, Double> most = new EnumMap<>(ElementType.class);
    forCases(
        norm,
        drawn -> {
          Gradients theirs = drawn.published();
          for (Keep keep : Keep.values()) {
            if (norm != PublishedNorm.PARTIAL || keep != Keep.OUTPUT) {
              double taken = published(drawn, keep).taken(drawn.ours(keep, drawn.type()), theirs);
              most.merge(drawn.coarsest(), taken, Math::max);
              assertThat(taken).as("tolerance taken, kept %s: %s", keep, drawn).isLessThan(1);
            }
          }
        });
    System.out.println(norm + ": of the tolerance against its own types " + most);
  }

  @ParameterizedTest
  @EnumSource
  void asAutogradInFloat64HasThem(PublishedNorm norm) {
    Map<Keep, Double> most = new EnumMap<>(Keep.class);
    forCases(
        norm,
        drawn -> {
          Gradients theirs = drawn.exact();
          for (Keep keep : Keep.values()) {
            if (norm != PublishedNorm.PARTIAL || keep != Keep.OUTPUT) {
              Gradients ours = drawn.ours(keep, drawn.arithmetic());
              double taken = exact(drawn, keep).taken(ours, theirs);
              most.merge(keep, taken, Math::max);
              assertThat(taken).as("tolerance taken, kept %s: %s", keep, drawn).isLessThan(1);
            }
          }
        });
    System.out.println(norm + ": of the tolerance against float64 " + most);
  }

  /** The comparisons above would find a formula that is wrong in one term. */
  @ParameterizedTest
  @EnumSource
  void mistakesAreOutsideTheTolerances(PublishedNorm norm) {
    Map<Mistake, Double> least = new EnumMap<>(Mistake.class);
    forCases(
        norm,
        drawn -> {
          if (drawn.width() < 64) {
            return; // Where a row is short, a term that is wrong may be small by chance.
          }
          for (Mistake mistake : Mistake.values()) {
            if (mistake.appliesTo(drawn)) {
              Gradients wrong = new GradientFormula(drawn, mistake, false, 1).gradients;
              double taken = exact(drawn, Keep.INPUT).taken(wrong, drawn.exact());
              double inTypes = published(drawn, Keep.INPUT).taken(wrong, drawn.published());
              if (mistake == Mistake.NONE) {
                least.merge(mistake, Math.max(taken, inTypes), Math::max);
                assertThat(Math.max(taken, inTypes)).as("right: %s", drawn).isLessThan(1);
              } else {
                least.merge(mistake, Math.min(taken, inTypes), Math::min);
                assertThat(Math.min(taken, inTypes)).as("%s: %s", mistake, drawn).isGreaterThan(1);
              }
            }
          }
        });
    System.out.println(norm + ": a mistake takes of the tolerance " + least);
  }

  private static void forCases(PublishedNorm norm, Consumer<GradientCase> check) {
    for (ElementType type : ElementType.values()) {
      for (ElementType weight : ElementType.values()) {
        boolean wide = type == ElementType.FLOAT64 && weight == type;
        if (wide || norm.takes(type, weight)) {
          for (long seed = 0; seed < SEEDS; seed++) {
            check.accept(GradientCase.draw(norm, type, weight, seed));
          }
        }
      }
    }
  }

  /**
   * 24 roundings in float32 and float64, for libtorch adds rows up in its own type, so its sums
   * carry more roundings than ours. Five of a 16-bit type: dy * gain, what comes back to x by each
   * of two ways, their sum, and our own dx, or what dgain adds up. LayerNorm's mean and rstd
   * libtorch keeps in the type of the rows.
   */
  private static Tolerance published(GradientCase of, Keep keep) {
    ElementType type = of.coarsest();
    double unit = Math.scalb(type.bytes() > 2 ? 24.0 : 5.0, -Elements.precision(type));
    return tolerance(of, keep, unit, type);
  }

  /**
   * Our own roundings of the arithmetic's type: h and xh, their product, the mean of it, rstd in
   * the one and in the other, its product with xh, the difference, rstd again, the residual's. Of
   * float64 rows libtorch has no better answer than its own.
   */
  private static Tolerance exact(GradientCase of, Keep keep) {
    if (of.type() == ElementType.FLOAT64) {
      return published(of, keep);
    }
    double unit = Math.scalb(10.0, -Elements.precision(ElementType.FLOAT32));
    if (of.roundsLate()) {
      unit += Math.scalb(2.0, -Elements.precision(of.type()));
    }
    return tolerance(of, keep, unit, of.arithmetic());
  }

  /**
   * A kept output has the roundings of at most two casts, and they enter the normalised row and its
   * mean product; an rstd that is found again from a rounded sum is off in every factor.
   */
  private static Tolerance tolerance(GradientCase of, Keep keep, double unit, ElementType type) {
    boolean more = keep == Keep.OUTPUT || keep == Keep.NOTHING && of.roundsLate();
    double extra = more ? Math.scalb(4.0, -Elements.precision(of.coarsest())) : 0;
    double meanShare =
        Math.scalb(1.0, Elements.precision(type) - Elements.precision(of.arithmetic()));
    boolean fromOutput = keep == Keep.OUTPUT;
    GradientFormula sizes = new GradientFormula(of, Mistake.NONE, fromOutput, meanShare);
    return new Tolerance(unit + extra, 4 * Elements.smallest(type), sizes);
  }
}
