package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What a shard refuses, before an exchange. */
class NormShardArgumentsTest {
  private static final int W = 1024;

  private final RmsNorm norm = RmsNorm.builder(3000).build();
  private final NormShard shard = norm.shard(W, 2 * W);
  private final Rows x = Rows.of(new float[2 * W], W);
  private final float[] output = new float[2 * W];
  private final Rows y = Rows.of(output, W);
  private final SumExchange exchange =
      (numbers, from, to) -> {
        throw new AssertionError("an exchange");
      };

  private static void refused(ThrowingCallable call, String message) {
    assertThatIllegalArgumentException().isThrownBy(call).withMessage(message);
  }

  @Test
  void columnsThatAreNoBlocks() {
    String from = ", it must be a multiple of 1024 from 0 to below the width, 3000";
    refused(() -> norm.shard(-1024, 1024), "from is -1024" + from);
    refused(() -> norm.shard(1000, 2048), "from is 1000" + from);
    refused(() -> norm.shard(3072, 4096), "from is 3072" + from);
    String to = ", and a multiple of 1024 below the width or the width, 3000";
    refused(() -> norm.shard(0, 1000), "to is 1000, it must be above from, 0" + to);
    refused(() -> norm.shard(1024, 1024), "to is 1024, it must be above from, 1024" + to);
    refused(() -> norm.shard(2048, 4096), "to is 4096, it must be above from, 2048" + to);
    assertThat(norm.shard(2048, 3000))
        .hasToString("columns 2048 to 2999 of RmsNorm(3000, rmsnorm)");
    NormShard last = norm.shard(2048, 3000);
    assertThat(last.width()).isEqualTo(952);
    assertThat(last.from()).isEqualTo(2048);
    assertThat(last.to()).isEqualTo(3000);
    assertThat(last.norm()).isSameAs(norm);
    // A width that is a multiple: the end is no beginning.
    refused(
        () -> RmsNorm.builder(2048).build().shard(2048, 3072),
        "from is 2048, it must be a multiple of 1024 from 0 to below the width, 2048");
  }

  @Test
  void normsWithoutShards() {
    refused(
        () -> RmsNorm.builder(4096).partial(0.5).build().shard(0, 1024),
        "part is 1/2, of a norm whose rows are split it must be 1");
    refused(
        () -> RmsNorm.builder(4096).groupCount(2).build().shard(0, 1024),
        "groupCount is 2, of a norm whose rows are split it must be 1");
    refused(
        () -> RmsNorm.builder(4096).gate(Gate.SILU).build().shard(0, 1024),
        "gate is silu, of a norm whose rows are split it must be none");
  }

  @Test
  void rowsThatDoNotFit() {
    Rows wide = Rows.of(new float[3000], 3000);
    refused(() -> shard.apply(wide, y, exchange), "x has rows 3000 wide, the shard is 1024 wide");
    refused(() -> shard.apply(x, wide, exchange), "y has rows 3000 wide, the shard is 1024 wide");
    refused(
        () -> shard.addAndApply(x, wide, y, exchange),
        "residual has rows 3000 wide, the shard is 1024 wide");
    refused(
        () -> shard.apply(Rows.of(new float[W], W), y, exchange),
        "y has 2 rows, x has 1: they must be the same");
    refused(
        () -> shard.addAndApply(x, y, y, exchange),
        "residual overlaps x or y: it must be memory of its own");
    NormShard ofWide = RmsNorm.builder(1 << 30).build().shard(0, W);
    Rows many = Rows.of(new float[64 * W], W);
    refused(
        () -> ofWide.apply(many, many, exchange),
        "x has 64 rows, of a norm 1073741824 wide whose rows are split it must have at most 63");
    assertThatNullPointerException()
        .isThrownBy(() -> shard.apply(x, y, (SumExchange) null))
        .withMessage("exchange is null");
    assertThatNullPointerException()
        .isThrownBy(() -> shard.apply(x, y, null, exchange))
        .withMessage("saved is null");
    assertThatNullPointerException()
        .isThrownBy(() -> shard.addAndApply(x, null, y, exchange))
        .withMessage("residual is null");
  }

  @Test
  void whatIsKept() {
    refused(
        () -> shard.apply(x, y, new Saved(Keep.NOTHING, 2), exchange),
        "saved keeps nothing, where rows are split it must keep the input or the output");
    refused(
        () -> shard.apply(x, y, new Saved(Keep.INPUT, 1), exchange),
        "saved has room for 1 rows, there are 2");
    refused(
        () -> shard.apply(x, x, new Saved(Keep.INPUT, 2), exchange),
        "y is x, but the input is to be kept: keep the output, or write elsewhere");
    // The gain of 0 is another owner's.
    float[] gain = new float[3000];
    Arrays.fill(gain, 0, 2500, 1);
    NormShard ofGain = RmsNorm.builder(3000).gain(gain).build().shard(W, 2 * W);
    refused(
        () -> ofGain.apply(x, y, new Saved(Keep.OUTPUT, 2), exchange),
        "element 2500 of the gain is 0, to go back from the output none may be: keep the input");
    // As float32 it is 0.
    double[] wide = new double[3000];
    Arrays.fill(wide, 1);
    wide[2500] = Double.MIN_VALUE;
    NormShard ofWide = RmsNorm.builder(3000).gain(wide).build().shard(W, 2 * W);
    refused(
        () -> ofWide.apply(x, y, new Saved(Keep.OUTPUT, 2), exchange),
        "element 2500 of the gain is 0, to go back from the output none may be: keep the input");
    Rows doubles = Rows.of(new double[2 * W], W);
    assertThatThrownBy(() -> ofWide.apply(doubles, doubles, new Saved(Keep.OUTPUT, 2), exchange))
        .hasMessage("an exchange");
    assertThat(output).containsOnly(0);
  }

  @Test
  void gradientsThatDoNotFit() {
    Saved saved = new Saved(Keep.INPUT, 2);
    NormShard alone = RmsNorm.builder(W).build().shard(0, W);
    alone.apply(x, y, saved, (numbers, from, to) -> {});
    refused(
        () -> shard.backward(y, saved, y, null, exchange),
        "saved is of a forward pass of another norm object, columns 0 to 1023 of RmsNorm(1024, rmsnorm),"
            + " this is columns 1024 to 2047 of RmsNorm(3000, rmsnorm)");
    Rows wide = Rows.of(new float[3000], 3000);
    refused(
        () -> alone.backward(wide, saved, y, null, exchange),
        "dy has rows 3000 wide, the shard is 1024 wide");
    refused(
        () -> alone.backward(y, saved, wide, null, exchange),
        "dx has rows 3000 wide, the shard is 1024 wide");
    refused(
        () -> alone.backward(y, saved, wide, y, null, exchange),
        "dresidual has rows 3000 wide, the shard is 1024 wide");
    refused(
        () ->
            alone.backward(
                y, saved, y, ParameterGradients.assigned(new float[3000], null), exchange),
        "dgain has 3000 elements, the rows are 1024 wide");
    refused(
        () -> alone.backward(y, saved, x, null, exchange),
        "dx overlaps what was kept: it must be other memory");
    assertThatNullPointerException()
        .isThrownBy(() -> alone.backward(y, saved, null, y, null, exchange))
        .withMessage("dresidual is null");
  }
}
