package io.github.rmsnorm4j.benchmarks;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT64;
import static io.github.rmsnorm4j.benchmarks.Job.ADD_AND_NORM;
import static io.github.rmsnorm4j.benchmarks.Job.ADD_THEN_NORM;
import static io.github.rmsnorm4j.benchmarks.Job.BACKWARD;
import static io.github.rmsnorm4j.benchmarks.Kernel.LAYER_NORM;
import static io.github.rmsnorm4j.benchmarks.Kernel.RMS_NORM;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A row of the table: what is measured, what against, and how much longer it may take.
 *
 * @param subject what is measured
 * @param baseline the norm it is compared with; null for a copy of the same bytes
 * @param bits the width of vectors; 0 for that of the table
 * @param targets the most that the ratio may be, by width of vectors; key 0 for any width
 */
record Row(Subject subject, Subject baseline, int bits, Map<Integer, Double> targets) {
  /** How much longer than alone a norm may take in a polluted process. */
  static final double POLLUTED_TARGET = 1.15;

  static final int NO_TARGET = -1;
  static final int ANY_WIDTH = 0;

  private static final Map<Integer, Double> NONE = Map.of();
  private static final Map<Integer, Double> BATCH = Map.of(512, 1.6, 256, 2.3, 128, 3.2);
  private static final Map<Integer, Double> ADDED = Map.of(512, 0.75);
  private static final Map<Integer, Double> NARROW_TYPE = Map.of(ANY_WIDTH, 1.6);

  /** The rows of a table whose vectors have a given width. */
  static List<Row> all(int tableBits) {
    Subject batch = Subject.of(RMS_NORM, 128, 4096);
    Subject large = Subject.of(RMS_NORM, 8192, 4096);
    return List.of(
            againstCopy(batch, BATCH),
            againstCopy(batch.asInPlace(), Map.of(512, 1.15)),
            againstCopy(large, Map.of(512, 1.8)),
            againstCopy(large.asInPlace(), Map.of(512, 1.3)),
            againstCopy(Subject.of(RMS_NORM, 4096, 64), Map.of(512, 2.0)),
            againstCopy(Subject.of(RMS_NORM, 1, 4096), Map.of(512, 4.5)),
            againstCopy(Subject.of(LAYER_NORM, 128, 4096), Map.of(512, 2.5)),
            againstCopy(batch.with(Memory.HEAP), NONE),
            againstCopy(batch.with(FLOAT64), NONE),
            new Row(batch.with(FLOAT16), batch, 0, NARROW_TYPE),
            new Row(batch.with(BFLOAT16), batch, 0, NARROW_TYPE),
            new Row(batch.asSafe(), batch, 0, NONE),
            added(batch),
            added(large),
            againstCopy(batch.with(BACKWARD), Map.of(512, 3.0)),
            againstCopy(large.with(BACKWARD), Map.of(512, 3.1)),
            againstCopy(Subject.of(LAYER_NORM, 128, 4096).with(BACKWARD), Map.of(512, 3.8)),
            againstCopy(Subject.of(LAYER_NORM, 8192, 4096).with(BACKWARD), Map.of(512, 3.6)),
            new Row(batch, null, 256, BATCH),
            new Row(batch, null, 128, BATCH))
        .stream()
        .filter(row -> row.bits < tableBits)
        .toList();
  }

  private static Row added(Subject norm) {
    return new Row(norm.with(ADD_AND_NORM), norm.with(ADD_THEN_NORM), 0, ADDED);
  }

  private static Row againstCopy(Subject subject, Map<Integer, Double> targets) {
    return new Row(subject, null, 0, targets);
  }

  /** Names the row, in the table and in the files of results. */
  String title() {
    return subject + (bits == 0 ? "" : ", " + bits + "-bit vectors");
  }

  String baselineTitle() {
    return baseline == null ? "copy" : baseline.toString();
  }

  int bits(int tableBits) {
    return bits == 0 ? tableBits : bits;
  }

  /** The width whose target is the nearest: the row's own, any, or the widest; or there is none. */
  int targetBits(int tableBits) {
    return IntStream.of(bits(tableBits), ANY_WIDTH, 512)
        .filter(targets::containsKey)
        .findFirst()
        .orElse(NO_TARGET);
  }
}
