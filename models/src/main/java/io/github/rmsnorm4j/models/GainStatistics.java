package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.Optional;
import java.util.function.DoubleConsumer;

/**
 * What the gain of a norm is like.
 *
 * @param least the least gain
 * @param mean their mean
 * @param greatest the greatest gain
 * @param dead how many are 0: what the norm gives there is 0 for every row
 * @param negative how many are below 0
 * @param nonFinite how many are NaN or infinite; they do not count in the other figures
 * @param looksLike the offset that the stored numbers look like: 0 for a gain as it is, 1 for a
 *     gain less 1; empty if they may be either
 */
public record GainStatistics(
    double least,
    double mean,
    double greatest,
    int dead,
    int negative,
    int nonFinite,
    Optional<Double> looksLike) {
  /** A mean of the stored numbers below this is nearer to 0 than to 1. */
  private static final double NEARER_TO_0 = 0.5;

  /** A trained gain is seldom below 0, a gain - 1 often is. */
  private static final double FEW = 0.05;

  private static final int PIECE = 1 << 16;

  /** What a gain is like, which is read in pieces. */
  static GainStatistics of(TensorFile file, Tensor gain, double offset) throws IOException {
    Counter counter = new Counter(offset);
    double[] numbers = new double[(int) Math.min(PIECE, gain.elements())];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment elements =
          arena.allocate((long) numbers.length * gain.dtype().bits() / Byte.SIZE, Double.BYTES);
      for (long at = 0; at < gain.elements(); at += PIECE) {
        int count = (int) Math.min(PIECE, gain.elements() - at);
        file.read(gain, at, count, elements);
        gain.dtype().decode(elements, numbers, count);
        Arrays.stream(numbers, 0, count).forEach(counter);
      }
    }
    return counter.statistics();
  }

  /** Takes the stored numbers of a gain one after the other. */
  private static final class Counter implements DoubleConsumer {
    private final double offset;
    private final DoubleSummaryStatistics stored = new DoubleSummaryStatistics();
    private int dead;
    private int negative;
    private int negativeStored;
    private int nonFinite;

    Counter(double offset) {
      this.offset = offset;
    }

    @Override
    public void accept(double value) {
      if (Double.isFinite(value)) {
        stored.accept(value);
        negativeStored += value < 0 ? 1 : 0;
        dead += value + offset == 0 ? 1 : 0;
        negative += value + offset < 0 ? 1 : 0;
      } else {
        nonFinite++;
      }
    }

    GainStatistics statistics() {
      boolean none = stored.getCount() == 0;
      return new GainStatistics(
          none ? Double.NaN : stored.getMin() + offset,
          none ? Double.NaN : stored.getAverage() + offset,
          none ? Double.NaN : stored.getMax() + offset,
          dead,
          negative,
          nonFinite,
          none ? Optional.empty() : looksLike());
    }

    private Optional<Double> looksLike() {
      boolean nearer1 = stored.getAverage() >= NEARER_TO_0;
      boolean seldom = (double) negativeStored / stored.getCount() < FEW;
      boolean zero = stored.getMin() == 0 && stored.getMax() == 0;
      if (zero || !nearer1 && !seldom) {
        return Optional.of(1.0);
      }
      return nearer1 && seldom ? Optional.of(0.0) : Optional.empty();
    }
  }
}
