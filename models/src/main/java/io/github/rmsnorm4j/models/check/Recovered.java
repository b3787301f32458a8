package io.github.rmsnorm4j.models.check;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * A form that can make every row of Y, with the scales for which it does.
 *
 * @param form how elements follow
 * @param orders the cast orders that give this form
 * @param rows the rows
 * @param ranges the scales of each row
 */
record Recovered(Form form, List<CastForm> orders, List<Elements> rows, List<ScaleRange> ranges) {
  static Optional<Recovered> of(Map.Entry<Form, List<CastForm>> entry, Sample sample, Rows rows) {
    Form form = entry.getKey();
    Parameters parameters = Parameters.of(form, sample);
    List<Elements> elements = new ArrayList<>();
    List<ScaleRange> ranges = new ArrayList<>();
    for (int row = 0; row < sample.rows(); row++) {
      Elements next = new Elements(form, rows.row(form, row), parameters);
      Optional<ScaleRange> range = ScaleRange.of(form, next, sample.y(row));
      if (range.isEmpty()) {
        return Optional.empty();
      }
      elements.add(next);
      ranges.add(range.get());
    }
    return Optional.of(new Recovered(form, entry.getValue(), elements, ranges));
  }

  /** Of each row, how many ulp a statistic's scale is away. */
  long[] distances(Statistic statistic) {
    long[] distances = new long[ranges.size()];
    for (int row = 0; row < distances.length; row++) {
      double scale = rows.get(row).scale(statistic);
      distances[row] = Math.ceilDiv(ranges.get(row).distance(form.float64(), scale), unit());
    }
    return distances;
  }

  /** Whether a statistic is near enough in every row. */
  boolean fits(Statistic statistic, long window) {
    for (int row = 0; row < ranges.size(); row++) {
      long distance = ranges.get(row).distance(form.float64(), rows.get(row).scale(statistic));
      if (Math.ceilDiv(distance, unit()) > Window.of(form, rows.get(row), window)) {
        return false;
      }
    }
    return true;
  }

  private int unit() {
    return Window.unit(form);
  }

  /** How many rows say anything of the scale. */
  long telling() {
    return ranges.stream().filter(range -> !range.any()).count();
  }

  /** The epsilons that every row allows: the first and the last, or null. */
  double[] epsilons(Statistic like, long window) {
    double lo = 0;
    double hi = Double.POSITIVE_INFINITY;
    for (int row = 0; row < ranges.size(); row++) {
      ScaleRange range = ranges.get(row);
      if (range.any()) {
        continue;
      }
      long reach = Window.of(form, rows.get(row), window) * unit();
      double low = Grid.at(form.float64(), range.lo()).number(-reach);
      double high = Grid.at(form.float64(), range.hi()).number(reach);
      double least = form.divides() ? low : 1 / high;
      double greatest = form.divides() ? high : 1 / low;
      double m = like.moment(rows.get(row).moment(like.part()));
      double q = Math.sqrt(m);
      switch (like.place()) {
        case INSIDE -> {
          lo = Math.max(lo, least * least - m);
          hi = Math.min(hi, greatest * greatest - m);
        }
        case OUTSIDE -> {
          lo = Math.max(lo, least - q);
          hi = Math.min(hi, greatest - q);
        }
        case FLOOR -> {
          lo = Math.max(lo, least <= q ? 0 : least);
          hi = Math.min(hi, greatest < q ? -1 : greatest);
        }
      }
    }
    return lo <= hi ? new double[] {lo, hi} : null;
  }

  /** The rows of a sample as each form sees them, made once. */
  static final class Rows {
    private final Sample sample;
    private final Types types;
    private final Map<Object, PreparedRow> prepared = new HashMap<>();

    Rows(Sample sample) {
      this.sample = sample;
      this.types = sample.types();
    }

    PreparedRow row(Form form, int row) {
      List<Object> key = new ArrayList<>(List.of(form.input(), row));
      key.add(form.residual());
      return prepared.computeIfAbsent(
          key, _ -> PreparedRow.of(form, types, sample.x(row), sample.residual(row)));
    }
  }

  static long greatest(long[] distances) {
    return LongStream.of(distances).max().orElse(0);
  }
}
