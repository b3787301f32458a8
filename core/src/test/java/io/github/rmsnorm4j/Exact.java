package io.github.rmsnorm4j;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * RMSNorm and LayerNorm in decimals of 50 digits, with no limit to their range: the exact answer.
 */
final class Exact {
  private static final MathContext DIGITS = new MathContext(50, RoundingMode.HALF_EVEN);

  final BigDecimal[] y;
  final BigDecimal mean;
  final BigDecimal rstd;

  /** Elements less the mean. */
  final BigDecimal[] d;

  /** Of one row; gain and bias may be null. */
  Exact(boolean centred, double[] x, double epsilon, double[] gain, double[] bias) {
    int n = x.length;
    BigDecimal count = BigDecimal.valueOf(n);
    BigDecimal sum = BigDecimal.ZERO;
    for (double v : x) {
      sum = sum.add(new BigDecimal(v));
    }
    mean = centred ? sum.divide(count, DIGITS) : BigDecimal.ZERO;
    d = new BigDecimal[n];
    BigDecimal squares = BigDecimal.ZERO;
    for (int i = 0; i < n; i++) {
      d[i] = new BigDecimal(x[i]).subtract(mean, DIGITS);
      squares = squares.add(d[i].multiply(d[i]), DIGITS);
    }
    BigDecimal variance = squares.divide(count, DIGITS).add(new BigDecimal(epsilon), DIGITS);
    rstd = BigDecimal.ONE.divide(variance.sqrt(DIGITS), DIGITS);
    y = new BigDecimal[n];
    for (int i = 0; i < n; i++) {
      BigDecimal v = d[i].multiply(rstd, DIGITS);
      v = gain == null ? v : v.multiply(new BigDecimal(gain[i]), DIGITS);
      y[i] = bias == null ? v : v.add(new BigDecimal(bias[i]), DIGITS);
    }
  }

  /** How far a computed element is off. */
  double error(int i, double computed) {
    return y[i].subtract(new BigDecimal(computed)).abs().doubleValue();
  }
}
