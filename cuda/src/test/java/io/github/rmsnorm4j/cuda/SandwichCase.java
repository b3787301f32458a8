package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.Saved;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * A norm, an addition to a residual and a norm of the sum, drawn from a seed, on the CPU and on a
 * device.
 */
final class SandwichCase {
  private static final Keep[] OF_FIRST = {null, Keep.INPUT, Keep.NOTHING};

  private final SplittableRandom random;
  private final String name;
  private final Set<String> reached;
  private final int rows;
  private final int width;
  private final Half first;
  private final Half next;
  private final TestRows x;
  private final TestRows residual;
  private final TestRows y;
  private final boolean inPlace;

  /**
   * One of the norms.
   *
   * @param keep null if nothing is kept of both
   */
  private record Half(NormSpec spec, TestParameter gain, TestParameter bias, Keep keep) {
    Norm norm(int width) {
      NormBuilder<?> builder = spec.builder(width).threads(1).backend(Backend.scalar());
      if (TestParameter.isOfNorm(gain)) {
        builder.gain(gain.onCpu());
      }
      if (TestParameter.isOfNorm(bias)) {
        builder.bias(bias.onCpu());
      }
      return builder.build();
    }
  }

  SandwichCase(long seed, ElementType type, int rows, int width, Set<String> reached) {
    random = new SplittableRandom(seed);
    this.reached = reached;
    this.rows = rows;
    this.width = width;
    Keep keep = OF_FIRST[random.nextInt(OF_FIRST.length)];
    first = half(keep);
    next = half(keep == null ? null : Keep.values()[random.nextInt(Keep.values().length)]);
    x = drawn(type);
    ElementType[] narrow = {ElementType.FLOAT32, ElementType.FLOAT16, ElementType.BFLOAT16};
    residual = drawn(type == ElementType.FLOAT64 ? type : narrow[random.nextInt(narrow.length)]);
    inPlace = keep == null && random.nextBoolean();
    y = inPlace ? x : TestRows.of(type, rows, width, random.nextInt(3), random.nextInt(3));
    name =
        "seed %d, %d x %d %s, residual %s, %s, then %s"
            .formatted(seed, rows, width, type, residual.type(), first, next);
  }

  private Half half(Keep keep) {
    NormSpec spec =
        NormSpec.RMSNORM
            .withKind(NormSpec.Kind.values()[random.nextInt(3)])
            .withEpsilon(1e-5)
            .withResidualRounding(ResidualRounding.values()[random.nextInt(3)])
            .withGainOffset(random.nextInt(3) == 0 ? 3 : 0);
    int samples = rows % 3 == 0 && random.nextInt(3) == 0 ? 3 : 1;
    TestParameter gain = TestParameter.draw(random, samples * width, samples, 0);
    boolean biased = random.nextInt(3) == 0;
    TestParameter bias = biased ? TestParameter.draw(random, samples * width, samples, 0) : null;
    return new Half(spec, gain, bias, keep);
  }

  private TestRows drawn(ElementType type) {
    TestRows drawn = TestRows.of(type, rows, width, random.nextInt(3), random.nextInt(3));
    for (int row = 0; row < rows; row++) {
      drawn.draw(row, random, random.nextInt(6) == 0);
    }
    return drawn;
  }

  /** Makes the call on the CPU and on a device, and compares all bytes. */
  void checkOn(CudaDevice device, CudaStream stream) {
    try {
      compare(device, stream);
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError(name, e);
    }
    reached.add(first.spec.kind() + " then " + next.spec.kind());
    reached.add("keeps " + first.keep + ", " + next.keep);
    reached.add("in place " + inPlace);
    reached.add(x.type() + " residual " + residual.type());
    for (Half half : new Half[] {first, next}) {
      boolean isFirst = half == first;
      reached.add("first " + isFirst + " of call " + half.gain.ofCall());
      reached.add("first " + isFirst + " samples " + (half.gain.rows().rows() > 1));
    }
  }

  private void compare(CudaDevice device, CudaStream stream) {
    Norm norm = first.norm(width);
    Norm ofSum = next.norm(width);
    TestRows residualOnCpu = residual.copy();
    TestRows yOnCpu = y.copy();
    Saved saved = new Saved(first.keep == null ? Keep.NOTHING : first.keep, rows);
    Saved savedOfSum = new Saved(next.keep == null ? Keep.NOTHING : next.keep, rows);
    // The CPU has no call with gains and in place; its x is a copy.
    norm.withParameters(TestParameter.ofCall(first.gain), TestParameter.ofCall(first.bias))
        .applyAndAdd(
            x.copy().onCpu(),
            residualOnCpu.onCpu(),
            ofSum.withParameters(TestParameter.ofCall(next.gain), TestParameter.ofCall(next.bias)),
            yOnCpu.onCpu(),
            saved,
            savedOfSum);
    TestRows xBefore = x.copy();
    onDevice(norm, ofSum, saved, savedOfSum, device, stream);
    assertThat(residual.difference(residualOnCpu)).as("residual").isNull();
    assertThat(y.difference(yOnCpu)).as("y").isNull();
    if (!inPlace) {
      assertThat(x.difference(xBefore)).as("x").isNull();
    }
  }

  private void onDevice(
      Norm norm, Norm ofSum, Saved saved, Saved savedOfSum, CudaDevice device, CudaStream stream) {
    try (DeviceCopies copies = new DeviceCopies(device)) {
      CudaNorm one = copies.of(norm, first.gain, first.bias).on(stream);
      CudaNorm other = copies.of(ofSum, next.gain, next.bias);
      CudaRows input = copies.of(x);
      CudaRows sum = copies.of(residual);
      if (first.keep == null) {
        one.applyAndAdd(input, sum, other, copies.of(y));
      } else {
        CudaSaved kept = one.saved(first.keep, rows, copies.arena());
        CudaSaved keptOfSum = other.saved(next.keep, rows, copies.arena());
        one.applyAndAdd(input, sum, other, copies.of(y), kept, keptOfSum);
        same("rstd", kept.rstd(), saved.rstd());
        same("mean", kept.mean(), saved.mean());
        same("rstd of the sum", keptOfSum.rstd(), savedOfSum.rstd());
        same("mean of the sum", keptOfSum.mean(), savedOfSum.mean());
        CudaRows keptRows = next.keep == Keep.OUTPUT ? copies.of(y) : sum;
        assertThat(keptOfSum.kept(other).memory().address()).isEqualTo(keptRows.memory().address());
        assertThat(kept.kept(one)).isSameAs(input);
      }
      copies.takeBack();
    }
  }

  private void same(String what, CudaRows actual, double[] wanted) {
    assertThat(actual == null).as(what).isEqualTo(wanted == null);
    if (actual != null) {
      double[] numbers = new double[rows];
      actual.memory().copyTo(MemorySegment.ofArray(numbers));
      assertThat(numbers).as(what).isEqualTo(wanted);
    }
  }
}
