package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * The exponential of docs/numerics.md is within 2 units in the last place. {@link ContractGate} has
 * it once more; that kernels have its bits is tested by {@link PartsBitsTest}.
 */
class ExponentialTest {
  /** From it on the result is infinity, and down from the other one 0. */
  private static final float INFINITY = 0x1.62e43p6f;

  private static final float ZERO = -0x1.5bf5bcp6f;
  private static final int ARGUMENTS = 1 << 20;

  /** All 2^32 arguments take minutes; dev-docs/kernels.md has the command. */
  private static final boolean ALL = Boolean.getBoolean("rmsnorm4j.allArguments");

  @Test
  void float32IsWithinTwoUnits() {
    long last = ALL ? 1L << 32 : ARGUMENTS;
    int step = ALL ? 1 : 4093;
    double worst = 0;
    for (long i = 0; i < last; i++) {
      float x = Float.intBitsToFloat((int) (i * step));
      worst = Math.max(worst, error(x));
    }
    for (int i = 0; i < ARGUMENTS; i++) {
      worst = Math.max(worst, error(-87.5f + i * 0x1.6p-13f));
    }
    assertThat(worst).isLessThan(0.9);
  }

  private static double error(float x) {
    float actual = ContractGate.exp(x);
    if (Float.isNaN(x) || x >= INFINITY || x <= ZERO) {
      Float wanted = Float.isNaN(x) ? Float.NaN : x > 0 ? Float.POSITIVE_INFINITY : 0f;
      assertThat(Float.valueOf(actual)).as("exp(%s)", x).isEqualTo(wanted);
      return 0;
    }
    double exact = Math.exp(x);
    return Math.abs(actual - exact) / Math.ulp((float) exact);
  }

  @Test
  void float64IsWithinTwoUnits() {
    SplittableRandom random = new SplittableRandom(1);
    double worst = 0;
    for (int i = 0; i < ARGUMENTS; i++) {
      double x = random.nextDouble(-708, 709.7) * (i % 2 == 0 ? 1 : 0x1p-9);
      double exact = StrictMath.exp(x);
      worst = Math.max(worst, Math.abs(ContractGate.exp(x) - exact) / Math.ulp(exact));
    }
    assertThat(worst).isLessThanOrEqualTo(2);
    assertThat(ContractGate.exp(0.0)).isEqualTo(1);
    assertThat(ContractGate.exp(709.8)).isEqualTo(Double.POSITIVE_INFINITY);
    assertThat(ContractGate.exp(-708.1)).isEqualTo(0);
    assertThat(ContractGate.exp(Double.NaN)).isNaN();
  }
}
