package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.PlainKernel;
import io.github.rmsnorm4j.internal.kernel.PlainKernels;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Chooses the kernels of the stages of a call.
 *
 * @param bits the width of a vector
 * @param memory the memory of the operands
 * @param width the width of the rows
 * @param paired whether bfloat16 is read and written two elements at a time
 */
public record Kernels(int bits, Map<Tensor, Memory> memory, int width, boolean paired)
    implements PlainKernels {
  /**
   * From this vector width on, kernels can also read bfloat16 one element at a time. At 128 bits a
   * vector of float64 has two elements, and there is no vector of two shorts.
   */
  private static final int SHORTS_BITS = 256;

  /**
   * The 16-bit types that kernels read and write themselves.
   *
   * @param paired whether bfloat16 is read and written two elements at a time
   */
  public static Set<ElementType> narrow(int bits, boolean paired) {
    return paired || bits >= SHORTS_BITS ? Set.of(ElementType.BFLOAT16) : Set.of();
  }

  /**
   * The kernel of one stage.
   *
   * @param elements the number of first elements of a row that it always serves; 0 if it may serve
   *     other elements, or fewer
   */
  public Kernel of(Stage stage, int elements) {
    return VectorKernel.of(
        target(List.of(stage), stage.hasElements() ? Schedule.width(elements) : 0));
  }

  /** The kernel of one stage in plain Java. */
  @Override
  public Kernel plain(Stage stage) {
    return new PlainKernel(stage, paired ? width & -SumOrder.LANES : 0);
  }

  /** The kernel that sums rows and runs a second stage on others; null if that does not pay. */
  public VectorKernel staggered(Stage sums, Stage second) {
    if (!Schedule.isStaggered(sums, width)) {
      return null;
    }
    Target target = target(List.of(sums, second), Schedule.width(width));
    return Schedule.sharesWhole(target) ? VectorKernel.ifItFits(target) : null;
  }

  private Target target(List<Stage> stages, int width) {
    boolean pairs = paired && stages.stream().anyMatch(Target::isBfloat16);
    return new Target(stages, stages.stream().map(this::memory).toList(), bits, width, pairs);
  }

  /** The memory of the operands of a stage. */
  private Map<Tensor, Memory> memory(Stage stage) {
    Map<Tensor, Memory> own = new TreeMap<>();
    stage.rows().keySet().forEach(rows -> own.put(rows, memory.get(rows)));
    return own;
  }
}
