package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.CodeKernel;
import io.github.rmsnorm4j.cuda.ptx.Codes;
import io.github.rmsnorm4j.cuda.ptx.Form;
import io.github.rmsnorm4j.cuda.ptx.KernelSignature;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.cuda.ptx.RowKernel;
import io.github.rmsnorm4j.cuda.ptx.TreeKernel;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.formula.Formula;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** The kernels of norms, each made once. */
final class NormKernels {
  private record OfCodes(ElementType rows, Codes codes, Form form) {}

  /** What a call has. Many of them share a signature, which takes longer to make than a launch. */
  private record OfCall(
      Formula formula,
      Map<Tensor, ElementType> types,
      boolean addsOffset,
      int width,
      int part,
      Codes codes,
      int sharedBytes) {
    OfCall {
      types = new TreeMap<>(types);
    }
  }

  private static final Map<OfCall, PtxKernel> OF_CALLS = new ConcurrentHashMap<>();
  private static final Map<KernelSignature, PtxKernel> KERNELS = new ConcurrentHashMap<>();
  private static final Map<OfCodes, PtxKernel> OF_CODES = new ConcurrentHashMap<>();
  private static final Map<ElementType, PtxKernel> TREES = new ConcurrentHashMap<>();

  private NormKernels() {}

  /**
   * The kernel for rows.
   *
   * @param choices of the norm, for rows of the type of x
   * @param types the types of the rows of the call, and of gain and bias where they are not of the
   *     compute type
   * @param addsOffset whether the gain in memory lacks the offset
   * @param codes what the output becomes; null where it is stored alone
   * @param sharedBytes shared memory that a block of threads may have
   */
  static PtxKernel of(
      Formula formula,
      Map<Tensor, ElementType> types,
      boolean addsOffset,
      NormChoices choices,
      Codes codes,
      int sharedBytes) {
    OfCall call =
        new OfCall(formula, types, addsOffset, choices.width(), choices.part(), codes, sharedBytes);
    PtxKernel known = OF_CALLS.get(call);
    if (known == null) {
      KernelSignature signature =
          KernelSignature.of(formula, types, addsOffset, call.width, call.part, codes, sharedBytes);
      known = KERNELS.computeIfAbsent(signature, RowKernel::of);
      OF_CALLS.put(call, known);
    }
    return known;
  }

  /** The kernel that gives rows of a width their codes. */
  static PtxKernel ofCodes(ElementType rows, Codes codes, int width) {
    return OF_CODES.computeIfAbsent(
        new OfCodes(rows, codes, Form.of(width, true)),
        of -> CodeKernel.of(of.rows, of.codes, of.form));
  }

  /** The kernel that adds the sums of rows. */
  static PtxKernel tree(ElementType arithmetic) {
    return TREES.computeIfAbsent(arithmetic, TreeKernel::of);
  }

  /** The types of rows. */
  static Map<Tensor, ElementType> types(Map<Tensor, DeviceRows> rows) {
    Map<Tensor, ElementType> types = new TreeMap<>();
    rows.forEach((tensor, of) -> types.put(tensor, of.type()));
    return types;
  }

  /** The type of the arithmetic on rows of a type. */
  static ElementType arithmetic(ElementType rows) {
    return rows == ElementType.FLOAT64 ? rows : ElementType.FLOAT32;
  }
}
