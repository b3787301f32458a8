package io.github.rmsnorm4j.models.check;

/**
 * One row under one form: its statistics, and each element for a given scale and mean. The scale is
 * rstd, or the root where the form divides by it.
 */
final class Elements {
  private final Form form;
  private final boolean float64;
  private final PreparedRow row;
  private final double[] normalised;
  private final double[] gain;
  private final double[] bias;
  private final double mean;
  private final double hi;
  private final double lo;

  Elements(Form form, PreparedRow row, Parameters parameters) {
    this.form = form;
    this.float64 = form.float64();
    this.row = row;
    this.normalised = row.normalised;
    this.gain = parameters.gain();
    this.bias = parameters.bias();
    this.mean = form.layer() ? row.mean() : 0;
    this.hi = (float) mean;
    this.lo = (float) (mean - hi);
  }

  int width() {
    return normalised.length;
  }

  /** The mean square of a part, or the variance. */
  double moment(int part) {
    return form.layer() ? row.variance() : row.meanSquare(part);
  }

  /** One of the squares of the statistic. */
  double square(int i) {
    return row.measured[i] * row.measured[i];
  }

  /** The mean, or what is added to a row that is shifted; 0 for RMSNorm. */
  double centre(double scale) {
    return form.shifts() ? -rounded(rounded(mean) * scale) : rounded(mean);
  }

  /** How far a system's centre may be from that. */
  double centreTolerance(double scale) {
    return form.shifts() ? meanTolerance() * scale + 2 * ulp(centre(scale)) : meanTolerance();
  }

  /** The size of the mean. */
  double mean() {
    return Math.abs(mean);
  }

  boolean findsMean() {
    return form.layer() && form.centring() != Centring.SPLIT;
  }

  /** The scale of a statistic, rounded to the arithmetic. */
  double scale(Statistic statistic) {
    boolean exact = form.root() != CastForm.Root.IN_ROW_TYPE;
    double root = exact ? statistic.root(moment(statistic.part())) : rootInRowType(statistic);
    return form.arithmetic().round(form.divides() ? root : 1 / root);
  }

  /** Every step is rounded to the type of the row, except the sum, as in this library. */
  private double rootInRowType(Statistic statistic) {
    double sum = 0;
    for (int i = 0; i < statistic.part(); i++) {
      sum += inRowType(square(i));
    }
    double m = inRowType(sum / statistic.part());
    double epsilon = inRowType(statistic.epsilon());
    return switch (statistic.place()) {
      case INSIDE -> {
        double root = Math.sqrt(inRowType(m + epsilon));
        yield form.divides() ? inRowType(root) : root;
      }
      case OUTSIDE -> inRowType(inRowType(Math.sqrt(m)) + epsilon);
      case FLOOR -> Math.max(inRowType(Math.sqrt(m)), epsilon);
    };
  }

  private double inRowType(double value) {
    return form.input().round((float) value);
  }

  /** One element, rounded wherever the form rounds. */
  double at(int i, double scale, double centre) {
    double s = form.root() == CastForm.Root.EXACT ? scale : form.input().round(scale);
    double n = scaled(i, s, centre);
    if (form.cast() != null) {
      n = form.cast().round(n);
    }
    if (form.bias() == BiasAddition.FUSED) {
      return form.output().round(fused(n, gain[i], bias[i]));
    }
    if (gain != null && form.step() != CastForm.Step.GAIN_FIRST) {
      n = rounded(n * gain[i]);
      n = form.product() == null ? n : form.product().round(n);
    }
    if (bias != null) {
      n = rounded(n + bias[i]);
    }
    return form.output().round(n);
  }

  private double scaled(int i, double s, double centre) {
    double v = normalised[i];
    double c =
        switch (form.centring()) {
          case NONE -> v;
          case SPLIT -> rounded(rounded(v - hi) - lo);
          case MEAN -> rounded(v - centre);
          case SHIFT -> rounded(rounded(v * s) + centre);
          case FUSED_SHIFT -> fused(v, s, centre);
        };
    if (form.shifts()) {
      return c;
    }
    return switch (form.step()) {
      case MULTIPLY -> rounded(c * s);
      case DIVIDE -> rounded(c / s);
      case GAIN_FIRST -> rounded(c * rounded(s * gain[i]));
    };
  }

  /** a * b + c with one rounding. */
  private double fused(double a, double b, double c) {
    return float64 ? Math.fma(a, b, c) : Math.fma((float) a, (float) b, (float) c);
  }

  /** Rounds to the compute type. */
  double rounded(double value) {
    return float64 ? value : (float) value;
  }

  /** What an element would be without any rounding. */
  double exact(int i, double root) {
    double n = direction(i) / root;
    return bias == null ? n : n + bias[i];
  }

  /** What the element, less the bias, is in proportion to: the row times the gain. */
  double direction(int i) {
    double c = normalised[i] - mean;
    return gain == null ? c : c * gain[i];
  }

  double gain(int i) {
    return gain == null ? 1 : gain[i];
  }

  double bias(int i) {
    return bias == null ? 0 : bias[i];
  }

  /** How far a mean that was summed in the compute type may be from the exact one. */
  double meanTolerance() {
    if (!findsMean()) {
      return 0;
    }
    double byMean = (2 + 1.5 * Math.sqrt(width())) * Math.abs(mean);
    return form.arithmetic().unitRoundoff() * (byMean + 4 * deviation());
  }

  /** The root of the variance; 0 for RMSNorm. */
  double deviation() {
    return form.layer() ? Math.sqrt(row.variance()) : 0;
  }

  /** The distance between neighbours of the compute type. */
  private double ulp(double value) {
    return float64 ? Math.ulp(value) : Math.ulp((float) value);
  }

  /** The place of a number among those of the compute type; that of 0 is 0. */
  long ordinal(double value) {
    double size = Math.abs(value);
    long bits = float64 ? Double.doubleToLongBits(size) : Float.floatToIntBits((float) size);
    return value < 0 ? -bits : bits;
  }

  /** The number at a place. */
  double ofOrdinal(long place) {
    long bits = Math.abs(place);
    double size = float64 ? Double.longBitsToDouble(bits) : Float.intBitsToFloat((int) bits);
    return place < 0 ? -size : size;
  }

  double value(int i) {
    return normalised[i];
  }
}
