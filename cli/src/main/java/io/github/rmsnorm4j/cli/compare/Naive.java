package io.github.rmsnorm4j.cli.compare;

import java.lang.foreign.MemorySegment;

/**
 * Both norms written as formulas in a framework that runs one operation at a time. Temporaries are
 * freed after their last use, as reference counts free them; backward passes have what automatic
 * differentiation of the forward formula keeps.
 */
final class Naive {
  private final Eager eager;
  private final boolean rms;
  private final double epsilon;
  private final int width;
  private final float[] gain;
  private final float[] bias;
  private float[] rstd;
  private MemorySegment centred;
  private MemorySegment normalised;
  private float[] gainGradient;
  private float[] biasGradient;

  Naive(Eager eager, Variant variant, float[] gain, float[] bias) {
    this.eager = eager;
    rms = variant.isRms();
    epsilon = variant.epsilon();
    width = gain.length;
    this.gain = gain;
    this.bias = bias;
  }

  float[] gainGradient() {
    return gainGradient;
  }

  float[] biasGradient() {
    return biasGradient;
  }

  /**
   * {@code (x - mean) * rstd * gain + bias}, for RMSNorm {@code x * rstd * gain}.
   *
   * @param keep whether a backward pass follows: then its temporaries stay
   */
  MemorySegment forward(MemorySegment x, boolean keep) {
    MemorySegment d = rms ? x : eager.subtract(x, eager.rowMeans(x));
    MemorySegment squares = eager.square(d);
    rstd = rstd(eager.rowMeans(squares));
    eager.free(squares);
    MemorySegment t = eager.scale(d, rstd);
    if (keep) {
      centred = d;
      normalised = t;
    } else if (!rms) {
      eager.free(d);
    }
    MemorySegment scaled = eager.scaleColumns(t, gain);
    if (!keep) {
      eager.free(t);
    }
    if (rms) {
      return scaled;
    }
    MemorySegment y = eager.shiftColumns(scaled, bias);
    eager.free(scaled);
    return y;
  }

  private float[] rstd(float[] variances) {
    for (int r = 0; r < variances.length; r++) {
      float sum = eager.rounded(variances[r] + (float) epsilon);
      variances[r] = eager.rounded((float) (1 / Math.sqrt(sum)));
    }
    return variances;
  }

  /** After {@link #forward}: dx, and the parameters' gradients. */
  MemorySegment backward(MemorySegment dy) {
    biasGradient = rms ? null : eager.columnSums(dy);
    MemorySegment product = eager.multiply(dy, normalised);
    gainGradient = eager.columnSums(product);
    eager.free(product);
    MemorySegment dt = eager.scaleColumns(dy, gain);
    MemorySegment direct = eager.scale(dt, rstd);
    MemorySegment dr = eager.multiply(dt, centred);
    eager.free(dt);
    float[] slopes = throughRoot(eager.rowSums(dr));
    eager.free(dr);
    MemorySegment throughRoot = eager.scale(centred, slopes);
    MemorySegment dd = eager.add(direct, throughRoot);
    eager.free(direct);
    eager.free(throughRoot);
    if (rms) {
      return dd;
    }
    MemorySegment dx = eager.subtract(dd, eager.rowMeans(dd));
    eager.free(dd);
    return dx;
  }

  /** From the gradients of rstd to what each centred element is multiplied by. */
  private float[] throughRoot(float[] rstdGradients) {
    for (int r = 0; r < rstdGradients.length; r++) {
      float cube = rstd[r] * rstd[r] * rstd[r];
      rstdGradients[r] = eager.rounded(-rstdGradients[r] * cube / width);
    }
    return rstdGradients;
  }
}
