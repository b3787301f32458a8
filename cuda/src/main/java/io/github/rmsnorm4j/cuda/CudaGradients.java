package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.ParameterGradients;

/**
 * The memory of a device that takes the gradients of gain and bias. It is to {@link CudaNorm} what
 * {@link ParameterGradients} is to a norm of the CPU, with the same sums and the same bits.
 *
 * <p>Each gradient is one row, as long as the parameter: of float64 elements if the forward pass
 * was of float64 rows, otherwise of float32 elements.
 *
 * <pre>{@code
 * norm.backward(dy, saved, dx, CudaGradients.added(dgain, null), stream);
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
   * {@return two rows whose values the gradients replace}
   *
   * @param gain takes dgain, as many elements as the gain has; null if dgain is not wanted
   * @param bias takes dbias, as many elements as the bias has; null if dbias is not wanted
   */
  public static CudaGradients assigned(CudaRows gain, CudaRows bias) {
    return new CudaGradients(gain, bias, false);
  }

  /**
   * {@return two rows to whose values the gradients are added, with one addition per element}
   *
   * @param gain takes dgain, as many elements as the gain has; null if dgain is not wanted
   * @param bias takes dbias, as many elements as the bias has; null if dbias is not wanted
   */
  public static CudaGradients added(CudaRows gain, CudaRows bias) {
    return new CudaGradients(gain, bias, true);
  }

  /** Checks both against the rows of a backward call and what was kept. */
  void check(CudaNorm norm, CudaSaved saved, ElementType kept, CallRows rows) {
    check(gain, "dgain", norm.device(), kept);
    check(bias, "dbias", norm.device(), kept);
    norm.checks().gradients(length(gain), length(bias));
    requireApart(gain, "dgain", saved, rows);
    requireApart(bias, "dbias", saved, rows);
    if (gain != null && bias != null) {
      CallRows.requireApart(norm.checks(), "dgain", gain, "dbias", bias);
    }
  }

  private static void requireApart(CudaRows gradient, String name, CudaSaved saved, CallRows rows) {
    if (gradient != null) {
      rows.requireApart(name, gradient);
      saved.requireApart(name, gradient);
    }
  }

  private static int length(CudaRows gradient) {
    return gradient == null ? -1 : gradient.width();
  }

  private static void check(CudaRows gradient, String name, CudaDevice device, ElementType kept) {
    if (gradient == null) {
      return;
    }
    CallRows.requireOn(device, gradient.memory(), name);
    gradient.memory().requireAccess(() -> name);
    if (gradient.rows() != 1) {
      throw new IllegalArgumentException(name + " has " + gradient.rows() + " rows, it must be 1");
    }
    ElementType sums = NormKernels.arithmetic(kept);
    if (gradient.type() != sums) {
      throw new IllegalArgumentException(
          "%s is %s, after a forward pass of %s it must be %s"
              .formatted(name, gradient.type(), kept, sums));
    }
  }

  /** For kernels, after all checks; without memory for tables. */
  BackwardCalls.Gradients onDevice() {
    return new BackwardCalls.Gradients(
        address(gain), address(bias), Math.max(0, Math.max(length(gain), length(bias))), adds, 0);
  }

  private static long address(CudaRows gradient) {
    return gradient == null ? 0 : gradient.memory().address();
  }
}
