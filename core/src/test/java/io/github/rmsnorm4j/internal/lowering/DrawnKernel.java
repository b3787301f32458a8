package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Memory;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** A drawn description, and for what rows its kernels are. */
final class DrawnKernel {
  private static final List<Way.Kind> KINDS =
      List.of(
          Way.Kind.SUMS,
          Way.Kind.STAGGERED,
          Way.Kind.STORES,
          Way.Kind.SUMS,
          Way.Kind.STAGGERED,
          Way.Kind.COLUMN_SUMS,
          Way.Kind.STAGGERED,
          Way.Kind.OF_ROWS,
          Way.Kind.SUMS,
          Way.Kind.FIRST);

  /** Rows between narrow and wide ones, in blocks that are whole or not. */
  private static final List<Integer> WIDTHS = List.of(300, 992, 1024, 1056, 1100, 2080, 4100);

  private static final int ELEMENTS = 4096;

  final long seed;
  final Kernels kernels;
  final List<Stage> stages;
  final Map<Tensor, Memory> memory;
  final boolean paired;
  final int width;
  final int rows;
  final int column;
  final int from;

  /** The kernel of two stages; null for one. */
  final VectorKernel staggered;

  final Target target;
  private final Way.Kind kind;
  private final int where;

  /** Draws; the kind is by number. */
  DrawnKernel(long seed, int number, int bits) {
    this.seed = seed;
    kind = KINDS.get(number % KINDS.size());
    SplittableRandom random = new SplittableRandom(seed);
    boolean float64 = random.nextInt(4) == 0;
    boolean reads = random.nextBoolean();
    paired = !float64 && bits > 0 && random.nextBoolean();
    Set<ElementType> narrow = reads || paired ? Kernels.narrow(bits, paired) : Set.of();
    width = width(random);
    rows = 1 + random.nextInt(Math.clamp(ELEMENTS / width, 1, 10));
    boolean ofWidth = Schedule.width(width) > 0 && (isStaggered() || random.nextInt(4) > 0);
    int depth = isStaggered() ? random.nextInt(1, 3) : 4;
    DrawnValues values = new DrawnValues(random, float64, narrow, paired, !ofWidth);
    DrawnStages drawn = new DrawnStages(random, values, depth);
    NormStages norm = new NormStages(random, float64, narrow, paired);
    stages = random.nextInt(3) > 0 ? stages(drawn, random.nextBoolean()) : stages(norm);
    where = random.nextInt(5) / 2;
    memory = memory(random, where);
    column = ofWidth || isStaggered() ? 0 : 32 * random.nextInt(3);
    boolean sums = kind == Way.Kind.SUMS || isStaggered();
    boolean whole = sums || paired || ofWidth || random.nextBoolean();
    from = whole ? 0 : random.nextInt(width);
    kernels = new Kernels(bits, memory, column + width, paired);
    staggered = isStaggered() ? kernels.staggered(stages.get(0), stages.get(1)) : null;
    List<Map<Tensor, Memory>> own = stages.stream().map(stage -> memory).toList();
    target = new Target(stages, own, bits, ofWidth ? width : 0, paired);
  }

  private boolean isStaggered() {
    return kind == Way.Kind.STAGGERED;
  }

  private int width(SplittableRandom random) {
    return switch (random.nextInt(isStaggered() ? 1 : 0, 3)) {
      case 0 -> 1 + random.nextInt(31);
      case 1 -> 32 * (1 + random.nextInt(8));
      default -> WIDTHS.get(random.nextInt(WIDTHS.size()));
    };
  }

  private List<Stage> stages(DrawnStages drawn, boolean chooses) {
    return switch (kind) {
      case SUMS -> List.of(drawn.sums());
      case STORES -> List.of(drawn.stores());
      case COLUMN_SUMS -> List.of(drawn.columnSums());
      case STAGGERED -> List.of(drawn.sums(), drawn.stores());
      case OF_ROWS -> List.of(drawn.ofRows(chooses));
      case FIRST -> List.of(drawn.first());
    };
  }

  private List<Stage> stages(NormStages norm) {
    boolean forward = seed % 2 == 0;
    return switch (kind) {
      case SUMS -> List.of(forward ? norm.forward().statistic() : norm.backward().sums());
      case STORES -> List.of(norm.forward().output());
      case COLUMN_SUMS -> List.of(norm.backward().output());
      case STAGGERED -> List.of(norm.forward().statistic(), norm.forward().output());
      case OF_ROWS -> List.of(forward ? norm.forward().roots() : norm.backward().means());
      case FIRST -> List.of(norm.forward().shift());
    };
  }

  /** All in one kind of memory, or each operand in a drawn one. */
  static Map<Tensor, Memory> memory(SplittableRandom random, int where) {
    Map<Tensor, Memory> memory = new TreeMap<>();
    for (Tensor operand : NormTensors.ROWS) {
      memory.put(operand, Memory.values()[where < 2 ? where : random.nextInt(2)]);
    }
    return memory;
  }

  /** The way that it takes; null for stages that are not put together in one kernel. */
  Way way() {
    if (isStaggered() && staggered == null) {
      return null;
    }
    String in = where == 2 ? "mixed memory" : Memory.values()[where].toString();
    return switch (kind) {
      case OF_ROWS -> Way.ofRows(loopOfRows());
      case FIRST -> Way.first(in);
      default -> new Way(kind, target.width() > 0, paired, loop(), behind(), in);
    };
  }

  private String loopOfRows() {
    if (!Schedule.fitsRows(Cost.ofRows(stages.getFirst()))) {
      return "too large";
    }
    return !target.hasVectorsOfRows() ? "choice" : rows > 2 ? "vectors" : "few";
  }

  /** How the loop over elements goes. */
  private String loop() {
    if (kind == Way.Kind.COLUMN_SUMS && target.width() == 0) {
      int two = paired ? 4 : 2;
      return Schedule.vectors(stages.getFirst(), two) == two ? Way.TWO_ROWS : Way.ONE_ROW;
    }
    return target.sweeps() > 1 ? Way.SWEEPS : Way.SWEEP;
  }

  private String behind() {
    int elements = width - from;
    return elements < 32 ? Way.TAIL_ALONE : elements % 32 == 0 ? Way.NO_TAIL : Way.TAIL;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    stages.forEach(stage -> text.append(stage.text()).append('\n'));
    return "seed %d, %s, %d rows, %d to %d of column %d on, memory %s%n%s"
        .formatted(seed, target.name(), rows, from, width, column, memory, text);
  }
}
