package io.github.rmsnorm4j.cuda;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.ElementType.FLOAT64;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.L2Norm;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** What is refused of gain and bias of calls, of numbers of rows, and of calls of two norms. */
class CudaParametersTest extends RefusedCalls {
  @Test
  void parametersThatDoNotFitTheNorm() {
    CudaRows one = rows(FLOAT32, 1);
    refused(
        () -> norm.withParameters(rows(FLOAT32, 1, 9), null),
        "gain has 1 x 9 elements, the rows are 8 wide");
    refused(
        () -> norm.withParameters(null, rows(BFLOAT16, 0)),
        "bias has 0 x 8 elements, the rows are 8 wide");
    refused(
        () -> norm.withParameters(rows(FLOAT32, 2), one),
        "bias has 8 elements, gain has 16: they must be the same");
    refused(
        () -> norm.withParameters(null, rows(FLOAT32, 2)),
        "bias has 16 elements, gain has 8: they must be the same");
    CudaNorm biased = onStream(LayerNorm.builder(WIDTH).bias(new float[WIDTH]).build());
    refused(
        () -> biased.withParameters(rows(FLOAT32, 2), null),
        "the norm's own bias has 8 elements, gain has 16: they must be the same, pass a bias, too");
    CudaNorm groups = onStream(RmsNorm.builder(WIDTH).groupCount(2).build());
    refused(
        () -> groups.withParameters(rows(FLOAT32, 3), null),
        "gain has 3 rows, for a norm of groups it must have 1");
    refused(
        () -> groups.withParameters(rows(FLOAT32, 1, 5), null),
        "gain has 1 x 5 elements, the rows are 8 wide, their groups 4: it must be one row, with as"
            + " many elements as either");
    CudaNorm llama = onStream(RmsNorm.builder(WIDTH).castOrder(CastOrder.LLAMA).build());
    refused(
        () -> llama.withParameters(null, one),
        "cast order is LLAMA, with a bias it must be FLOAT32");
    CudaRows theirs = CudaRows.of(other.allocate(1000, arena), FLOAT32, 1, WIDTH);
    refused(
        () -> norm.withParameters(theirs, null),
        "gain is in memory of device 1 (Stub GPU B), the norm is on " + DEVICE);
    refused(
        () -> norm.withParameters(null, theirs),
        "bias is in memory of device 1 (Stub GPU B), the norm is on " + DEVICE);
  }

  @Test
  void parametersThatDoNotFitTheCall() {
    CudaNorm samples = norm.withParameters(rows(FLOAT32, 3), rows(FLOAT32, 3));
    refused(
        () -> samples.apply(x, y),
        "gain has 3 rows, x has 4: it must have 1, or a number that divides 4");
    refused(
        () -> norm.withParameters(first(y), null).apply(x, y),
        "y overlaps gain: each must be memory of its own");
    refused(
        () -> norm.withParameters(null, first(y)).apply(x, y),
        "y overlaps bias: each must be memory of its own");
    CudaRows residual = rows(FLOAT32, 4);
    refused(
        () -> norm.withParameters(first(residual), null).addAndApply(x, residual, y),
        "residual overlaps gain: each must be memory of its own");
    CudaNorm freed;
    try (Arena shorter = Arena.ofConfined()) {
      CudaMemory memory = device.allocate(4 * WIDTH, shorter);
      freed = norm.withParameters(CudaRows.of(memory, FLOAT32, 1, WIDTH), null);
    }
    refused(
        () -> freed.apply(x, y),
        IllegalStateException.class,
        "gain is in memory that has been closed");
    // A gain may be x.
    norm.withParameters(first(x), null).apply(x, y);
    stream.synchronize();
    assertThat(stub.calls(EntryPoint.LAUNCH_KERNEL)).hasSize(1);
  }

  private static CudaRows first(CudaRows of) {
    return CudaRows.of(of.memory(), FLOAT32, 1, WIDTH);
  }

