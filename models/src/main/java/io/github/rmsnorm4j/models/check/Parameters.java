package io.github.rmsnorm4j.models.check;

/**
 * Gain and bias as a form has them.
 *
 * @param gain one factor per element, or null
 * @param bias one term per element, or null
 */
record Parameters(double[] gain, double[] bias) {
  static Parameters of(Form form, Sample sample) {
    double[] gain = rounded(sample.gain, form);
    for (int i = 0; gain != null && i < gain.length; i++) {
      if (form.offset() != 0) {
        gain[i] = form.arithmetic().round(form.offset() + gain[i]);
      }
      if (form.gain() != null) {
        gain[i] = form.gain().round(gain[i]);
      }
    }
    return new Parameters(gain, rounded(sample.bias, form));
  }

  private static double[] rounded(double[] stored, Form form) {
    if (stored == null) {
      return null;
    }
    double[] values = new double[stored.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = form.arithmetic().round(stored[i]);
    }
    return values;
  }
}
