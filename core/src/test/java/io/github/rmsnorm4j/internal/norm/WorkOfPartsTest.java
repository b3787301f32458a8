package io.github.rmsnorm4j.internal.norm;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.internal.backend.BackEnd;
import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Compiled;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.backend.OutputStores;
import io.github.rmsnorm4j.internal.backend.PlainBackEnd;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What backward passes with a gain of samples or groups do: one plan, one worker for each thread,
 * and as few runs of rows as their sums allow.
 */
class WorkOfPartsTest {
  private static final int WIDTH = 64;

  private final AtomicInteger plans = new AtomicInteger();
  private final AtomicInteger workers = new AtomicInteger();
  private final AtomicInteger runs = new AtomicInteger();
  private final BitSet taken = new BitSet();

  /** Plain Java, whose work is counted. */
  private final class Counting implements BackEnd {
    @Override
    public Compiled compile(Call call, OutputStores stores) {
      plans.incrementAndGet();
      Compiled plain = new PlainBackEnd().compile(call, stores);
      return opened -> {
        workers.incrementAndGet();
        return counted(plain.open(opened));
      };
    }

    private Worker counted(Worker worker) {
      return new Worker() {
        @Override
        public long run(long from, long to, Object[] sums) {
          runs.incrementAndGet();
          return worker.run(from, to, sums);
        }

        @Override
        public int stoppedAt(Frame into) {
          return worker.stoppedAt(into);
        }

        @Override
        public void close() {
          worker.close();
        }
      };
    }
  }

  private static RowMemory memory(int elements, long stride, long period, long outerStride) {
    float[] ones = new float[elements];
    Arrays.fill(ones, 1);
    MemorySegment segment = MemorySegment.ofArray(ones);
    return new RowMemory(segment, ElementType.FLOAT32, stride, period, outerStride, true);
  }

  private void run(int rows, RowMemory gain, int threads, int samples, int groups) {
    NormChoices choices = new NormChoices(NormSpec.RMSNORM, WIDTH, WIDTH, 1e-6);
    BackwardFormula formula =
        new BackwardFormula(NormSpec.RMSNORM, false, false, true, false, true, true);
    RowMemory[] all = new RowMemory[Tensor.Access.ELEMENT.places()];
    for (Tensor tensor : List.of(Forward.X, Backward.DY, Backward.DX)) {
      all[tensor.place()] = memory(rows * WIDTH, 4 * WIDTH, 0, 0);
    }
    all[Forward.GAIN_OF_GROUPS.place()] = gain;
    Call call = new Call(choices, formula, all, null, null, null, null, null);
    SumsOverRows.run(
        call,
        new Plans(List.of(new Counting())),
        rows,
        threads,
        samples,
        groups,
        (dgain, dbias, at, sample) -> {
          synchronized (taken) {
            taken.set(sample);
          }
          float terms = (float) rows / groups / samples;
          float[] sums = (float[]) dbias;
          for (int i = 0; i < groups * WIDTH; i++) {
            assertThat(sums[at + i]).isEqualTo(terms);
          }
        });
    assertThat(taken.cardinality()).isEqualTo(samples);
    assertThat(plans).hasValue(1);
  }

  /** A block of at most 32 rows of a sample is a run; rows that are samples go many at a time. */
  @ParameterizedTest
  @CsvSource({"64, 16, 64", "3, 100, 12", "256, 1, 2", "200, 1, 2", "1, 70, 3"})
  void samples(int samples, int rows, int expected) {
    RowMemory gain =
        rows == 1
            ? memory(samples * WIDTH, 4 * WIDTH, 0, 0)
            : memory(samples * WIDTH, 0, rows, 4 * WIDTH);
    run(samples * rows, gain, 1, samples, 1);
    assertThat(workers).hasValue(1);
    assertThat(runs).hasValue(expected);
  }

  /** All groups of a row are one run, where a worker needs one stride. */
  @Test
  void groups() {
    run(96 * 8, memory(8 * WIDTH, 4 * WIDTH, 8, 0), 1, 1, 8);
    assertThat(workers).hasValue(1);
    assertThat(runs).hasValue(96);
  }

  /** One schedule: a thread begins once for each of its shares, not once for each sample. */
  @Test
  void threadsShareSamples() {
    int samples = 1 << 13;
    run(4 * samples, memory(samples * WIDTH, 0, 4, 4 * WIDTH), 2, samples, 1);
    assertThat(runs).hasValue(samples);
    assertThat(workers.get()).isBetween(2, 200);
  }
}
