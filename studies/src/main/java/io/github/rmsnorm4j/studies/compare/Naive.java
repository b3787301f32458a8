package io.github.rmsnorm4j.studies.compare;

/**
 * Both norms written as formulas in a framework that runs one operation at a time. Temporaries are
 * freed after their last use, as reference counts free them; backward passes have what automatic
 * differentiation of the forward formula keeps.
 *
 * @param <T> a tensor
 * @param <N> numbers of rows or columns
 */
final class Naive<T, N> {
  private final Operations<T, N> eager;
  private final boolean rms;
  private final double epsilon;
  private final N gain;
  private final N bias;
  private N rstd;
  private T centred;
  private T normalised;
  private N gainGradient;
  private N biasGradient;

  Naive(Operations<T, N> eager, Variant variant, float[] gain, float[] bias) {
    this.eager = eager;
    rms = variant.isRms();
    epsilon = variant.epsilon();
    this.gain = eager.columns(gain);
    this.bias = rms ? null : eager.columns(bias);
  }

  float[] gainGradient() {
    return eager.values(gainGradient);
  }

  /**
   * {@code (x - mean) * rstd * gain + bias}, for RMSNorm {@code x * rstd * gain}.
   *
   * @param keep whether a backward pass follows: then its temporaries stay
   */
  T forward(T x, boolean keep) {
    T d = rms ? x : centred(x);
    T squares = eager.square(d);
    rstd = eager.rstd(eager.rowMeans(squares), epsilon);
    eager.free(squares);
    T t = eager.scale(d, rstd);
    if (keep) {
      centred = d;
      normalised = t;
    } else {
      eager.forgetRows(rstd);
      if (!rms) {
        eager.free(d);
      }
    }
    T scaled = eager.scaleColumns(t, gain);
    if (!keep) {
      eager.free(t);
    }
    if (rms) {
      return scaled;
    }
    T y = eager.shiftColumns(scaled, bias);
    eager.free(scaled);
    return y;
  }

  private T centred(T x) {
    N means = eager.rowMeans(x);
    T d = eager.subtract(x, means);
    eager.forgetRows(means);
    return d;
  }

  /** After {@link #forward}: dx, and the parameters' gradients. */
  T backward(T dy) {
    if (gainGradient != null) {
      eager.forgetColumns(gainGradient);
    }
    if (biasGradient != null) {
      eager.forgetColumns(biasGradient);
    }
    biasGradient = rms ? null : eager.columnSums(dy);
    T product = eager.multiply(dy, normalised);
    gainGradient = eager.columnSums(product);
    eager.free(product);
    T dt = eager.scaleColumns(dy, gain);
    T direct = eager.scale(dt, rstd);
    T dr = eager.multiply(dt, centred);
    eager.free(dt);
    N slopes = eager.throughRoot(eager.rowSums(dr), rstd);
    eager.free(dr);
    T throughRoot = eager.scale(centred, slopes);
    eager.forgetRows(slopes);
    T dd = eager.add(direct, throughRoot);
    eager.free(direct);
    eager.free(throughRoot);
    if (rms) {
      return dd;
    }
    T dx = centred(dd);
    eager.free(dd);
    return dx;
  }
}
