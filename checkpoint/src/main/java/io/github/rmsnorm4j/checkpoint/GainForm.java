package io.github.rmsnorm4j.checkpoint;

/** How a model stores the gain g of a norm. */
public enum GainForm {
  /** As it is: Llama. */
  G("g", 0),
  /** Stored as g - 1; the norm adds 1 again: Gemma 1 to 3. */
  G_MINUS_1("g - 1", 1);

  private final String label;
  private final double offset;

  GainForm(String label, double offset) {
    this.label = label;
    this.offset = offset;
  }

  /**
   * What is added to a stored number to get the gain.
   *
   * @return 0 or 1
   */
  public double offset() {
    return offset;
  }

  /** As a table shows it: {@code g} or {@code g - 1}. */
  @Override
  public String toString() {
    return label;
  }
}
