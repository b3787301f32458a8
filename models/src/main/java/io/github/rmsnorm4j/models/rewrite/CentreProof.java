package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.models.Projection;
import java.io.IOException;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Compares what is added to the residual stream: each row of an embedding, and for each input of a
 * matrix its column of outputs. After the conversion each has the mean 0, and is what it was less
 * its mean. The bounds are those of {@link SiteProof}: one rounding of each stored number, and a
 * float64 sum.
 */
final class CentreProof {
  private static final double TERM = 0x1p-52;

  private final Side before;
  private final Side after;
  private final LongConsumer progress;
  private final Worst means = new Worst("means of what is added to the stream");
  private final Worst elements = new Worst("elements of what is added to the stream");

  CentreProof(Side before, Side after, LongConsumer progress) {
    this.before = before;
    this.after = after;
    this.progress = progress;
  }

  List<Finding> findings() throws IOException {
    for (String embedding : before.norms().embeddings()) {
      rows(embedding);
    }
    for (Projection writer : before.norms().writers()) {
      if (writer.inputsFirst()) {
        rows(writer.weight());
      } else {
        columns(writer.weight());
      }
      if (writer.bias().isPresent()) {
        rows(writer.bias().get());
      }
    }
    return List.of(means.finding(), elements.finding());
  }

  private void rows(String name) throws IOException {
    Tensor tensor = before.tensors().tensor(name);
    forEach(
        tensor,
        (values, changed, _, rows) -> {
          int columns = values.length == 0 ? 0 : (int) (long) tensor.shape().getLast();
          for (int row = 0; row < rows; row++) {
            Line line = new Line(tensor.dtype(), name);
            for (int column = 0; column < columns; column++) {
              line.sum(values[row * columns + column], changed[row * columns + column]);
            }
            line.compareMeans();
            for (int column = 0; column < columns; column++) {
              line.compare(values[row * columns + column], changed[row * columns + column]);
            }
          }
        });
  }

  private void columns(String name) throws IOException {
    Tensor tensor = before.tensors().tensor(name);
    int columns = (int) (long) tensor.shape().getLast();
    Line[] lines = new Line[columns];
    for (int column = 0; column < columns; column++) {
      lines[column] = new Line(tensor.dtype(), name);
    }
    forEach(
        tensor,
        (values, changed, _, rows) -> {
          for (int i = 0; i < rows * columns; i++) {
            lines[i % columns].sum(values[i], changed[i]);
          }
        });
    for (Line line : lines) {
      line.compareMeans();
    }
    forEach(
        tensor,
        (values, changed, _, rows) -> {
          for (int i = 0; i < rows * columns; i++) {
            lines[i % columns].compare(values[i], changed[i]);
          }
        });
  }

  private void forEach(Tensor tensor, Blocks.PairSink sink) throws IOException {
    new Blocks(before.tensors(), tensor, progress)
        .forEach(after.tensors(), after.tensors().tensor(tensor.name()), sink);
  }

  /** The numbers that are added together: a row, or a column. */
  private final class Line {
    private final double unit;
    private final double tiniest;
    private final String place;
    private long count;
    private double sum;
    private double size;
    private double sumAfter;
    private double sizeAfter;

    Line(Dtype dtype, String place) {
      ElementType type = dtype.elementType().orElseThrow();
      this.unit = type.unitRoundoff();
      this.tiniest = SiteSums.tiniest(type);
      this.place = place;
    }

    void sum(double value, double valueAfter) {
      count++;
      sum += value;
      size += Math.abs(value);
      sumAfter += valueAfter;
      sizeAfter += Math.abs(valueAfter);
    }

    /** The error of a mean in float64. */
    private double arithmetic() {
      return (count + 16) * TERM * (size + sizeAfter) / count;
    }

    void compareMeans() {
      double rounding = unit / (1 - unit) * sizeAfter / count + tiniest;
      means.add(sumAfter / count, rounding + arithmetic(), place);
    }

    void compare(double value, double valueAfter) {
      double exact = value - sum / count;
      double bound = unit * Math.abs(exact) + tiniest + arithmetic() + 2 * TERM * Math.abs(value);
      elements.add(exact - valueAfter, bound, place);
    }
  }
}