  @Test
  void whatABackwardPassReadsMustStay() {
    CudaRows gain = rows(FLOAT32, 2);
    gain.memory().copyFrom(arena.allocate(gain.memory().byteSize()));
    CudaNorm given = norm.withParameters(gain, null);
    CudaSaved saved = norm.saved(Keep.INPUT, 4, arena);
    CudaRows rstd = CudaRows.of(statistic(saved), FLOAT32, 1, WIDTH);
    refused(
        () -> norm.withParameters(rstd, null).apply(x, y, saved),
        "gain overlaps the rstd or the mean of saved: each must be memory of its own");
    given.apply(x, y, saved);
    stream.synchronize();
    stub.calls();
    CudaRows dx = rows(FLOAT32, 4);
    CudaRows dgain = rows(FLOAT32, 2);
    String of = " on " + DEVICE;
    refused(
        () -> norm.backward(y, saved, dx, null),
        "saved is of a forward pass of another norm object, LayerNorm(8, layernorm, gain)"
            + of
            + ", with gain 2 x 8 float32, this is LayerNorm(8, layernorm, gain)"
            + of);
    CudaRows over = CudaRows.of(gain.memory(), FLOAT32, 2, WIDTH);
    CudaRows four = rows(FLOAT32, 4);
    CudaNorm ofFour = norm.withParameters(four, null);
    ofFour.apply(x, y, saved);
    stream.synchronize();
    stub.calls();
    refused(
        () -> ofFour.backward(y, saved, four, null),
        "dx overlaps gain: each must be memory of its own");
    given.apply(x, y, saved);
    stream.synchronize();
    stub.calls();
    refused(
        () -> given.backward(y, saved, dx, added(over, null)),
        "gain overlaps dgain: each must be memory of its own");
    refused(
        () -> given.backward(y, saved, dx, added(rows(FLOAT32, 1), null)),
        "dgain has 1 rows, it must have 2, as gain or bias");
    refused(
        () -> given.backward(y, saved, dx, added(null, rows(FLOAT32, 2, 9))),
        "dbias has 18 elements, it must have as many as the other parameters, 16");
    given.backward(y, saved, dx, added(dgain, null));
    stream.synchronize();
  }

  private CudaMemory statistic(CudaSaved saved) {
    norm.apply(x, y, saved);
    stream.synchronize();
    stub.calls();
    return saved.rstd().memory();
  }

  /** Nobody reads a gain in the memory of the device; the norm's own has been read. */
  @Test
  void theOutputIsKeptWithAGainThatNobodyHasLookedAt() {
    CudaRows gain = rows(FLOAT32, 1);
    gain.memory().copyFrom(arena.allocate(gain.memory().byteSize()));
    CudaSaved saved = norm.saved(Keep.OUTPUT, 4, arena);
    CudaNorm given = norm.withParameters(gain, null);
    x.memory().copyFrom(MemorySegment.ofArray(new float[] {1, 2, 3, 4, 5, 6, 7, 8}));
    given.apply(x, y, saved);
    CudaRows dx = rows(FLOAT32, 4);
    given.backward(x, saved, dx, null);
    stream.synchronize();
    float[] numbers = new float[4 * WIDTH];
    dx.memory().copyTo(MemorySegment.ofArray(numbers));
    assertThat(numbers[0]).isNaN();
    stub.calls();
    refused(
        () -> norm.apply(x, y, saved),
        "element 0 of the gain is 0, to go back from the output none may be: keep the input");
    CudaNorm partial = onStream(RmsNorm.builder(WIDTH).part(RowPart.of(3, WIDTH)).build());
    CudaSaved ofPart = partial.saved(Keep.OUTPUT, 4, arena);
    refused(
        () -> partial.withParameters(gain, null).apply(x, y, ofPart),
        "part is 3, to go back from the output it must be the width");
  }

  @Test
  void numbersOfRows() {
    CudaRows four = statistics(4, 1);
    refused(
        () -> norm.apply(x, y, CudaStatistics.length(four)),
        "length is of an L2 norm, the norm is LayerNorm(8, layernorm, gain)");
    CudaNorm rms = onStream(RmsNorm.builder(WIDTH).build());
    refused(
        () -> rms.apply(x, y, CudaStatistics.meanAndRstd(four, statistics(4, 1))),
        "mean is of a LayerNorm, the norm is RmsNorm(8, rmsnorm)");
    refused(
        () -> norm.apply(x, y, CudaStatistics.rstd(statistics(5, 1))),
        "rstd is 5 x 1 float64, it must be 4 x 1 float64 without gaps: a number for each row");
    CudaRows gaps = CudaRows.of(device.allocate(100, arena), FLOAT64, 4, 1, 2);
    refused(
        () -> norm.apply(x, y, CudaStatistics.meanAndRstd(gaps, four)),
        "mean is 4 x 1 float64 at a stride of 2, it must be 4 x 1 float64 without gaps: a number"
            + " for each row");
    refused(
        () -> norm.apply(x, y, CudaStatistics.rstd(rows(FLOAT32, 4, 1))),
        "rstd is 4 x 1 float32, it must be 4 x 1 float64 without gaps: a number for each row");
    CudaNorm groups = onStream(RmsNorm.builder(WIDTH).groupCount(2).build());
    refused(
        () -> groups.apply(x, y, CudaStatistics.rstd(four)),
        "rstd is 4 x 1 float64, it must be 4 x 2 float64 without gaps: a number for each group of"
            + " each row");
    refused(
        () -> norm.apply(x, y, CudaStatistics.meanAndRstd(four, four)),
        "mean overlaps rstd: each must be memory of its own");
    CudaRows ofY = CudaRows.of(y.memory(), FLOAT64, 4, 1);
    refused(
        () -> norm.apply(x, y, CudaStatistics.rstd(ofY)),
        "y overlaps rstd: each must be memory of its own");
    CudaRows theirs = CudaRows.of(other.allocate(100, arena), FLOAT64, 4, 1);
    refused(
        () -> norm.apply(x, y, CudaStatistics.rstd(theirs)),
        "rstd is in memory of device 1 (Stub GPU B), the norm is on " + DEVICE);
    CudaStatistics freed;
    try (Arena shorter = Arena.ofConfined()) {
      freed = CudaStatistics.rstd(CudaRows.of(device.allocate(32, shorter), FLOAT64, 4, 1));
    }
    refused(
        () -> norm.apply(x, y, freed),
        IllegalStateException.class,
        "rstd was freed: its arena is closed");
    refused(() -> CudaStatistics.rstd(null), NullPointerException.class, "rstd is null");
    refused(() -> CudaStatistics.length(null), NullPointerException.class, "length is null");
    refused(
        () -> CudaStatistics.meanAndRstd(null, four), NullPointerException.class, "mean is null");
    CudaNorm l2 = onStream(L2Norm.builder(WIDTH).build());
    l2.apply(x, y, CudaStatistics.length(four));
    stream.synchronize();
  }

