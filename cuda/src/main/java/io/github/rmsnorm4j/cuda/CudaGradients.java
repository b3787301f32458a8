package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.ParameterGradients;

/**
 * The memory of a device that takes the gradients of gain and bias. It is to {@link CudaNorm} what
 * {@link ParameterGradients} is to a norm of the CPU, with the same sums and the same bits.
 *
 * <p>Each gradient has the shape of the parameter: one row, or a row for each sample. Its elements
 * are float64 if the forward pass was of float64 rows, otherwise float32.
 *
 * <pre>{@code
 * norm.backward(dy, saved, dx, CudaGradients.added(dgain, null));
 * }</pre>
 */
public final class CudaGradients {
  /** For calls that want no gradient of a parameter. */
  static final CudaGradients NONE = new CudaGradients(null, null, false);

  private final CudaRows gain;
  private final CudaRows bias;
  private final boolean adds;

  private CudaGradients(CudaRows gain, CudaRows bias, boolean adds) {
    this.gain = gain;
    this.bias = bias;
    this.adds = adds;
  }

  /**
   * {@return memory whose values the gradients replace}
   *
   * @param gain takes dgain, in the shape of the gain; null if dgain is not wanted
   * @param bias takes dbias, in the shape of the bias; null if dbias is not wanted
   */
  public static CudaGradients assigned(CudaRows gain, CudaRows bias) {
    return new CudaGradients(gain, bias, false);
  }

  /**
   * {@return memory to whose values the gradients are added, with one addition per element}
   *
   * @param gain takes dgain, in the shape of the gain; null if dgain is not wanted
   * @param bias takes dbias, in the shape of the bias; null if dbias is not wanted
   */
  public static CudaGradients added(CudaRows gain, CudaRows bias) {
    return new CudaGradients(gain, bias, true);
  }

  /** Checks both against the rows of a backward call and what was kept. */
  void check(CudaNorm norm, CudaSaved saved, ElementType kept, CallRows rows) {
    check(gain, "dgain", norm, kept);
    check(bias, "dbias", norm, kept);
    norm.parts().checks().gradients(norm.parameters().forChecks(), length(gain), length(bias));
    requireApart(gain, "dgain", saved, rows);
    requireApart(bias, "dbias", saved, rows);
    if (gain != null && bias != null) {
      CallRows.requireApart(norm.parts().checks(), "dgain", gain, "dbias", bias);
    }
  }

  private static void requireApart(CudaRows gradient, String name, CudaSaved saved, CallRows rows) {
    if (gradient != null) {
      rows.requireApart(name, gradient);
      saved.requireApart(name, gradient);
    }
  }

  private static int length(CudaRows gradient) {
    return gradient == null
        ? -1
        : (int) Math.min(Integer.MAX_VALUE, gradient.rows() * gradient.width());
  }

  private static void check(CudaRows gradient, String name, CudaNorm norm, ElementType kept) {
    if (gradient == null) {
      return;
    }
    CallRows.requireOn(norm.device(), gradient.memory(), name);
    gradient.memory().requireAccess(() -> name);
    long samples = norm.parameters().samples();
    if (gradient.rows() != samples) {
      throw new IllegalArgumentException(
          "%s has %s rows, it must have %s"
              .formatted(name, gradient.rows(), samples == 1 ? 1 : samples + ", as gain or bias"));
    }
    ElementType sums = NormKernels.arithmetic(kept);
    if (gradient.type() != sums) {
      throw new IllegalArgumentException(
          "%s is %s, after a forward pass of %s it must be %s"
              .formatted(name, gradient.type(), kept, sums));
    }
  }

  /** For kernels, after all checks; without memory for tables. */
  BackwardCalls.Gradients onDevice(int groupWidth) {
    return new BackwardCalls.Gradients(column(gain, groupWidth), column(bias, groupWidth), adds, 0);
  }

  private static DeviceColumn column(CudaRows gradient, int groupWidth) {
    return gradient == null ? null : DeviceColumn.of(gradient, groupWidth, 0);
  }
}
