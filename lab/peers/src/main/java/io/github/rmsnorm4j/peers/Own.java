package io.github.rmsnorm4j.peers;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Start;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;
import io.github.rmsnorm4j.peers.Entrant.Entry;
import io.github.rmsnorm4j.peers.Entrant.Turn;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** This library, and the memory copy that all are measured by. */
final class Own {
  /** Below this a second thread takes longer to come than the copy takes. */
  private static final long SHARED_COPY = 1 << 22;

  private Own() {}

  static List<Entrant> entrants(Contest contest) {
    Kernel kernel = contest.kernel();
    Entrant copy = new Entrant(Systems.COPY, null, Own::copy);
    if (contest.backward()) {
      return List.of(copy, new Entrant(Systems.OWN, kernel, Own::backward));
    }
    List<Entrant> entrants = new ArrayList<>();
    entrants.add(copy);
    entrants.add(new Entrant(Systems.OWN, kernel, (p, threads) -> forward(p, kernel, threads)));
    if (kernel == Kernel.RMS_NORM) {
      entrants.add(new Entrant(Systems.IN_PLACE, kernel, Own::inPlace));
    } else {
      Entry rmsNorm = (place, threads) -> forward(place, Kernel.RMS_NORM, threads);
      entrants.add(new Entrant(Systems.OWN_RMS_NORM, Kernel.RMS_NORM, rmsNorm));
    }
    return entrants;
  }

  /**
   * In a JVM of a start.
   *
   * @throws UnsupportedOperationException when it is made ready, if the kernels are not that
   *     start's
   */
  static Entrant entrant(Contest contest, Start start) {
    return new Entrant(
        start.system(),
        contest.kernel(),
        (place, threads) -> {
          if (!start.hasItsKernels()) {
            throw new UnsupportedOperationException(Backend.best().describe());
          }
          return contest.backward()
              ? backward(place, threads)
              : forward(place, contest.kernel(), threads);
        });
  }

  /** As many bytes as the norm must move; a backward pass reads two rows for one that it writes. */
  private static Turn copy(Place place, int threads) {
    long bytes = place.x.byteSize();
    if (place.contest.backward()) {
      return () -> {
        copy(place.x, place.dx, bytes, threads);
        copy(place.dy, place.dx, bytes / 2, threads);
      };
    }
    return () -> copy(place.x, place.y, bytes, threads);
  }

  private static void copy(MemorySegment from, MemorySegment to, long bytes, int threads) {
    if (threads == 1 || bytes < SHARED_COPY) {
      MemorySegment.copy(from, 0, to, 0, bytes);
    } else {
      RowScheduler.run(
          bytes >> 12,
          threads,
          (first, end) ->
              MemorySegment.copy(from, first << 12, to, first << 12, (end - first) << 12));
    }
  }

  private static Turn forward(Place place, Kernel kernel, int threads) {
    Norm norm = norm(place, kernel, threads);
    Rows x = place.view(place.x);
    Rows y = place.view(place.y);
    return () -> norm.apply(x, y);
  }

  /** In memory of its own, since it writes over what it reads. */
  private static Turn inPlace(Place place, int threads) {
    Norm norm = norm(place, place.contest.kernel(), threads);
    MemorySegment memory = place.rows();
    Rows rows = place.view(memory.copyFrom(place.x));
    return new Turn() {
      @Override
      public void run() {
        norm.apply(rows, rows);
      }

      @Override
      public void collect() {
        place.y.copyFrom(memory);
      }
    };
  }

  private static Turn backward(Place place, int threads) {
    Norm norm = norm(place, place.contest.kernel(), threads);
    Rows x = place.view(place.x);
    Rows dy = place.view(place.dy);
    Rows dx = place.view(place.dx);
    Saved saved = new Saved(Keep.INPUT, place.contest.rows());
    norm.apply(x, place.view(place.y), saved);
    float[] dgain = new float[place.contest.width()];
    float[] dbias = place.bias == null ? null : new float[place.contest.width()];
    ParameterGradients gradients = ParameterGradients.assigned(dgain, dbias);
    return new Turn() {
      @Override
      public void run() {
        norm.backward(dy, saved, dx, gradients);
      }

      @Override
      public void collect() {
        MemorySegment.copy(dgain, 0, place.dgain, JAVA_FLOAT, 0, dgain.length);
        if (dbias != null) {
          MemorySegment.copy(dbias, 0, place.dbias, JAVA_FLOAT, 0, dbias.length);
        }
      }
    };
  }

  private static Norm norm(Place place, Kernel kernel, int threads) {
    NormBuilder<?> builder =
        kernel.spec().withEpsilon(place.epsilon).builder(place.contest.width());
    if (kernel.hasBias()) {
      builder.bias(place.bias);
    }
    return builder.gain(place.gain).threads(threads).build();
  }
}
