package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Operand;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.PlainKernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which kernels serve the parts of a call.
 *
 * @param bits of a vector, 0 for plain Java
 * @param memory of the call's operands
 * @param width of its rows
 * @param paired whether bfloat16 is read and written two elements at a time
 */
public record Kernels(int bits, Map<Operand, Memory> memory, int width, boolean paired) {
  /**
   * Bits of a vector from which on kernels can also read bfloat16 one by one. At 128 bits a vector
   * of float64 has two elements, and there is no vector of two shorts.
   */
  private static final int SHORTS_BITS = 256;

  /**
   * The types of 16 bits that kernels read and write themselves.
   *
   * @param paired whether bfloat16 is read and written two elements at a time
   */
  public static Set<ElementType> narrow(int bits, boolean paired) {
    if (bits == 0) {
      return Set.of(ElementType.FLOAT16, ElementType.BFLOAT16);
    }
    return paired || bits >= SHORTS_BITS ? Set.of(ElementType.BFLOAT16) : Set.of();
  }

  /**
   * A part on its own.
   *
   * @param elements of a row that it is for, always the first ones; 0 if others too, or fewer
   */
  public Kernel of(Part part, int elements) {
    if (bits == 0) {
      return plain(part);
    }
    return VectorKernel.of(
        target(List.of(part), part.hasElements() ? Schedule.width(elements) : 0));
  }

  /** The same in plain Java. */
  public Kernel plain(Part part) {
    return new PlainKernel(part, paired ? width & -RowSum.LANES : 0);
  }

  /** Row sums of rows and a second part of other rows at once; null where that does not pay. */
  public VectorKernel staggered(Part sums, Part second) {
    if (bits == 0 || !Schedule.isStaggered(sums, width)) {
      return null;
    }
    Target target = target(List.of(sums, second), Schedule.width(width));
    return Schedule.sharesWhole(target) ? VectorKernel.ifItFits(target) : null;
  }

  private Target target(List<Part> parts, int width) {
    boolean pairs = paired && parts.stream().anyMatch(Target::isBfloat16);
    return new Target(parts, parts.stream().map(this::memory).toList(), bits, width, pairs);
  }

  /** The memory of a part's own operands. */
  private Map<Operand, Memory> memory(Part part) {
    Map<Operand, Memory> own = new java.util.EnumMap<>(Operand.class);
    part.operands().keySet().forEach(rows -> own.put(rows, memory.get(rows)));
    return own;
  }
}
