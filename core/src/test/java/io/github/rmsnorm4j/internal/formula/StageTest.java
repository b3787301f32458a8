package io.github.rmsnorm4j.internal.formula;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.github.rmsnorm4j.ElementType;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What a description may say. */
class StageTest {
  private static final Value X = Value.element(Forward.X, ElementType.FLOAT32);
  private static final Value WIDE = Value.element(Forward.X, ElementType.FLOAT64);
  private static final Value MEAN = Value.row(Forward.MEAN);

  private static void refused(String message, ThrowingCallable made) {
    assertThatThrownBy(made).isInstanceOf(IllegalArgumentException.class).hasMessage(message);
  }

  private static Stage.Builder stage() {
    return new Stage.Builder();
  }

  @Test
  void rowSumsAreOfFloat64Elements() {
    refused("x[i] must be of float64 elements", () -> stage().sum(Forward.SUM, X).build());
    refused("mean must be of float64 elements", () -> stage().sum(Forward.SUM, MEAN).build());
    assertThat(stage().sum(Forward.SUM, X.widened()).build().sums()).hasSize(1);
  }

  @Test
  void operandsHaveOneType() {
    refused("x[i] and the other are not of one type", () -> X.plus(MEAN));
    refused("mean and the other are not of one type", () -> MEAN.over(X));
    refused("x[i] and the others are not of one type", () -> X.fma(MEAN, X));
    refused("x[i] and the others are not of one type", () -> X.fma(X, MEAN));
    assertThat(X.plus(MEAN.rounded()).float64()).isFalse();
    assertThat(X.widened().plus(MEAN).float64()).isTrue();
  }

  @Test
  void tensorsHaveAPlaceInTheMemoryOfKernels() {
    for (Tensor.Access access : Tensor.Access.values()) {
      int places = access.places();
      String allowed = ", it must be 0 to " + (places - 1);
      refused("t has place -1" + allowed, () -> new Tensor("t", access, -1));
      refused("t has place " + places + allowed, () -> new Tensor("t", access, places));
      assertThat(new Tensor("t", access, places - 1).place()).isEqualTo(places - 1);
      assertThat(new Tensor("t", access, 0).place()).isZero();
    }
  }

  @Test
  void rootsAndChoicesAreOfFloat64() {
    refused("x[i] is float32, a root is of float64 only", X::root);
    String choice = " or what it chooses is float32, a choice is of float64 only";
    refused("x[i]" + choice, () -> X.atLeast(MEAN, MEAN, MEAN));
    refused("mean" + choice, () -> MEAN.atLeast(X, MEAN, MEAN));
    refused("mean" + choice, () -> MEAN.atLeast(MEAN, X, MEAN));
    refused("mean" + choice, () -> MEAN.atLeast(MEAN, MEAN, X));
    assertThat(MEAN.above(MEAN, MEAN, WIDE).float64()).isTrue();
  }

  @Test
  void oneNanIsOfFloat32() {
    refused("mean is float64, NaN is made one of float32 only", () -> MEAN.oneNan());
    assertThat(X.oneNan().float64()).isFalse();
  }

  @Test
  void whatIsKeptAndItsRangeAreOneForARow() {
    String message = " must be float64, one for a row";
    refused("(double) x[i]" + message, () -> stage().keep(Backward.M, X.widened()).build());
    refused("(float) mean" + message, () -> stage().keep(Backward.M, MEAN.rounded()).build());
    refused("x[i]" + message, () -> stage().add(new Stage.Range(WIDE, 0, 1)).build());
    refused("x[0]" + message, () -> stage().add(new Stage.Range(X.first(), 0, 1)).build());
    Value first = X.first().widened();
    assertThat(stage().keep(Forward.SHIFT, first).build().text()).isEqualTo("x0 = (double) x[0]\n");
  }

  @Test
  void float64RowsTakeFloat64() {
    String message = "x[i] must be float64 as the rows are";
    refused(message, () -> stage().store(Forward.Y, ElementType.FLOAT64, X).build());
    assertThat(stage().store(Forward.Y, ElementType.FLOAT64, WIDE).build().tensors())
        .containsEntry(Forward.Y, ElementType.FLOAT64)
        .containsEntry(Forward.X, ElementType.FLOAT64)
        .hasSize(2);
  }

