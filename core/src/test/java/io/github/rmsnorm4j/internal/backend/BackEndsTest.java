package io.github.rmsnorm4j.internal.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.backend.DrawnCall.Size;
import io.github.rmsnorm4j.internal.backend.RowMemory.Access;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.lowering.LoopBackEnd;
import io.github.rmsnorm4j.internal.lowering.VectorBackEnd;
import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import io.github.rmsnorm4j.internal.lowering.machine.MachineBackEnd;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import jdk.incubator.vector.FloatVector;
import org.junit.jupiter.api.Test;

/**
 * Drawn calls have the same bits on every back end. With {@code tests.all} they reach every step of
 * every program on each.
 */
class BackEndsTest {
  private static final boolean ALL_DRAWS = Boolean.getBoolean("tests.all");

  /** Of each size; long rows take the most time. */
  private static final Map<Size, Integer> DRAWS =
      new EnumMap<>(
          ALL_DRAWS
              ? Map.of(Size.SMALL, 280, Size.CHUNKS, 24, Size.LONG, 88, Size.TWO_PASSES, 4)
              : Map.of(Size.SMALL, 90, Size.CHUNKS, 12, Size.LONG, 12, Size.TWO_PASSES, 1));

  private static final int WIDEST = FloatVector.SPECIES_PREFERRED.vectorBitSize();
  private static final int MACHINE = Machine.here().bits();

  /** In the order in which they run; the first two say what the steps of a call are. */
  private enum Kind {
    INTERPRETED("Rows", "Rows stops"),
    INTERPRETED_WIDE("Rows", "Rows stops"),
    PLAIN("StagedRows"),
    LOOPS("StagedRows"),
    VECTORS("StagedRows", "StaggeredRows of chunks", "StaggeredRows of many chunks"),
    MACHINE(
        "WholeRows",
        "WholeRows stops",
        "WholeRows of strips",
        "WholeRows of strips stops",
        "RowsInPieces",
        "RowsInPieces stops");

    private final List<String> workers;

    Kind(String... workers) {
      this.workers = List.of(workers);
    }
  }

  /** By back end: its workers, and the steps and the memory of calls that it ran. */
  private final Map<Kind, Set<String>> seen = new EnumMap<>(Kind.class);

  @Test
  void haveTheSameBits() {
    for (Kind kind : Kind.values()) {
      seen.put(kind, new TreeSet<>());
    }
    DRAWS.forEach(
        (size, draws) -> {
          for (int seed = 0; seed < draws; seed++) {
            check(new DrawnCall(seed, size), size, seed);
          }
        });
    Map<Kind, Set<String>> missing = new EnumMap<>(Kind.class);
    for (Kind kind : Kind.values()) {
      Set<String> all = all(kind);
      all.removeAll(seen.get(kind));
      if (!all.isEmpty() && (kind != Kind.MACHINE || MACHINE > 0)) {
        missing.put(kind, all);
      }
    }
    if (ALL_DRAWS) {
      assertThat(missing).as("what the drawn calls did not reach").isEmpty();
    }
  }

  private static Set<String> all(Kind kind) {
    Set<String> all = new TreeSet<>(Reach.all());
    all.addAll(kind.workers);
    for (Access access : Access.values()) {
      for (Tensor tensor :
          List.of(
              Forward.X,
              Forward.RESIDUAL,
              Forward.Z,
              Forward.Y,
              Backward.DY,
              Backward.DX,
              Backward.DZ)) {
        if (kind != Kind.MACHINE || access != Access.CHECKED) {
          all.add(tensor + " in " + access);
        }
      }
    }
    if (kind != Kind.PLAIN && kind != Kind.LOOPS && kind != Kind.VECTORS) {
      for (String direction : List.of("forward", "backward")) {
        all.add(direction + " tiny squares");
        all.add(direction + " great squares");
      }
    }
    return all;
  }

  private void check(DrawnCall call, Size size, int seed) {
    Set<String> reached = new TreeSet<>();
    call.operands.forEach((tensor, rows) -> reached.add(tensor + " in " + rows.access()));
    Map<String, long[]> wanted = null;
    for (Kind kind : Kind.values()) {
      if (size == Size.SMALL && kind != Kind.INTERPRETED && !isInTurn(kind, seed)) {
        continue;
      }
      BackEnd backEnd = backEnd(kind, call, seed, reached);
      WatchedBackEnd watched = new WatchedBackEnd(backEnd, seen.get(kind));
      Map<String, long[]> bits = run(call, watched, kind);
      wanted = wanted == null ? bits : wanted;
      for (String name : wanted.keySet()) {
        requireSame(wanted.get(name), bits.get(name), kind + ": " + name + ", " + call);
      }
      assertThat(watched.refusal != null).as("refused: %s", call).isEqualTo(refuses(kind, call));
      if (watched.refusal == null) {
        seen.get(kind).addAll(reached);
      }
    }
    seen.get(Kind.INTERPRETED).addAll(reached);
  }

  /** By default a back end has every second small call, with each type and width of vectors. */
  private static boolean isInTurn(Kind kind, int seed) {
    return ALL_DRAWS || (kind.ordinal() + seed + seed / 4 + seed / 8) % 2 == 0;
  }

  private static BackEnd backEnd(Kind kind, DrawnCall call, int seed, Set<String> reached) {
    return switch (kind) {
      case INTERPRETED, INTERPRETED_WIDE ->
          new InterpretedBackEnd(
              kind == Kind.INTERPRETED_WIDE,
              (program, step) -> reached.addAll(Reach.of(call.formula, program, step, call.width)));
      case PLAIN -> new PlainBackEnd();
      case LOOPS -> new LoopBackEnd();
      case VECTORS -> new VectorBackEnd(() -> vectorBits(call, seed));
      case MACHINE -> new MachineBackEnd(() -> Math.min(MACHINE, 256 << seed / 4 % 2), null);
    };
  }

  /** Vectors of 128 bits have no exponential. */
  private static int vectorBits(DrawnCall call, int seed) {
    int least = call.operands.containsKey(Forward.Z) ? 256 : 128;
    return Math.min(WIDEST, Math.max(least, 128 << (seed / 4 + 2) % 3));
  }

  /** Machine code reads no memory that is copied, nor float64 together with other types. */
  private static boolean refuses(Kind kind, DrawnCall call) {
    if (kind == Kind.VECTORS) {
      return call.operands.containsKey(Forward.Z) && WIDEST == 128;
    }
    return kind == Kind.MACHINE
        && (MACHINE == 0
            || call.operands.values().stream().anyMatch(r -> r.access() == Access.CHECKED)
            || call.operands.values().stream()
                    .map(r -> r.type() == ElementType.FLOAT64)
                    .distinct()
                    .count()
                > 1);
  }

  private static Map<String, long[]> run(DrawnCall call, BackEnd backEnd, Kind kind) {
    try {
      return call.run(backEnd);
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError(kind + ": " + call, e);
    }
  }

  private static void requireSame(long[] wanted, long[] bits, String what) {
    int at = Arrays.mismatch(wanted, bits);
    if (at >= 0) {
      throw new AssertionError(
          "%s: number %d is %x, not %x".formatted(what, at, bits[at], wanted[at]));
    }
  }
}
