package io.github.rmsnorm4j.benchmarks.peers;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.benchmarks.Kernel.LAYER_NORM;
import static io.github.rmsnorm4j.benchmarks.Kernel.RMS_NORM;
import static io.github.rmsnorm4j.benchmarks.peers.Start.NO_FLAGS;
import static io.github.rmsnorm4j.benchmarks.peers.Systems.COPY;
import static io.github.rmsnorm4j.benchmarks.peers.Systems.IN_PLACE;
import static io.github.rmsnorm4j.benchmarks.peers.Systems.JAVA_LOOP;
import static io.github.rmsnorm4j.benchmarks.peers.Systems.LIBTORCH_RMS_NORM;
import static io.github.rmsnorm4j.benchmarks.peers.Systems.ONEDNN;
import static io.github.rmsnorm4j.benchmarks.peers.Systems.ONNX_RUNTIME;
import static io.github.rmsnorm4j.benchmarks.peers.Systems.OWN;
import static io.github.rmsnorm4j.benchmarks.peers.Systems.OWN_RMS_NORM;

import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.measure.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * How long something may take, compared with something else of the same contest. It holds for each
 * number of threads, in a polluted process.
 *
 * @param contest where they meet
 * @param system whose time is divided
 * @param against by whose
 * @param bound how the limit is meant
 * @param limit of the ratio
 */
public record Target(Contest contest, String system, String against, Bound bound, double limit) {
  /** What a limit bounds. */
  public enum Bound {
    /** The ratio is the limit or less. */
    AT_MOST,
    /** It is less than the limit. */
    BELOW,
    /** It is the limit or more. */
    AT_LEAST;

    /** {@return whether a ratio meets a limit} */
    boolean allows(double ratio, double limit) {
      return switch (this) {
        case AT_MOST -> ratio <= limit;
        case BELOW -> ratio < limit;
        case AT_LEAST -> ratio >= limit;
      };
    }

    /** In words: {@code at most}. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }

  /** Whether a target is met. */
  enum Verdict {
    MET,
    MISSED,
    /** One of the two was not measured, or does not do this. */
    NOT_MEASURED
  }

  // In the order of Contests.shapes.
  private static final double[] ONEDNN_LIMITS = {0.55, 1.05, 0.7, 1.1};
  private static final double[] ONEDNN_LAYER_NORM_LIMITS = {1.1, 1.1, 0.75, 1.15};
  private static final double[] ONEDNN_BACKWARD_LIMITS = {0.75, 0.6, 0.75, 0.9};
  private static final double[] ONEDNN_LAYER_NORM_BACKWARD_LIMITS = {0.75, 0.85, 0.75, 1.1};
  private static final double[] LIBTORCH_LIMITS = {0.35, 0.35, 0.35, 0.6};
  private static final double[] JAVA_LOOP_LIMITS = {0.2, 0.2, 0.35, 0.2};

  /** {@return all targets} */
  public static List<Target> all() {
    List<Target> all = new ArrayList<>();
    List<Contest> shapes = Contests.shapes(RMS_NORM).toList();
    List<Contest> layerNorms = Contests.shapes(LAYER_NORM).toList();
    List<Contest> gradients = Contests.backward(RMS_NORM).toList();
    List<Contest> layerNormGradients = Contests.backward(LAYER_NORM).toList();
    for (int i = 0; i < shapes.size(); i++) {
      Contest rms = shapes.get(i);
      all.add(atMost(rms, OWN, ONEDNN, ONEDNN_LIMITS[i]));
      all.add(atMost(rms, OWN, LIBTORCH_RMS_NORM, LIBTORCH_LIMITS[i]));
      all.add(atMost(rms, OWN, ONNX_RUNTIME + "SimplifiedLayerNormalization", 0.5));
      all.add(atMost(rms, OWN, ONNX_RUNTIME + "RMSNormalization", 0.5));
      all.add(atMost(rms, OWN, JAVA_LOOP, JAVA_LOOP_LIMITS[i]));
      all.add(atMost(layerNorms.get(i), OWN, ONEDNN, ONEDNN_LAYER_NORM_LIMITS[i]));
      all.add(atMost(gradients.get(i), OWN, ONEDNN, ONEDNN_BACKWARD_LIMITS[i]));
      all.add(atMost(layerNormGradients.get(i), OWN, ONEDNN, ONEDNN_LAYER_NORM_BACKWARD_LIMITS[i]));
    }
    Contest bfloat16 = Contest.forward(RMS_NORM, 128, 4096).with(BFLOAT16);
    all.add(atMost(bfloat16, OWN, ONEDNN, 1.25));
    Contest longBfloat16 = Contest.forward(RMS_NORM, 8192, 4096).with(BFLOAT16);
    all.add(atMost(longBfloat16, OWN, ONEDNN, 1.0));
    all.add(atMost(Contest.forward(RMS_NORM, 8192, 4096), IN_PLACE, COPY, 1.15));
    for (int rows : new int[] {1, 128}) {
      Contest layerNorm = Contest.forward(LAYER_NORM, rows, 4096);
      all.add(new Target(layerNorm, OWN_RMS_NORM, OWN, Bound.BELOW, 1));
    }
    Contests.loops().forEach(c -> all.add(atMost(c, NO_FLAGS.system(), JAVA_LOOP, loopLimit(c))));
    variants().forEach(all::add);
    return List.copyOf(all);
  }

  private static Stream<Target> variants() {
    return Comparison.all().stream()
        .flatMap(
            comparison ->
                comparison.contests().stream()
                    .flatMap(
                        contest ->
                            Stream.of(KernelKind.values())
                                .flatMap(kind -> comparison.target(contest, kind).stream())));
  }

  /** The loop widens and rounds 16-bit elements one by one. */
  private static double loopLimit(Contest contest) {
    return contest.type().bytes() == 2 ? 0.8 : 0.9;
  }

  private static Target atMost(Contest contest, String system, String against, double limit) {
    return new Target(contest, system, against, Bound.AT_MOST, limit);
  }

  OptionalDouble ratio(PeerResults results, int threads) {
    return ratio(results, contest, threads, system, against);
  }

  /**
   * {@return median over median, in the JVM with the middle ratio, in a polluted process; empty
   * where it was not measured}
   *
   * @param results of a run
   * @param contest where the systems meet
   * @param threads how many each might use
   * @param system whose time is divided
   * @param against by whose
   */
  public static OptionalDouble ratio(
      PeerResults results, Contest contest, int threads, String system, String against) {
    List<Double> ratios =
        results.figures().stream()
            .filter(f -> f.contest().equals(contest) && f.threads() == threads && f.polluted())
            .filter(f -> timed(f, system) && timed(f, against))
            .map(
                f ->
                    f.entry(system).orElseThrow().median()
                        / f.entry(against).orElseThrow().median())
            .toList();
    return ratios.isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(Samples.median(ratios));
  }

  private static boolean timed(Figure figure, String system) {
    return figure.entry(system).map(Entry::refused).isEmpty() && figure.entry(system).isPresent();
  }

  /** Judges the figure as the tables show it. */
  Verdict verdict(OptionalDouble ratio) {
    if (ratio.isEmpty()) {
      return Verdict.NOT_MEASURED;
    }
    double shown = Math.round(ratio.getAsDouble() * 100) / 100.0;
    return bound.allows(shown, limit) ? Verdict.MET : Verdict.MISSED;
  }

  /** For example {@code RMSNorm float32 128 x 4096: rmsnorm4j against oneDNN at most 1.0}. */
  @Override
  public String toString() {
    return "%s: %s against %s %s %s".formatted(contest, system, against, bound, limit);
  }
}
