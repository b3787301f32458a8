package io.github.rmsnorm4j.cuda.check;

import java.util.Locale;

/** What a call of the check may have beside a norm, types and a shape. */
enum Trait {
  GAIN,
  BIAS,
  /** A gain, and a bias if there is one, as long as a group. */
  OF_GROUP,
  RESIDUAL,
  IN_PLACE,
  /** Rows that are apart and at odd addresses, so that no access takes several elements. */
  APART,
  /** Some rows leave the range of the arithmetic. */
  OUT_OF_RANGE,
  /** Statistics are kept. */
  KEPT,
  BACKWARD,
  /** The gradients of gain and bias are wanted. */
  GRADIENTS;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
