package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.SplittableRandom;

/** Stages with drawn values. */
final class DrawnStages {
  private final SplittableRandom random;
  private final DrawnValues values;
  private final int depth;

  /**
   * Stages of drawn values.
   *
   * @param depth of a tree, at most
   */
  DrawnStages(SplittableRandom random, DrawnValues values, int depth) {
    this.random = random;
    this.values = values;
    this.depth = depth;
  }

  /** One or two row sums, after what is kept of the row's first element, and stored. */
  Stage sums() {
    Stage.Builder stage = new Stage.Builder();
    if (random.nextBoolean()) {
      values.keepFirst();
      Value first =
          random.nextBoolean() ? values.element() : values.narrowed().plus(values.narrowed());
      stage.keep(Forward.SHIFT, first.first().widened());
    }
    if (random.nextInt(3) == 0) {
      store(stage, Forward.Y);
    }
    int depth = random.nextInt(this.depth);
    stage.sum(Forward.SUM, term(depth));
    if (random.nextBoolean()) {
      stage.sum(Forward.SQUARES, term(depth));
    }
    return stage.build();
  }

  /** Row sums and nothing else, as of the pieces of a long row. */
  Stage longSums() {
    Stage.Builder stage = new Stage.Builder().sum(Forward.SUM, term(2));
    return stage.sum(Forward.SQUARES, term(1)).build();
  }

  private Value term(int depth) {
    if (random.nextInt(3) == 0) {
      Value widened = values.element().widened();
      return widened.times(random.nextBoolean() ? widened : values.element().widened());
    }
    return values.wide(depth).plus(values.element().widened());
  }

  /** One or two stores. */
  Stage stores() {
    Stage.Builder stage = new Stage.Builder();
    store(stage, Forward.Y);
    if (random.nextBoolean()) {
      store(stage, Backward.DX);
    }
    return stage.build();
  }

  private void store(Stage.Builder stage, Tensor rows) {
    int depth = random.nextInt(this.depth + 1);
    Value v = values.ofArithmetic(depth).plus(values.element());
    v = v.float64() || random.nextInt(3) > 0 ? v : v.oneNan();
    stage.store(rows, values.type(rows), values.type(rows) == ElementType.FLOAT16 ? oneNan(v) : v);
  }

  private static Value oneNan(Value v) {
    return v.float64() ? v.cast(ElementType.FLOAT16) : v.oneNan();
  }

  /** A store, and one or two sums over rows. */
  Stage columnSums() {
    Stage.Builder stage = new Stage.Builder();
    if (random.nextInt(4) > 0) {
      store(stage, Backward.DX);
    }
    int which = random.nextInt(1, 4);
    if ((which & 1) != 0) {
      int depth = 2 * random.nextInt(1, 3);
      stage.sum(Backward.GAIN_GRADIENT, values.ofArithmetic(depth).plus(values.element()));
    }
    if ((which & 2) != 0) {
      stage.sum(Backward.BIAS_GRADIENT, values.element());
    }
    return stage.build();
  }

  /** The row's first element, and nothing of the others. */
  Stage first() {
    Value first = values.narrowed().first().widened();
    return new Stage.Builder().keep(Forward.SHIFT, first).build();
  }

  /**
   * Numbers of rows from numbers of rows.
   *
   * @param chooses whether one is a choice
   */
  Stage ofRows(boolean chooses) {
    Stage.Builder stage = new Stage.Builder();
    stage.keep(Forward.SUM, values.ofRow(3).plus(values.number()));
    Value other = values.ofRow(2).max(values.number());
    stage.keep(Forward.SQUARES, chooses ? choice(values.number(), other) : other);
    if (random.nextBoolean()) {
      double least = random.nextDouble(-4, 1);
      stage.add(new Stage.Range(values.number(), least, least + random.nextDouble(8)));
    }
    if (random.nextInt(4) == 0) {
      stage.add(new Stage.Range(values.ofRow(2).max(values.number()), -1e30, 1e30));
    }
    return stage.build();
  }

  private Value choice(Value a, Value b) {
    boolean orEqual = random.nextBoolean();
    Value then = values.ofRow(2);
    Value otherwise = values.number();
    return orEqual ? a.atLeast(b, then, otherwise) : a.above(b, then, otherwise);
  }
}
