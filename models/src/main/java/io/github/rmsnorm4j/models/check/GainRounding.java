package io.github.rmsnorm4j.models.check;

/** What the gain with its offset is rounded to when it is loaded. One line for each. */
public enum GainRounding {
  /** To nothing but the compute type. */
  NEVER,
  /** To the type of the row. */
  TO_ROW,
  /** To the type in which the gain is stored. */
  TO_STORED
}
