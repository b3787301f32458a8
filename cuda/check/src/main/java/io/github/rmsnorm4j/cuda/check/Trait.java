package io.github.rmsnorm4j.cuda.check;

import java.util.Locale;

/** What a call of the check may have beside a norm, types and a shape. */
enum Trait {
  GAIN,
  BIAS,
  /** A gain, and a bias if there is one, as long as a group. */
  OF_GROUP,
  /** Gain and bias come with the call, from memory of the device. */
  OF_CALL,
  /** The same, with a row of them for each of three samples. */
  OF_SAMPLES,
  RESIDUAL,
  /** The norm, the residual and the norm again in one call. */
  PAIR,
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