  private CudaRows statistics(int rows, int groups) {
    return CudaRows.of(device.allocate(8L * rows * groups, arena), FLOAT64, rows, groups);
  }

  /** The texts are those of the CPU. */
  @Test
  void twoNorms() {
    CudaRows residual = rows(FLOAT32, 4);
    CudaNorm nine = onStream(RmsNorm.builder(9).build());
    refused(() -> norm.applyAndAdd(x, residual, nine, y), "next is 9 wide, the norm is 8 wide");
    refused(
        () -> norm.applyAndAdd(x, residual, null, y), NullPointerException.class, "next is null");
    refused(
        () -> norm.applyAndAdd(x, residual, norm, residual),
        "y overlaps residual: each must be memory of its own");
    refused(
        () -> norm.applyAndAdd(x, rows(FLOAT32, 1), norm, y),
        "residual has 1 rows, x has 4: they must be the same");
    CudaNorm gated = onStream(RmsNorm.builder(WIDTH).gate(Gate.SILU).build());
    refused(
        () -> norm.applyAndAdd(x, residual, gated, y),
        "next has the gate silu, for applyAndAdd it must have none");
    refused(
        () -> gated.applyAndAdd(x, residual, norm, y),
        "the norm has the gate silu, for applyAndAdd it must have none");
    CudaNorm theirs = other.norm(RmsNorm.builder(WIDTH).build(), arena);
    refused(
        () -> norm.applyAndAdd(x, residual, theirs, y),
        "next is on device 1 (Stub GPU B), the norm is on " + DEVICE);
    refused(
        () -> norm.applyAndAdd(x, residual, norm, rows(BFLOAT16, 4)),
        "y is bfloat16, x is float32: for applyAndAdd on a device they must be the same");
    CudaSaved saved = norm.saved(Keep.INPUT, 4, arena);
    CudaSaved ofNext = norm.saved(Keep.INPUT, 4, arena);
    refused(
        () -> norm.applyAndAdd(x, residual, norm, y, saved, saved),
        "saved and savedOfNext are one object: each needs its own");
    CudaSaved output = norm.saved(Keep.OUTPUT, 4, arena);
    refused(
        () -> norm.applyAndAdd(x, residual, norm, y, output, ofNext),
        "saved keeps the output, which is not stored: it must keep the input or nothing");
    refused(
        () -> norm.applyAndAdd(x, residual, norm, x, saved, ofNext),
        "y is x, but the input is to be kept: write elsewhere");
    CudaSaved one = norm.saved(Keep.INPUT, 1, arena);
    refused(
        () -> norm.applyAndAdd(x, residual, norm, y, saved, one),
        "savedOfNext has room for 1 rows, there are 4");
    refused(
        () -> norm.applyAndAdd(x, residual, norm, y, saved, null),
        NullPointerException.class,
        "savedOfNext is null");
    CudaNorm another = onStream(RmsNorm.builder(WIDTH).build());
    refused(
        () -> norm.applyAndAdd(x, residual, another, y, saved, ofNext),
        "savedOfNext is of LayerNorm(8, layernorm, gain) on %s, this is RmsNorm(8, rmsnorm) on %s"
            .formatted(DEVICE, DEVICE));
    CudaNorm ofSum = norm.withParameters(first(residual), null);
    String overwritten = "residual overlaps gain: each must be memory of its own";
    refused(() -> ofSum.applyAndAdd(x, residual, norm, y), overwritten);
    refused(() -> norm.applyAndAdd(x, residual, ofSum, y), overwritten);
    CudaNorm three = norm.withParameters(rows(FLOAT32, 3), null);
    refused(
        () -> three.applyAndAdd(x, residual, norm, y),
        "gain has 3 rows, x has 4: it must have 1, or a number that divides 4");
  }
}
