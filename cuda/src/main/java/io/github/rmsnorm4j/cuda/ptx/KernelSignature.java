package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Formula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.ForwardFormula;
import io.github.rmsnorm4j.internal.formula.ForwardPhase;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What decides the text of a kernel. The width of the rows is a parameter of the kernel; only what
 * the width decides is here.
 *
 * @param formula what is computed
 * @param types the types of the rows of the call, and of a gain or a bias that is not of the
 *     compute type
 * @param addsOffset whether the offset is added to the gain when it is read
 * @param isLong whether rows are so long that LayerNorm takes two passes
 * @param isPartial whether the statistic is of the first elements only
 * @param form how threads share rows
 * @param codes what the output becomes; null where it is stored alone
 * @param shared the rows and columns that a team keeps in shared memory
 */
public record KernelSignature(
    Formula formula,
    Map<Tensor, ElementType> types,
    boolean addsOffset,
    boolean isLong,
    boolean isPartial,
    Form form,
    Codes codes,
    Set<Tensor> shared) {

  /** Copies the types and the tensors. */
  public KernelSignature {
    types = Collections.unmodifiableMap(new TreeMap<>(types));
    shared = Collections.unmodifiableSet(new TreeSet<>(shared));
  }

  /**
   * {@return the signature of the kernel for rows of a width}
   *
   * @param formula what is computed
   * @param types the types of its rows in memory, and those of gain and bias where they are not of
   *     the compute type
   * @param addsOffset whether the gain in memory lacks the offset
   * @param width of a row, or of a group
   * @param part the elements of the statistic
   * @param codes what the output becomes; null where it is stored alone
   * @param sharedBytes shared memory that a block of threads may have
   */
  public static KernelSignature of(
      Formula formula,
      Map<Tensor, ElementType> types,
      boolean addsOffset,
      int width,
      int part,
      Codes codes,
      int sharedBytes) {
    Formula same =
        switch (formula) {
          case ForwardFormula f ->
              new ForwardFormula(alike(f.spec(), types), f.cast(), f.gain(), f.bias());
          case BackwardFormula b ->
              new BackwardFormula(
                  alike(b.spec(), types),
                  b.fromOutput(),
                  b.keptStatistic(),
                  b.gain(),
                  b.bias(),
                  b.gainGradient(),
                  b.biasGradient());
          case ForwardPhase phase ->
              throw new IllegalArgumentException(
                  "a kernel is for a whole pass, not for " + phase.phase());
        };
    boolean isLong = width > Forward.ONE_PASS;
    boolean isPartial = part < width;
    Form form = Form.of(width, addsRows(same) || codes != null);
    KernelSignature alone =
        new KernelSignature(same, types, addsOffset, isLong, isPartial, form, codes, Set.of());
    Set<Tensor> shared = SharedTensors.of(alone, width, sharedBytes);
    return new KernelSignature(same, types, addsOffset, isLong, isPartial, form, codes, shared);
  }

  /** The choices without those that come as parameters: all such norms share a kernel. */
  private static NormSpec alike(NormSpec spec, Map<Tensor, ElementType> types) {
    boolean float64 = types.get(Forward.X) == ElementType.FLOAT64;
    ResidualRounding rounding =
        types.containsKey(Forward.RESIDUAL) ? spec.residualRounding() : ResidualRounding.FIRST;
    CastOrder order = spec.castOrder();
    boolean roundsGain = order == CastOrder.NONE || order == CastOrder.NONE_DIVIDED;
    return spec.withGroups(RowGroups.WHOLE)
        .withPart(RowPart.WHOLE)
        // The offset itself is in the gain, or a parameter. These orders round the sum.
        .withGainOffset(roundsGain && spec.gainOffset() != 0 ? 1 : 0)
        .withResidualRounding(rounding)
        // How small epsilon is decides when a float64 row is summed again.
        .withEpsilon(float64 ? spec.epsilon(ElementType.FLOAT64) : 0);
  }

  boolean float64() {
    return types.get(Forward.X) == ElementType.FLOAT64;
  }

  /** The compute type. */
  ElementType arithmetic() {
    return float64() ? ElementType.FLOAT64 : ElementType.FLOAT32;
  }

  /** The tensors of rows that are in memory, in order. */
  List<Tensor> rows() {
    boolean output = codes == null || codes.stored();
    return types.keySet().stream()
        .filter(tensor -> tensor.access() == Tensor.Access.ELEMENT)
        .filter(tensor -> output || !tensor.equals(Forward.Y))
        .toList();
  }

  /** The type of a tensor in memory. */
  ElementType type(Tensor tensor) {
    return types.getOrDefault(tensor, arithmetic());
  }

  /** Threads of a warp that do a row together: narrow rows are read 16 bytes at a time. */
  int teamSize() {
    if (form != Form.NARROW) {
      return SumOrder.LANES;
    }
    int bytes = Double.BYTES;
    for (ElementType type : types.values()) {
      bytes = Math.min(bytes, type.bytes());
    }
    return SumOrder.LANES * bytes / Accesses.WIDEST;
  }

  /** Bytes of shared memory for each block of 1,024 elements: for sums, or largest magnitudes. */
  int blockBytes() {
    int mostSums = 0;
    for (Program.Step step : program().steps()) {
      mostSums = Math.max(mostSums, step.stage().sums().size());
    }
    int ofCodes = codes == null ? 0 : CodeOutput.blockBytes(codes, form);
    return form == Form.BLOCK ? Math.max(mostSums * RowSums.LANES_BYTES, ofCodes) : 0;
  }

  boolean isForward() {
    return formula instanceof ForwardFormula;
  }

  /** Whether rows are added up, in blocks of 32. */
  boolean hasColumnSums() {
    return addsRows(formula);
  }

  private static boolean addsRows(Formula formula) {
    return formula instanceof BackwardFormula backward
        && (backward.gainGradient() || backward.biasGradient());
  }

  /** Whether mean and rstd come with the call. */
  boolean hasKeptStatistic() {
    return formula instanceof BackwardFormula backward && backward.keptStatistic();
  }

  /** The steps of a row. No sum with a residual is stored on the way: threads share no elements. */
  Program program() {
    EnumSet<ElementType> narrow = EnumSet.of(ElementType.FLOAT16, ElementType.BFLOAT16);
    Storage storage = new Storage(float64(), narrow, types);
    int width = isLong ? Forward.ONE_PASS + 1 : 2;
    return formula.program(storage, width, isPartial ? 1 : width, false);
  }

  /** A name for messages, and for the entry point. */
  String name() {
    StringBuilder name = new StringBuilder();
    name.append(spec().kind().toString()).append(isForward() ? "_forward" : "_backward");
    rows().forEach(tensor -> name.append('_').append(types.get(tensor)));
    name.append('_').append(form);
    if (codes != null) {
      name.append("_codes");
    }
    return name.toString().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "_");
  }

  private NormSpec spec() {
    return formula instanceof ForwardFormula forward
        ? forward.spec()
        : ((BackwardFormula) formula).spec();
  }

  /** Whether the mean of a row is subtracted, or its length is wanted: then one of them is kept. */
  boolean keepsMean() {
    return spec().isCentred() || spec().isOfLength();
  }

  boolean isCentred() {
    return spec().isCentred();
  }

  boolean isOfLength() {
    return spec().isOfLength();
  }

  boolean hasEpsilonInside() {
    return spec().epsilonPlacement() == EpsilonPlacement.INSIDE;
  }
}
