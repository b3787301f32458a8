package io.github.rmsnorm4j.internal.lowering;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Kernels of drawn descriptions have the same bits with vectors, in plain Java and by definition,
 * on every way that the lowering has.
 */
class KernelPathsTest {
  private static final long SEED = 20_250_916;

  /** Draws, and more until every way has been taken; at most so many. */
  private static final int DRAWS = 1000;

  private static final int MOST = 200_000;

  /** How often a way is taken, at most. */
  private static final int TIMES = Boolean.getBoolean("tests.all") ? 5 : 1;

  @ParameterizedTest
  @ValueSource(ints = {128, 256, 512})
  void everyWayHasTheSameBits(int bits) {
    Map<Way, Integer> taken = new HashMap<>();
    Set<Way> left = Way.all(bits);
    for (int draw = 0; draw < DRAWS || draw < MOST && !left.isEmpty(); draw++) {
      DrawnKernel drawn = new DrawnKernel(SEED + draw, draw, bits);
      Way way = drawn.way();
      if (way == null || taken.merge(way, 1, Integer::sum) > TIMES) {
        continue;
      }
      try (Arena arena = Arena.ofConfined()) {
        check(drawn, arena);
      } catch (RuntimeException | LinkageError e) {
        throw new AssertionError(drawn.toString(), e);
      }
      left.remove(way);
    }
    assertThat(left).as("ways that %d draws from seed %d on did not take", MOST, SEED).isEmpty();
  }

  /** Numbers of rows that take a larger loop are computed one row after the other. */
  @ParameterizedTest
  @ValueSource(ints = {128, 256, 512})
  void loopsOverVectorsOfRowsAreSmallEnoughForTheJit(int bits) {
    int vectors = 0;
    for (int draw = 0; draw < 2 * DRAWS; draw++) {
      DrawnKernel drawn = new DrawnKernel(SEED + draw, draw, bits);
      Stage stage = drawn.stages.getFirst();
      if (stage.isOfRows() && drawn.target.hasVectorsOfRows()) {
        assertThat(Schedule.fitsRows(new KernelClass(drawn.target).calls()))
            .as("%s", drawn)
            .isTrue();
        vectors++;
      }
    }
    assertThat(vectors).isGreaterThan(50);
  }

  private static Work work(DrawnKernel drawn, Arena arena) {
    return new Work(
        drawn.seed,
        arena,
        drawn.stages,
        drawn.memory,
        drawn.column,
        drawn.rows,
        drawn.width,
        drawn.paired,
        false);
  }

  private static void check(DrawnKernel drawn, Arena arena) {
    Work vectors = work(drawn, arena);
    List<Frame> frames = vectors.frames();
    if (drawn.staggered != null) {
      drawn.staggered.run(frames.get(0), frames.get(1), drawn.rows, drawn.width);
    } else {
      Kernel kernel = drawn.kernels.of(drawn.stages.getFirst(), drawn.target.width());
      kernel.run(frames.getFirst(), drawn.rows, drawn.from, drawn.width);
    }
    Work plain = work(drawn, arena);
    List<Frame> ofPlain = plain.frames();
    for (int p = 0; p < drawn.stages.size(); p++) {
      drawn
          .kernels
          .plain(drawn.stages.get(p))
          .run(ofPlain.get(p), drawn.rows, drawn.from, drawn.width);
    }
    Work defined = work(drawn, arena);
    defined.byDefinition(drawn.from, drawn.width);
    assertThat(plain.difference(defined)).as("plain Java and definition, %s", drawn).isNull();
    assertThat(vectors.difference(plain)).as("vectors and plain Java, %s", drawn).isNull();
  }

  /** Rows of several super-blocks, piece by piece; the last is short. */
  @ParameterizedTest
  @ValueSource(ints = {0, 128, 256, 512})
  void longRowsHaveTheSameSums(int bits) {
    for (long seed = 1; seed <= 4; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      boolean paired = seed % 2 == 0 && bits > 0;
      Set<ElementType> narrow = paired ? Set.of(ElementType.BFLOAT16) : Set.of();
      Stage stage =
          new DrawnStages(random, new DrawnValues(random, seed == 3, narrow, paired, true), 2)
              .longSums();
      int width = 2 * SumOrder.SUPER_BLOCK + List.of(1, 5_000, 1_024, 992).get((int) seed - 1);
      Map<Tensor, Memory> memory = DrawnKernel.memory(random, (int) seed % 3);
      Kernels kernels = new Kernels(bits, memory, width, paired);
      try (Arena arena = Arena.ofConfined()) {
        Work pieces = new Work(seed, arena, List.of(stage), memory, 0, 1, width, paired, false);
        Frame frame = pieces.frames().getFirst();
        Kernel kernel = bits == 0 ? kernels.plain(stage) : kernels.of(stage, width);
        RowSum.open(frame);
        for (int from = 0; from < width; from += SumOrder.SUPER_BLOCK) {
          pieces.piece(frame, from);
          kernel.superBlock(frame, Math.min(SumOrder.SUPER_BLOCK, width - from));
        }
        kernel.close(frame);
        Work defined = new Work(seed, arena, List.of(stage), memory, 0, 1, width, paired, false);
        defined.byDefinition(0, width);
        assertThat(pieces.difference(defined))
            .as("seed %d, %d bits, paired: %s%n%s", seed, bits, paired, stage.text())
            .isNull();
      }
    }
  }
}
