package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.ColumnMemory;
import io.github.rmsnorm4j.internal.backend.Pool;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.RowWindow;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;

/** Adds rows of a call to sums for gain and bias, on one thread. */
@NullUnmarked // An object of a pool: between calls it refers to none.
final class RowAdder implements AutoCloseable {
  private static final Pool<RowAdder> POOL = new Pool<>(RowAdder::new);

  /** The sums of a sub-tree; null where they are not wanted. */
  record Tree(@Nullable Object gain, @Nullable Object bias) {}

  /** The sums of one parameter. */
  private static final class OfParameter {
    private final Tensor column;
    private final Tensor ofGroups;
    private final BlockSums blocks = new BlockSums();
    private boolean wanted;

    /** The sums of the open block. */
    private Object leaf;

    /** What kernels add to where each of some rows has sums of its own; null where none has. */
    private Object ofRow;

    OfParameter(Tensor column, Tensor ofGroups) {
      this.column = column;
      this.ofGroups = ofGroups;
    }
  }

  private final OfParameter[] parameters = {
    new OfParameter(Backward.GAIN_GRADIENT, Backward.GAIN_GRADIENT_OF_GROUPS),
    new OfParameter(Backward.BIAS_GRADIENT, Backward.BIAS_GRADIENT_OF_GROUPS)
  };

  /** By place: the sums of the block that rows are added to. */
  private final Object[] columns = new Object[Tensor.Access.COLUMN.places()];

  private Call call;
  private Plan plan;
  private Worker worker;
  private boolean float64;

  /** Groups or samples with sums of their own. */
  private int apart;

  /** Rows of each of these samples; 0 for none. */
  private int ofSample;

  /** The rows that these sums are of. */
  private final RowWindow window = new RowWindow();

  /** Elements of the sums for a parameter. */
  private int width;

  private RowAdder() {}

  /**
   * The adder of this thread. No other thread uses it until it is closed.
   *
   * @param apart groups of a row that have sums of their own, or samples of a few rows that are
   *     done together; 1 if all rows share sums
   * @param ofSample rows of each such sample; 0 for groups, and if all rows share sums
   */
  static RowAdder open(Call call, int apart, int ofSample) {
    RowAdder adder = POOL.take();
    adder.ofSample = ofSample;
    BackwardFormula formula = (BackwardFormula) call.formula();
    adder.parameters[0].wanted = formula.gainGradient();
    adder.parameters[1].wanted = formula.biasGradient();
    adder.float64 = call.float64();
    adder.apart = apart;
    adder.width = call.choices().width() * apart;
    adder.call = call;
    for (OfParameter of : adder.parameters) {
      of.blocks.begin(adder.width, adder.float64);
      if (apart > 1 && of.wanted) {
        of.ofRow = SumArrays.SHARED.take(adder.width, adder.float64);
        adder.call = adder.call.withRows(of.ofGroups, adder.rows(of.ofRow));
      }
    }
    return adder;
  }

  /** The sums of groups, again for each row; or those of samples, from the first one on. */
  private RowMemory rows(Object sums) {
    ElementType type = float64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
    MemorySegment segment = ColumnMemory.segment(sums);
    long bytes = (long) width / apart * type.bytes();
    return switch (ofSample) {
      case 0 -> new RowMemory(segment, type, bytes, apart, 0, true);
      case 1 -> new RowMemory(segment, type, bytes, window);
      default -> new RowMemory(segment, type, 0, ofSample, bytes, window);
    };
  }

  /** The call, with the rows that its kernels add to. */
  Call call() {
    return call;
  }

  /** Groups or samples with sums of their own, one after the other. */
  int apart() {
    return apart;
  }

  /** Bytes of the sums of some rows. */
  long bytes() {
    int wanted = (parameters[0].wanted ? 1 : 0) + (parameters[1].wanted ? 1 : 0);
    return wanted * SumArrays.bytes(width, float64);
  }

  /** Begins with rows of the call. */
  void begin(Plan plan) {
    this.plan = plan;
    worker = plan.compiled.open(call);
  }

  /** Adds rows that begin a sub-tree. */
  void add(long from, long to) {
    long step = (long) SumOrder.ROWS * apart;
    for (long row = from; row < to; row += step) {
      for (OfParameter of : parameters) {
        of.leaf = of.wanted ? of.blocks.open() : null;
        columns[of.column.place()] = apart == 1 ? of.leaf : null;
        if (of.ofRow != null) {
          copy(of.leaf, of.ofRow); // Zeros.
        }
      }
      Runner.rows(call, plan, worker, row, Math.min(to, row + step), apart == 1 ? columns : null);
      for (OfParameter of : parameters) {
        if (of.ofRow != null) {
          copy(of.ofRow, of.leaf);
        }
        if (of.wanted) {
          of.blocks.add(of.leaf);
        }
      }
    }
  }

  private void copy(Object from, Object to) {
    System.arraycopy(from, 0, to, 0, width);
  }

  /** The sums of the rows so far. The next rows begin new ones. */
  Tree tree() {
    return new Tree(parameters[0].blocks.root(), parameters[1].blocks.root());
  }

  /** Adds the sums of the next sub-tree. */
  void add(Tree tree) {
    if (tree.gain != null) {
      parameters[0].blocks.add(tree.gain);
    }
    if (tree.bias != null) {
      parameters[1].blocks.add(tree.bias);
    }
  }

  /**
   * Gives the sums of the rows so far, which are those of a sample. The next rows begin new ones.
   */
  void give(Plan plan, SumsOverRows.Taker taker, int sample) {
    Object gain = parameters[0].blocks.root();
    Object bias = parameters[1].blocks.root();
    if (gain != null) {
      plan.compiled.order(gain, width);
    }
    if (bias != null) {
      plan.compiled.order(bias, width);
    }
    taker.take(gain, bias, 0, sample);
    if (gain != null) {
      parameters[0].blocks.giveBack(gain);
    }
    if (bias != null) {
      parameters[1].blocks.giveBack(bias);
    }
  }

  /** Whether samples have few rows, so that {@link #apart} of them are done together. */
  boolean isOfFewRows() {
    return ofSample > 0;
  }

  /** Adds the rows of a few samples, and gives their sums. */
  void giveEach(int from, int to, SumsOverRows.Taker taker) {
    for (OfParameter of : parameters) {
      if (of.ofRow instanceof float[] floats) {
        Arrays.fill(floats, 0, width, 0f);
      } else if (of.ofRow instanceof double[] doubles) {
        Arrays.fill(doubles, 0, width, 0.0);
      }
    }
    window.first = (long) from * ofSample;
    Runner.rows(call, plan, worker, window.first, (long) to * ofSample, null);
    for (int sample = from; sample < to; sample++) {
      int at = (sample - from) * (width / apart);
      taker.take(parameters[0].ofRow, parameters[1].ofRow, at, sample);
    }
  }

  @Override
  public void close() {
    if (worker != null) {
      worker.close();
    }
    for (OfParameter of : parameters) {
      of.blocks.close();
      if (of.ofRow != null) {
        SumArrays.SHARED.giveBack(of.ofRow);
        of.ofRow = null;
      }
      of.leaf = null;
    }
    Arrays.fill(columns, null);
    worker = null;
    plan = null;
    call = null;
    POOL.giveBack(this);
  }
}
