package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.KernelSignature;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.cuda.ptx.RowKernel;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.ForwardFormula;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The kernels of norms, each made once. */
final class NormKernels {
  private static final Map<KernelSignature, PtxKernel> KERNELS = new ConcurrentHashMap<>();

  private NormKernels() {}

  /**
   * The kernel of a forward pass.
   *
   * @param choices of the norm, for rows of the type of x
   * @param types the types of the rows of the call, among them those of parts of the gain and the
   *     bias that groups or samples have of their own
   * @param gain the type in which the gain was given, null without one
   * @param bias whether there is a bias
   */
  static PtxKernel forward(
      NormChoices choices, Map<Tensor, ElementType> types, ElementType gain, boolean bias) {
    ElementType x = types.get(Forward.X);
    ForwardFormula formula = ForwardFormula.of(choices.spec(), x, gain, bias);
    return of(KernelSignature.of(formula, types, choices.width(), choices.part()));
  }

  /**
   * The kernel of a backward pass.
   *
   * @param choices of the norm, for rows of the type of what was kept
   * @param types the types of the rows of the call
   */
  static PtxKernel backward(
      NormChoices choices, Map<Tensor, ElementType> types, BackwardFormula formula) {
    return of(KernelSignature.of(formula, types, choices.width(), choices.part()));
  }

  private static PtxKernel of(KernelSignature signature) {
    return KERNELS.computeIfAbsent(signature, RowKernel::of);
  }
}
