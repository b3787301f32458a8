package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.cuda.ptx.KernelSignature;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.cuda.ptx.RowKernel;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.backend.NormParts;
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
   * @param types the types of the rows of the call, among them those of parts of the gain and the
   *     bias that groups have of their own
   */
  static PtxKernel forward(Norm norm, Map<Tensor, ElementType> types) {
    NormParts parts = NormParts.of(norm);
    ElementType x = types.get(Forward.X);
    NormChoices choices = parts.choices(x);
    ElementType gain = parts.gain() == null ? null : parts.gain().type();
    ForwardFormula formula = ForwardFormula.of(norm.spec(), x, gain, parts.bias() != null);
    return of(KernelSignature.of(formula, types, choices.width(), choices.part()));
  }

  static PtxKernel of(KernelSignature signature) {
    return KERNELS.computeIfAbsent(signature, RowKernel::of);
  }
}
