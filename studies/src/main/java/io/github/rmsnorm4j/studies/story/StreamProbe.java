package io.github.rmsnorm4j.studies.story;

import io.github.rmsnorm4j.models.transformer.DepthObserver;
import io.github.rmsnorm4j.models.transformer.RowMoments;
import io.github.rmsnorm4j.studies.story.Results.Depth;
import io.github.rmsnorm4j.studies.story.Results.Spread;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Notes rms and rho of every row of the residual stream, at each depth. */
final class StreamProbe implements DepthObserver {
  private final int width;
  private final List<List<RowMoments>> depths = new ArrayList<>();

  StreamProbe(int width) {
    this.width = width;
  }

  @Override
  public void forward(int depth, MemorySegment activations) {
    if (depth == depths.size()) {
      depths.add(new ArrayList<>());
    }
    for (long row = 0; row < activations.byteSize() / Float.BYTES / width; row++) {
      depths.get(depth).add(RowMoments.of(activations, row, width));
    }
  }

  List<Depth> depths() {
    List<Depth> all = new ArrayList<>();
    for (List<RowMoments> rows : depths) {
      all.add(new Depth(all.size(), spread(rows, RowMoments::rms), spread(rows, RowMoments::rho)));
    }
    return all;
  }

  private static Spread spread(List<RowMoments> rows, ToDoubleFunction<RowMoments> value) {
    double[] sorted = rows.stream().mapToDouble(value).sorted().toArray();
    return new Spread(at(sorted, 0.05), at(sorted, 0.5), at(sorted, 0.95));
  }

  /** The nearest rank. */
  private static double at(double[] sorted, double fraction) {
    return sorted[(int) Math.round(fraction * (sorted.length - 1))];
  }
}
