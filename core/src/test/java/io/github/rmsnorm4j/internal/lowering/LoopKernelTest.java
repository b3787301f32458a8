package io.github.rmsnorm4j.internal.lowering;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.PlainKernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Loops of drawn descriptions have the same bits as plain Java, on every way that they have. */
class LoopKernelTest {
  private static final int DRAWS = 1500;
  private static final List<Integer> WIDTHS = List.of(1, 7, 31, 32, 64, 100, 512, 608, 1056, 2080);
  private static final Set<ElementType> NARROW = Set.of(ElementType.FLOAT16, ElementType.BFLOAT16);

  private final Set<String> seen = new TreeSet<>();

  @Test
  void everyWayHasTheSameBits() {
    for (int seed = 0; seed < DRAWS; seed++) {
      try (Arena arena = Arena.ofConfined()) {
        check(seed, arena);
      }
    }
    Set<String> all = new TreeSet<>(List.of("several loops", "element 0", "sums", "column sums"));
    for (LoopKernel.Way way : LoopKernel.Way.values()) {
      all.add(way.toString());
    }
    for (int terms : new int[] {0, 2, 4}) {
      all.add(terms + " terms for each lane");
    }
    all.removeAll(seen);
    assertThat(all).as("what %d draws did not reach", DRAWS).isEmpty();
  }

  private void check(int seed, Arena arena) {
    SplittableRandom random = new SplittableRandom(seed);
    boolean float64 = random.nextInt(4) == 0;
    Stage stage = stage(random, float64);
    Map<Tensor, Memory> memory = DrawnKernel.memory(random, random.nextInt(4) == 0 ? 2 : 1);
    int width = WIDTHS.get(random.nextInt(WIDTHS.size()));
    int rows = 1 + random.nextInt(3);
    int column = 32 * random.nextInt(2);
    int from = stage.sums().isEmpty() ? random.nextInt(Math.min(width, 40)) : 0;
    boolean ordered = random.nextBoolean();
    Work loops = new Work(seed, arena, List.of(stage), memory, column, rows, width, false, ordered);
    Work plain = new Work(seed, arena, List.of(stage), memory, column, rows, width, false, ordered);
    Frame frame = loops.frames().getFirst();
    if (random.nextBoolean()) {
      widen(frame, stage);
    }
    LoopKernel kernel = LoopKernel.of(stage);
    count(stage, kernel, frame, from, width);
    kernel.run(frame, rows, from, width);
    new PlainKernel(stage, 0).run(plain.frames().getFirst(), rows, from, width);
    assertThat(loops.difference(plain))
        .as(
            "seed %d, %d rows, %d to %d, column %d, %s, ordered: %s%n%s",
            seed, rows, from, width, column, memory, ordered, stage.text())
        .isNull();
  }

  private static Stage stage(SplittableRandom random, boolean float64) {
    Set<ElementType> narrow = Set.of(); // Rows of 16 bits are converted before.
    DrawnValues values = new DrawnValues(random, float64, narrow, false, true);
    DrawnStages drawn = new DrawnStages(random, values, 1 + random.nextInt(4));
    NormStages norm = new NormStages(random, float64, narrow, false);
    return switch (random.nextInt(12)) {
      case 0, 1 -> drawn.sums();
      case 2 -> drawn.stores();
      case 3 -> drawn.columnSums();
      case 4 -> drawn.ofRows(random.nextBoolean());
      case 5 -> drawn.first();
      case 6, 7 -> norm.forward().statistic();
      case 8 -> norm.backward().sums();
      case 9 -> norm.forward().output();
      case 10 -> norm.backward().output();
      default -> norm.forward().roots();
    };
  }

  /** As the columns of a norm are, which the stage does not add to. */
  private static void widen(Frame frame, Stage stage) {
    for (Tensor tensor : stage.read().keySet()) {
      boolean read = tensor.access() == Tensor.Access.COLUMN;
      if (read && frame.base[tensor.slot()] instanceof float[] numbers) {
        double[] wide = new double[numbers.length];
        for (int i = 0; i < wide.length; i++) {
          wide[i] = numbers[i];
        }
        frame.base[tensor.slot()] = wide;
        frame.offset[tensor.slot()] *= 2;
      }
    }
  }

  private void count(Stage stage, LoopKernel kernel, Frame frame, int from, int width) {
    LoopPlan plan = new LoopPlan(stage);
    if (stage.isOfRows()) {
      return;
    }
    seen.add(kernel.way(frame, from, width).toString());
    if (!stage.sums().isEmpty()) {
      seen.add("sums");
      seen.add(plan.terms() + " terms for each lane");
    }
    if (!stage.columnSums().isEmpty()) {
      seen.add("column sums");
    }
    if (plan.rounds().size() > 1) {
      seen.add("several loops");
    }
    if (!stage.hasElements()) {
      seen.add("element 0");
    }
  }

  @Test
  void aStageOfManyArraysIsRefused() {
    Stage.Builder stage = new Stage.Builder();
    Value x = Value.element(Forward.X, ElementType.FLOAT64);
    for (int k = 0; k < Frame.MAX_STRIPS; k++) {
      stage.store(Forward.Y, ElementType.FLOAT64, x.times(Value.literal(k)));
    }
    assertThat(LoopKernel.of(stage.build())).isNull();
  }

  /** Rows of several super-blocks, piece by piece; the last is short. */
  @Test
  void longRowsHaveTheSameSums() {
    for (int seed = 1; seed <= 4; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      DrawnValues values = new DrawnValues(random, seed == 3, Set.of(), false, true);
      Stage stage = new DrawnStages(random, values, 2).longSums();
      int width = 2 * SumOrder.SUPER_BLOCK + List.of(1, 5_000, 1_024, 992).get(seed - 1);
      Map<Tensor, Memory> memory = DrawnKernel.memory(random, seed % 3);
      List<Work> works = new ArrayList<>();
      try (Arena arena = Arena.ofConfined()) {
        for (var kernel : List.of(LoopKernel.of(stage), new PlainKernel(stage, 0))) {
          Work work = new Work(seed, arena, List.of(stage), memory, 0, 1, width, false, false);
          Frame frame = work.frames().getFirst();
          RowSum.open(frame);
          for (int from = 0; from < width; from += SumOrder.SUPER_BLOCK) {
            work.piece(frame, from);
            kernel.superBlock(frame, Math.min(SumOrder.SUPER_BLOCK, width - from));
          }
          kernel.close(frame);
          works.add(work);
        }
        assertThat(works.get(0).difference(works.get(1)))
            .as("seed %d%n%s", seed, stage.text())
            .isNull();
      }
    }
  }
}
