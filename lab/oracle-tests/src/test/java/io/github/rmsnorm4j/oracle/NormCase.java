package io.github.rmsnorm4j.oracle;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;

/**
 * Rows to normalise, and how. Every number is held as a double that the case's type has exactly, so
 * that libtorch and this library start from the same bits.
 *
 * @param name says where the rows come from, seed included
 * @param centred LayerNorm if true, RMSNorm if false
 * @param gain one factor per element of a row, or null
 * @param bias one term per element of a row, or null
 */
record NormCase(
    String name,
    boolean centred,
    ElementType type,
    int width,
    double epsilon,
    double[] x,
    double[] gain,
    double[] bias) {

  int rows() {
    return x.length / width;
  }

  /** This library's answer. */
  double[] normalise() {
    Rows y = Elements.rows(new double[x.length], type, width);
    norm().apply(Elements.rows(x, type, width), y);
    return Elements.values(y);
  }

  /** This library's row statistics: means (zero for RMSNorm), and rstd. */
  Statistics statistics() {
    Rows in = Elements.rows(x, type, width);
    Rows out = Elements.rows(new double[x.length], type, width);
    double[] mean = new double[rows()];
    double[] rstd = new double[rows()];
    if (norm() instanceof LayerNorm layer) {
      layer.apply(in, out, mean, rstd);
    } else {
      ((RmsNorm) norm()).apply(in, out, rstd);
    }
    return new Statistics(mean, rstd);
  }

  private Norm norm() {
    return centred
        ? configured(LayerNorm.builder(width)).build()
        : configured(RmsNorm.builder(width)).build();
  }

  private <B extends NormBuilder<B>> B configured(B builder) {
    if (gain != null) {
      builder.gain(Elements.rows(gain, type, width));
    }
    if (bias != null) {
      builder.bias(Elements.rows(bias, type, width));
    }
    return builder.epsilon(epsilon);
  }

  @Override
  public String toString() {
    return String.format(
        "%s %s, width %d, epsilon %s%s%s, %s",
        centred ? "LayerNorm" : "RMSNorm",
        type,
        width,
        epsilon,
        gain == null ? "" : ", gain",
        bias == null ? "" : ", bias",
        name);
  }

  /** One number per row. */
  record Statistics(double[] mean, double[] rstd) {}
}
