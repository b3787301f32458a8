package io.github.rmsnorm4j.benchmarks.peers;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.benchmarks.Kernel.LAYER_NORM;
import static io.github.rmsnorm4j.benchmarks.Kernel.RMS_NORM;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.Target.Bound;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Two of the things that a run of {@link Run#VARIANTS} times in turn, as a ratio of their times.
 *
 * @param kernel of the contests
 * @param type of their rows
 * @param variant whose time is divided
 * @param against by whose
 * @param bound how the limits are meant
 * @param inCache the limit for rows that fit into the caches; NaN for none
 * @param fromMemory the limit for rows that do not; NaN for none
 */
public record Comparison(
    Kernel kernel,
    ElementType type,
    Variant variant,
    Variant against,
    Bound bound,
    double inCache,
    double fromMemory) {
  /** Rows in a batch that fits into no cache. */
  private static final int LARGE_BATCH = 8192;

  /**
   * A norm with a gate moves three rows, two to read and one to write, and the plain norm two. From
   * memory it may take 1.2 times as long as three rows would take the norm, which is 1.2 * 3 / 2.
   */
  private static final double GATE_FROM_MEMORY = 1.8;

  /** {@return all of them, those of the same contests together} */
  public static List<Comparison> all() {
    return Stream.of(
            quantised(QuantizedType.Q8_0, 1.25, 0.9),
            inOneCall(QuantizedType.Q8_0, 1.7),
            quantised(QuantizedType.int8(32), 1.25, 0.9),
            inOneCall(QuantizedType.int8(32), 1.7),
            quantised(QuantizedType.e4m3PerRow(), 1.6, 1.0),
            inOneCall(QuantizedType.e4m3PerRow(), Double.NaN),
            quantised(QuantizedType.e4m3(128), 1.6, 1.0),
            inOneCall(QuantizedType.e4m3(128), Double.NaN),
            rmsNorm(Variant.to(QuantizedType.Q8_0), Variant.ONNX_RUNTIME),
            rmsNorm(Variant.EIGHT_GROUPS, Variant.NORM).atMost(1.1, 1.1),
            rmsNorm(Variant.HEADS, Variant.NORM).atMost(1.1, 1.1),
            rmsNorm(Variant.HEADS_WITH_GAINS, Variant.NORM).atMost(1.1, 1.1),
            rmsNorm(Variant.L2, Variant.WITHOUT_GAIN).atMost(1.0, 1.0),
            gated(Gate.SILU),
            gated(Gate.SIGMOID),
            gated(Gate.SILU_BEFORE),
            rmsNorm(Variant.SANDWICH, Variant.SANDWICH_IN_THREE).atMost(0.75, 0.75),
            rmsNorm(Variant.SANDWICH, Variant.SANDWICH_IN_TWO),
            of(RMS_NORM, BFLOAT16, Variant.ROUNDED_ROOT, Variant.WITHOUT_GAIN).atMost(1.0, 1.0),
            of(LAYER_NORM, ElementType.FLOAT32, Variant.MODULATED, Variant.NORM))
        .toList();
  }

  private static Comparison quantised(QuantizedType type, double inCache, double fromMemory) {
    return rmsNorm(Variant.to(type), Variant.NORM).atMost(inCache, fromMemory);
  }

  private static Comparison inOneCall(QuantizedType type, double limit) {
    Comparison calls = rmsNorm(Variant.twoCalls(type), Variant.to(type));
    return calls.with(Bound.AT_LEAST, limit, limit);
  }

  private static Comparison gated(Gate gate) {
    return rmsNorm(Variant.gated(gate), Variant.NORM).atMost(2.2, GATE_FROM_MEMORY);
  }

  private static Comparison rmsNorm(Variant variant, Variant against) {
    return of(RMS_NORM, ElementType.FLOAT32, variant, against);
  }

  private static Comparison of(Kernel kernel, ElementType type, Variant variant, Variant against) {
    return new Comparison(kernel, type, variant, against, Bound.AT_MOST, Double.NaN, Double.NaN);
  }

  private Comparison atMost(double cacheLimit, double memoryLimit) {
    return with(Bound.AT_MOST, cacheLimit, memoryLimit);
  }

  private Comparison with(Bound other, double cacheLimit, double memoryLimit) {
    return new Comparison(kernel, type, variant, against, other, cacheLimit, memoryLimit);
  }

  /** {@return its contests: one token, a prompt, and a batch beyond the caches} */
  public List<Contest> contests() {
    return Stream.of(1, 128, LARGE_BATCH)
        .map(rows -> Contest.forward(kernel, rows, 4096).with(type))
        .toList();
  }

  /**
   * {@return what is asked of it in a contest; nothing where it is shown for information}
   *
   * @param contest one of its contests
   * @param kind what it runs on
   */
  Optional<Target> target(Contest contest, KernelKind kind) {
    double limit = contest.rows() < LARGE_BATCH ? inCache : fromMemory;
    return Double.isNaN(limit) || !kind.isMachineCode()
        ? Optional.empty()
        : Optional.of(
            new Target(contest, variant.system(kind), against.system(kind), bound, limit));
  }
}
