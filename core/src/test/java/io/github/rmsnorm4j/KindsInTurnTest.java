package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.internal.backend.BackEnd;
import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Compiled;
import io.github.rmsnorm4j.internal.backend.OutputStores;
import io.github.rmsnorm4j.internal.backend.PlainBackEnd;
import io.github.rmsnorm4j.internal.formula.ForwardFormula;
import io.github.rmsnorm4j.internal.norm.Plans;
import io.github.rmsnorm4j.internal.norm.Runner;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Calls of many kinds on one norm: each has its plan made once. */
class KindsInTurnTest {
  private static final int WIDTH = 64;

  private final Norm norm = RmsNorm.builder(WIDTH).threads(1).backend(Backend.scalar()).build();
  private int made;
  private final Plans plans = new Plans(List.of(new Counting()));

  /** Plain Java, whose plans are counted. */
  private final class Counting implements BackEnd {
    @Override
    public Compiled compile(Call call, OutputStores stores) {
      made++;
      return new PlainBackEnd().compile(call, stores);
    }
  }

  /** Each type in and out, in arrays and in native memory, with a residual and without. */
  private List<Call> kinds(Arena arena) {
    List<Call> kinds = new ArrayList<>();
    for (ElementType in : ElementType.values()) {
      for (ElementType out : ElementType.values()) {
        for (Place place : new Place[] {Place.ARRAY, Place.NATIVE}) {
          Rows x = new Block(arena, place, in, 2, WIDTH, WIDTH).rows;
          Rows residual = new Block(arena, place, in, 2, WIDTH, WIDTH).rows;
          Rows y = new Block(arena, place, out, 2, WIDTH, WIDTH).rows;
          kinds.add(call(new ForwardCall(norm, x, y)));
          kinds.add(call(new ForwardCall(norm, x, y).adding(residual)));
        }
      }
    }
    return kinds;
  }

  private Call call(ForwardCall of) {
    return of.call(of.output(norm.backEndParts()), null);
  }

  @Test
  void areAllKept() {
    try (Arena arena = Arena.ofConfined()) {
      List<Call> kinds = kinds(arena);
      SplittableRandom random = new SplittableRandom(1);
      for (int round = 0; round < 20; round++) {
        kinds.forEach(call -> Runner.run(call, plans, 2, 1));
        Runner.run(kinds.get(random.nextInt(kinds.size())), plans, 2, 1);
      }
      assertThat(made).isEqualTo(kinds.size()).isEqualTo(64);
    }
  }

  /** Beyond the limit those go that no call found lately. */
  @Test
  void thoseThatAreUsedStay() {
    try (Arena arena = Arena.ofConfined()) {
      List<Call> used = kinds(arena).subList(0, 16);
      int others = 500;
      for (int i = 1; i <= others; i++) {
        used.forEach(call -> Runner.run(call, plans, 2, 1));
        Runner.run(withEpsilon(used.getFirst(), i * 1e-6), plans, 2, 1);
      }
      assertThat(made).isEqualTo(used.size() + others);
    }
  }

  /** A kind of its own, with the rows of another one. */
  private Call withEpsilon(Call call, double epsilon) {
    ForwardFormula formula =
        ForwardFormula.of(norm.spec().withEpsilon(1 + epsilon), ElementType.FLOAT32, null, false);
    return new Call(
        call.choices(), formula, call.rows(), call.gain(), call.bias(), call.ofNorm(), null, null);
  }
}