  @Test
  void float16RowsHaveOneNan() {
    refused(
        "x[i] may be any NaN, float16 rows have one",
        () -> stage().store(Forward.Y, ElementType.FLOAT16, X).build());
    for (Value one : new Value[] {X.oneNan(), X.cast(ElementType.FLOAT16)}) {
      assertThat(stage().store(Forward.Y, ElementType.FLOAT16, one).build().written())
          .containsOnly(entry(Forward.Y, ElementType.FLOAT16));
    }
  }

  @Test
  void kernelsHaveLanesForTwoRowSums() {
    Value term = X.widened();
    String message = "a stage has 2 row sums at most, and none together with sums of columns";
    Stage.Builder two = stage().sum(Forward.SUM, term).sum(Forward.SQUARES, term.times(term));
    assertThat(two.build().sums()).hasSize(2);
    refused(message, () -> two.sum(Backward.H, term).build());
    refused(message, () -> stage().sum(Forward.SUM, term).sum(Backward.GAIN_GRADIENT, X).build());
  }

  @Test
  void numbersOfRowsAreKeptBeforeTheyAreRead() {
    Value root = Value.row(Forward.ROOT);
    refused(
        "mean reads what its stage keeps",
        () -> stage().keep(Forward.MEAN, root).keep(Forward.RSTD, MEAN).build());
    Value centred = X.widened().minus(MEAN);
    Stage ofElements = stage().keep(Forward.MEAN, root).sum(Forward.SUM, centred).build();
    assertThat(ofElements.text()).isEqualTo("mean = root\nS1 = rowsum(((double) x[i] - mean))\n");
    refused(
        "mean must be in a stage of rows to have a range",
        () -> stage().sum(Forward.SUM, centred).add(new Stage.Range(MEAN, 0, 1)).build());
  }

  @Test
  void theFirstElementIsRead() {
    Stage stage = stage().keep(Forward.SHIFT, X.first().widened()).build();
    assertThat(stage.read()).containsOnly(entry(Forward.X, ElementType.FLOAT32));
    assertThat(stage.isOfRows()).isFalse();
    assertThat(stage().keep(Forward.MEAN, Value.row(Forward.ROOT)).build().isOfRows()).isTrue();
  }

  @Test
  void ranges() {
    Stage.Range range = new Stage.Range(MEAN, -1, 2);
    assertThat(range.holds(new double[] {-1, 2, 3}, 2)).isTrue();
    assertThat(range.holds(new double[] {-1, 2, 3}, 3)).isFalse();
    assertThat(range.holds(new double[] {-1.5}, 1)).isFalse();
    assertThat(range.holds(new double[] {Double.NaN}, 1)).isFalse();
  }

  @Test
  void equalValuesAreOne() {
    Value again = Value.element(Forward.X, ElementType.FLOAT32);
    assertThat(X.widened().times(X.widened())).isSameAs(again.widened().times(again.widened()));
    assertThat(Value.literal(0.0)).isNotSameAs(Value.literal(-0.0));
    assertThat(X.plus(again)).isNotEqualTo(X.minus(again));
    assertThat(X.cast(ElementType.FLOAT16)).isNotEqualTo(X.cast(ElementType.BFLOAT16));
    assertThat(WIDE).isNotEqualTo(X);
    assertThat(FormulaTextTest.forward(true).statistic())
        .isEqualTo(FormulaTextTest.forward(true).statistic());
    assertThat(FormulaTextTest.forward(true).statistic())
        .isNotEqualTo(FormulaTextTest.forward(false).statistic());
    assertThat(WIDE.widened()).isSameAs(WIDE);
    assertThat(X.rounded()).isSameAs(X);
    assertThat(X.cast(null)).isSameAs(X);
    assertThat(X.cast(ElementType.FLOAT32)).isSameAs(X);
  }

  /** Fused and not fused are the same of products of widened float32 alone. */
  @Test
  void exactProducts() {
    assertThat(X.widened().times(X.widened()).isExactProduct()).isTrue();
    assertThat(WIDE.times(WIDE).isExactProduct()).isFalse();
    assertThat(X.widened().times(MEAN).isExactProduct()).isFalse();
    assertThat(X.widened().plus(X.widened()).isExactProduct()).isFalse();
    assertThat(X.times(X).isExactProduct()).isFalse();
  }
}
