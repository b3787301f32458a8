package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Operand;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.RowNumber;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.SplittableRandom;

/** Parts with drawn values. */
final class DrawnParts {
  private final SplittableRandom random;
  private final DrawnValues values;
  private final int depth;

  /**
   * Parts of drawn values.
   *
   * @param depth of a tree, at most
   */
  DrawnParts(SplittableRandom random, DrawnValues values, int depth) {
    this.random = random;
    this.values = values;
    this.depth = depth;
  }

  /** One or two row sums, after what is kept of the row's first element, and stored. */
  Part sums() {
    Part.Builder part = new Part.Builder();
    if (random.nextBoolean()) {
      values.keepFirst();
      Value first =
          random.nextBoolean() ? values.element() : values.narrowed().plus(values.narrowed());
      part.keep(RowNumber.SHIFT, new Value.First(first).widened());
    }
    if (random.nextInt(3) == 0) {
      store(part, Operand.Y);
    }
    int depth = random.nextInt(this.depth);
    part.sum(RowNumber.SUM, term(depth));
    if (random.nextBoolean()) {
      part.sum(RowNumber.SQUARES, term(depth));
    }
    return part.build();
  }

  /** Row sums and nothing else, as of the pieces of a long row. */
  Part longSums() {
    Part.Builder part = new Part.Builder().sum(RowNumber.SUM, term(2));
    return part.sum(RowNumber.SQUARES, term(1)).build();
  }

  private Value term(int depth) {
    if (random.nextInt(3) == 0) {
      Value widened = values.element().widened();
      return widened.times(random.nextBoolean() ? widened : values.element().widened());
    }
    return values.wide(depth).plus(values.element().widened());
  }

  /** One or two stores. */
  Part stores() {
    Part.Builder part = new Part.Builder();
    store(part, Operand.Y);
    if (random.nextBoolean()) {
      store(part, Operand.DX);
    }
    return part.build();
  }

  private void store(Part.Builder part, Operand rows) {
    int depth = random.nextInt(this.depth + 1);
    Value v = values.ofArithmetic(depth).plus(values.element());
    v = v.float64() || random.nextInt(3) > 0 ? v : new Value.OneNan(v);
    part.store(rows, values.type(rows), values.type(rows) == ElementType.FLOAT16 ? oneNan(v) : v);
  }

  private static Value oneNan(Value v) {
    return v.float64() ? v.cast(ElementType.FLOAT16) : new Value.OneNan(v);
  }

  /** A store, and one or two sums over rows. */
  Part columnSums() {
    Part.Builder part = new Part.Builder();
    if (random.nextInt(4) > 0) {
      store(part, Operand.DX);
    }
    int which = random.nextInt(1, 4);
    if ((which & 1) != 0) {
      int depth = 2 * random.nextInt(1, 3);
      part.sum(Column.GAIN_GRADIENT, values.ofArithmetic(depth).plus(values.element()));
    }
    if ((which & 2) != 0) {
      part.sum(Column.BIAS_GRADIENT, values.element());
    }
    return part.build();
  }

  /** The row's first element, and nothing of the others. */
  Part first() {
    Value first = new Value.First(values.narrowed()).widened();
    return new Part.Builder().keep(RowNumber.SHIFT, first).build();
  }

  /**
   * Numbers of rows from numbers of rows.
   *
   * @param chooses whether one is a choice
   */
  Part ofRows(boolean chooses) {
    Part.Builder part = new Part.Builder();
    part.keep(RowNumber.SUM, values.ofRow(3).plus(values.number()));
    Value other = values.ofRow(2).max(values.number());
    part.keep(
        RowNumber.SQUARES,
        chooses
            ? new Value.Choice(
                values.number(), random.nextBoolean(), other, values.ofRow(2), values.number())
            : other);
    if (random.nextBoolean()) {
      double least = random.nextDouble(-4, 1);
      part.add(new Part.Range(values.number(), least, least + random.nextDouble(8)));
    }
    if (random.nextInt(4) == 0) {
      part.add(new Part.Range(values.ofRow(2).max(values.number()), -1e30, 1e30));
    }
    return part.build();
  }
}
