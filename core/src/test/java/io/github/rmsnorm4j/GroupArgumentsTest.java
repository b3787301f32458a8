package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What groups of a row refuse, and what they say; nothing is written before all is checked. */
class GroupArgumentsTest {
  /** What is said of a gain or a bias of another length. */
  private static final String SAID =
      " elements, the rows are 12 wide, their groups 4: it must be one row, with as many elements"
          + " as either";

  private static final int WIDTH = 12;

  private static RmsNorm.Builder builder() {
    return RmsNorm.builder(WIDTH).groupCount(3);
  }

  private static void refused(ThrowingCallable call, String message) {
    assertThatIllegalArgumentException().isThrownBy(call::call).withMessage(message);
  }

  @Test
  void groupsOfTheBuilder() {
    RmsNorm.Builder builder = RmsNorm.builder(WIDTH);
    refused(() -> builder.groupCount(0), "groupCount is 0, it must be at least 1");
    refused(() -> builder.groupSize(-1), "groupSize is -1, it must be at least 1");
    refused(() -> builder.groupCount(5), "groupCount is 5, it must divide the width, 12");
    refused(() -> builder.groupSize(24), "groupSize is 24, it must divide the width, 12");
    refused(
        () -> NormSpec.parse("rmsnorm(groupsize=5)").builder(WIDTH),
        "groupSize is 5, it must divide the width, 12");
    refused(() -> builder().part(4), "part is 1/3, with groups of a row it must be 1");
    refused(
        () -> RmsNorm.builder(WIDTH).part(4).groupCount(3),
        "part is 1/3, with groups of a row it must be 1");
    refused(
        () -> new RowGroups(2, 2),
        "count is 2 and size is 2, one must be at least 1 and the other 0");
  }

  @Test
  void countAndSizeAreTheSameNorm() {
    assertThat(RowGroups.ofSize(4).count(WIDTH)).isEqualTo(3);
    assertThat(builder().build().spec()).hasToString("rmsnorm(groupcount=3)");
    float[] x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    float[] y = new float[WIDTH];
    float[] z = new float[WIDTH];
    builder().build().apply(x, y);
    RmsNorm.builder(WIDTH).groupSize(4).build().apply(x, z);
    assertThat(z).containsExactly(y);
    RmsNorm.builder(WIDTH).build().apply(x, z);
    assertThat(z).isNotEqualTo(y);
  }

  @Test
  void parametersOfANorm() {
    refused(() -> builder().gain(new float[6]).build(), "gain has 6" + SAID);
    refused(() -> builder().bias(new double[3]).build(), "bias has 3" + SAID);
    refused(
        () -> builder().gain(new float[WIDTH]).bias(new float[4]).build(),
        "bias has 4 elements, gain has 12: they must be the same");
    refused(
        () -> RmsNorm.builder(WIDTH).gain(new float[4]).build(),
        "gain has 4 elements, the rows are 12 wide: for one of each head set groupSize(4)");
    refused(
        () -> RmsNorm.builder(WIDTH).gain(new float[1]).build(),
        "gain has 1 elements, the rows are 12 wide");
    refused(() -> builder().gain(new float[5]), "gain has 5" + SAID);
    refused(() -> builder().bias(Rows.of(new float[24], 24)), "bias has 24" + SAID);
    assertThat(builder().gain(new float[4]).build().parameterCount()).isEqualTo(4);
    // The groups may be set after their gain.
    RmsNorm.Builder later = RmsNorm.builder(WIDTH).gain(new float[4]).bias(new double[4]);
    assertThat(later.groupCount(3).build().parameterCount()).isEqualTo(8);
  }

  @Test
  void parametersOfACall() {
    float[] x = new float[WIDTH];
    float[] y = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    RmsNorm norm = builder().build();
    refused(
        () ->
            norm.withParameters(Rows.of(new float[6], 6), null)
                .apply(Rows.of(x, WIDTH), Rows.of(y, WIDTH)),
        "gain has 1 x 6" + SAID);
    refused(
        () -> norm.withParameters(Rows.of(new float[2 * WIDTH], WIDTH), null).apply(x, y),
        "gain has 2 rows, for a norm of groups it must have 1");
    refused(
        () ->
            norm.withParameters(Rows.of(new float[4], 4), Rows.of(new float[WIDTH], WIDTH))
                .apply(x, y),
        "bias has 12 elements, gain has 4: they must be the same");
    assertThat(y).containsOnly(1);
  }

  @Test
  void statisticsAndGradients() {
    float[] x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    Rows rows = Rows.of(x, WIDTH);
    Rows y = Rows.of(new float[WIDTH], WIDTH);
    RmsNorm norm = builder().gain(new float[] {1, 2, 3, 4}).build();
    refused(() -> norm.apply(rows, y, new double[2]), "rstd has room for 2 groups, there are 3");
    Saved saved = new Saved(Keep.INPUT, 1);
    norm.apply(rows, y, saved);
    assertThat(saved.rstd()).hasSize(3).doesNotHaveDuplicates();
    refused(
        () -> norm.backward(y, saved, y, ParameterGradients.assigned(new float[WIDTH], null)),
        "dgain has 12 elements, it must have as many as the other parameters, 4");
    refused(
        () -> norm.backward(y, saved, y, ParameterGradients.assigned(new float[3], null)),
        "dgain has 3 elements, it must have as many as the other parameters, 4");
    Saved many = new Saved(Keep.INPUT, 1 << 30);
    refused(
        () -> norm.apply(rows, y, many),
        "saved has room for 1073741824 rows, with 3 groups each it must be at most 715827879");
  }

  /** An object serves norms with more groups and with fewer, one after the other. */
  @Test
  void savedOfSeveralNorms() {
    Saved saved = new Saved(Keep.INPUT, 2);
    float[] x = new float[2 * WIDTH];
    for (int i = 0; i < x.length; i++) {
      x[i] = 1 + i * i;
    }
    for (int count : new int[] {1, 3, 12, 2}) {
      LayerNorm norm = LayerNorm.builder(WIDTH).groupCount(count).build();
      float[] y = new float[x.length];
      norm.apply(Rows.of(x, WIDTH), Rows.of(y, WIDTH), saved);
      LayerNorm ofGroups = LayerNorm.builder(WIDTH / count).build();
      Saved wanted = new Saved(Keep.INPUT, 2 * count);
      float[] expected = new float[x.length];
      ofGroups.apply(Rows.of(x, ofGroups.width()), Rows.of(expected, ofGroups.width()), wanted);
      assertThat(y).containsExactly(expected);
      assertThat(saved.rstd()).startsWith(wanted.rstd());
      assertThat(saved.mean()).startsWith(wanted.mean());
    }
  }
}
