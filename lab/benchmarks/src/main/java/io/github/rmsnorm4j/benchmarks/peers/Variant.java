package io.github.rmsnorm4j.benchmarks.peers;

import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.QuantizedType;

/**
 * Something that is measured in a run of {@link Run#VARIANTS}: a norm, one of its variants, or the
 * calls that a variant replaces.
 *
 * @param title for example {@code norm to q8_0}
 * @param own whether this library computes it, and not another system
 */
public record Variant(String title, boolean own) {
  /** The plain norm of the contest, with a gain and, for LayerNorm, a bias. */
  public static final Variant NORM = own("norm");

  /** The plain norm, without a gain. */
  public static final Variant WITHOUT_GAIN = own("norm without gain");

  /** Groups by count: eight of a row. */
  public static final Variant EIGHT_GROUPS = own("norm of 8 groups");

  /** Groups by size: heads of 128 elements, which all have the same gain. */
  public static final Variant HEADS = own("norm of heads");

  /** Heads of 128 elements, each with a gain of its own. */
  public static final Variant HEADS_WITH_GAINS = own("norm of heads, gain of a row");

  /** The L2 norm, which has no gain. */
  public static final Variant L2 = own("L2 norm");

  /** Cast order ROUNDED_ROOT, which has no gain. */
  public static final Variant ROUNDED_ROOT = own("rounded root");

  /** Norm, addition to the residual and next norm in one call. */
  public static final Variant SANDWICH = own("sandwich");

  /** The same as a norm, and a call that adds to the residual and normalises. */
  public static final Variant SANDWICH_IN_TWO = own("sandwich in 2 calls");

  /** The same as a norm, a loop that adds to the residual, and a norm. */
  public static final Variant SANDWICH_IN_THREE = own("sandwich in 3 calls");

  /** The norm whose gain and bias are those of the call, a row for each sample. */
  public static final Variant MODULATED = own("modulated norm");

  /** RMSNormalization and DynamicQuantizeLinear, with one scale for all rows, in one graph. */
  public static final Variant ONNX_RUNTIME =
      new Variant(Systems.ONNX_RUNTIME + "norm to uint8", false);

  private static Variant own(String title) {
    return new Variant(title, true);
  }

  /**
   * {@return the norm that writes its output as codes and scales}
   *
   * @param type of the output
   */
  public static Variant to(QuantizedType type) {
    return own("norm to " + type);
  }

  /**
   * {@return the norm, and the quantisation of its output, as two calls}
   *
   * @param type of the output
   */
  public static Variant twoCalls(QuantizedType type) {
    return own("norm, then " + type);
  }

  /**
   * {@return the norm with a gate}
   *
   * @param gate any but NONE
   */
  public static Variant gated(Gate gate) {
    return own("norm with gate " + gate);
  }

  /**
   * {@return what it is called in the results of a run}
   *
   * @param kind what it runs on; another system has its own kernels
   */
  public String system(KernelKind kind) {
    return own ? "%s %s, %s".formatted(Systems.OWN, title, kind.title()) : title;
  }
}
