package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import io.github.rmsnorm4j.internal.machine.CallersState;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Native code has left the thread another state of the floating-point unit: flush-to-zero, or
 * another rounding. Calls of every kind, on every backend, have the bits that they have without.
 */
class OtherStateTest {
  private static final int TAKES_AS_ZERO = 0x40;
  private static final int FLUSHES = 0x8000;
  private static final int DOWN = 0x2000;
  private static final int UP = 0x4000;
  private static final int[] STATES = {
    CallersState.FLUSHES,
    CallersState.OF_JVM | FLUSHES,
    CallersState.OF_JVM | TAKES_AS_ZERO,
    CallersState.OF_JVM | UP,
    CallersState.OF_JVM | DOWN,
    CallersState.FLUSHES | UP | DOWN
  };
  private static final int DRAWS = 600;
  private static final String WARNING = "rounds differently from Java";

  private enum Kind {
    ARRAYS,
    OFFSETS,
    GAIN_OF_CALL,
    RESIDUAL,
    ROWS,
    GATED,
    BACKWARD,
    FROM_OUTPUT,
    SAMPLES,
    STATISTICS,
    SUMS,
    SEPARATE,
    PAIR,
    CODES,
    QUANTIZER,
    DEQUANTIZED
  }

  @BeforeEach
  void theStateCanBeSet() {
    assumeThat(Machine.isForThisSystem()).as("the register MXCSR").isTrue();
  }

  /** Machine code sets the state; rows may be confined to the thread. */
  @Test
  void withMachineCode() {
    assumeThat(Machine.here().bits()).as(Machine.here().whyNot()).isPositive();
    assertThat(differing(true)).isEmpty();
  }

  /** Otherwise another thread does the call. */
  @Test
  void withoutMachineCode() throws Exception {
    String output = withoutMachineCode("drawn");
    assertThat(output).contains("differing: []").doesNotContain(WARNING);
  }

  /** Rows that no other thread may touch have the results of the state, and a warning says so. */
  @Test
  void confinedRowsWithoutMachineCode() throws Exception {
    String output = withoutMachineCode("confined");
    assertThat(output).contains("usual: [0.36514843, 0.73029685, -1.0954453, 1.4605932]");
    assertThat(output).contains("other: [NaN, NaN, NaN, NaN]").containsOnlyOnce(WARNING);
  }

  private static String withoutMachineCode(String what) throws Exception {
    List<String> flags = ChildJvm.flags("-D" + Machine.SWITCH + "=false");
    ChildJvm child = ChildJvm.run(ChildJvm.program(flags, Program.class, what));
    assertThat(child.status()).as(child.output()).isZero();
    return child.output();
  }

  /** The text of a norm, and a part that is rounded down, are read in Java's state. */
  @Test
  void normsAreBuiltAsEver() {
    Object[] found = new Object[2];
    for (int state : STATES) {
      CallersState.during(
          state,
          () -> {
            found[0] = NormSpec.parse("rmsnorm(eps=1e-6)").epsilon().getAsDouble();
            found[1] = RowPart.of(0.29).down().elements(100);
          });
      assertThat(found).containsExactly(1e-6, 28);
    }
  }

  /** A process without machine code. */
  static final class Program {
    private Program() {}

    public static void main(String[] args) throws IOException {
      if (args[0].equals("drawn")) {
        System.out.println("differing: " + differing(false));
        return;
      }
      try (Arena arena = Arena.ofConfined()) {
        float[] values = {1e-39f, 2e-39f, -3e-39f, 4e-39f};
        RmsNorm norm = RmsNorm.builder(4).epsilon(0).build();
        MemorySegment x = arena.allocate(16).copyFrom(MemorySegment.ofArray(values));
        MemorySegment y = arena.allocate(16);
        Rows from = Rows.of(x, ElementType.FLOAT32, 1, 4);
        Rows to = Rows.of(y, ElementType.FLOAT32, 1, 4);
        norm.apply(from, to);
        System.out.println("usual: " + Arrays.toString(y.toArray(ValueLayout.JAVA_FLOAT)));
        CallersState.during(CallersState.FLUSHES, () -> norm.apply(from, to));
        System.out.println("other: " + Arrays.toString(y.toArray(ValueLayout.JAVA_FLOAT)));
        CallersState.during(CallersState.FLUSHES, () -> norm.apply(from, to));
      }
    }
  }

  /** The calls that have other bits in another state. */
  private static Set<String> differing(boolean confined) {
    Set<String> differing = new LinkedHashSet<>();
    Set<String> reached = new TreeSet<>();
    for (int seed = 0; seed < DRAWS; seed++) {
      int turn = seed / Kind.values().length;
      int state = STATES[turn % STATES.length];
      Kind kind = Kind.values()[seed % Kind.values().length];
      try (Arena arena = confined ? Arena.ofConfined() : Arena.ofShared()) {
        Job job = new Job(seed, kind, turn + turn / STATES.length, arena);
        Object[] expected = job.run();
        Object[][] found = new Object[1][];
        int after = CallersState.during(state, () -> found[0] = job.run());
        if (after != state || !Arrays.deepEquals(found[0], expected)) {
          differing.add(kind + " " + job.backend + " " + Integer.toHexString(state));
        }
        reached.add(kind + " " + job.backend);
        reached.add(kind + " " + state);
      }
    }
    int backends = Job.BACKENDS.size();
    assertThat(reached).hasSize(Kind.values().length * (backends + STATES.length));
    return differing;
  }

  /** Some calls, made of a norm that is built before. */
  private static final class Job {
    static final List<Backend> BACKENDS = backends();
    private static final int WIDTH = 64;
    private static final int ROWS = 3;
    private static final int N = ROWS * WIDTH;

    final Backend backend;
    private final Kind kind;
    private final Arena arena;
    private final SplittableRandom random;
    private final NormSpec spec;
    private final ElementType type;
    private final float[] x = new float[N];
    private final float[] other = new float[N];
    private final double[] gain = new double[WIDTH];

    Job(int seed, Kind kind, int backend, Arena arena) {
      random = new SplittableRandom(seed);
      this.kind = kind;
      this.arena = arena;
      this.backend = BACKENDS.get(backend % BACKENDS.size());
      NormSpec drawn =
          NormSpec.parse(
              List.of("rmsnorm(eps=0)", "layernorm(eps=0)", "gemma(eps=1e-300)", "l2(eps=0)")
                  .get(random.nextInt(4)));
      spec = kind == Kind.GATED ? drawn.withGate(Gate.SILU) : drawn.withGainOffset(0.1);
      type = ElementType.values()[random.nextInt(4)];
      double size = new double[] {1, 1e-39, 1e-25, 1e30, 1e-200}[random.nextInt(5)];
      for (int i = 0; i < N; i++) {
        x[i] = (float) (random.nextDouble(-1, 1) * Math.max(size, 1e-44));
        other[i] = (float) (random.nextDouble(-1, 1) * (i % 3 == 0 ? 1e-40 : 1));
      }
      Arrays.setAll(gain, i -> random.nextDouble(0.5, 1.5) * (i % 5 == 0 ? 1e-39 : 1));
    }

    private static List<Backend> backends() {
      List<Backend> all = new ArrayList<>(Backends.EACH);
      all.add(Backend.best());
      return all;
    }

    /** The arrays that calls leave. It computes nothing itself. */
    Object[] run() {
      Norm norm = spec.builder(WIDTH).gain(gain).backend(backend).build();
      float[] y = new float[N];
      float[] in = x.clone();
      float[] sum = other.clone();
      switch (kind) {
        case ARRAYS -> norm.apply(in, y);
        case OFFSETS -> norm.apply(in, WIDTH, y, 0, ROWS - 1);
        case GAIN_OF_CALL -> norm.apply(in, 0, other, WIDTH, y, WIDTH, ROWS - 1);
        case RESIDUAL -> norm.addAndApply(in, sum, y);
        case ROWS -> {
          Rows typed = rows();
          norm.apply(rows(in), typed);
          norm.apply(typed, rows(y));
        }
        case GATED -> norm.applyGated(rows(in), rows(sum), rows(y));
        case BACKWARD -> {
          Saved saved = new Saved(Keep.INPUT, ROWS);
          norm.apply(rows(in), rows(y), saved);
          double[] dgain = new double[WIDTH];
          float[] dx = new float[N];
          norm.backward(rows(sum), saved, rows(dx), ParameterGradients.assigned(dgain, null));
          return new Object[] {y, dx, dgain, saved.rstd()};
        }
        case FROM_OUTPUT -> {
          double[] wide = new double[N];
          for (int i = 0; i < N; i++) {
            wide[i] = 1 + i % 7;
          }
          Rows ofDoubles = Rows.of(new double[N], WIDTH);
          Saved saved = new Saved(Keep.OUTPUT, ROWS);
          norm.apply(Rows.of(wide, WIDTH), ofDoubles, saved);
          double[] dx = new double[N];
          norm.backward(Rows.of(wide, WIDTH), saved, Rows.of(dx, WIDTH), null);
          return new Object[] {saved.rstd(), dx};
        }
        case SAMPLES -> {
          Saved saved = new Saved(Keep.INPUT, ROWS);
          norm.withParameters(rows(sum), null).apply(rows(in), rows(y), saved);
          float[] dx = new float[N];
          float[] dgain = new float[N];
          norm.backward(rows(in), saved, rows(dx), ParameterGradients.assigned(dgain, null));
          return new Object[] {y, dx, dgain};
        }
        case STATISTICS -> {
          RowStatistics statistics = statistics();
          norm.statistics(rows(in), statistics);
          norm.apply(rows(in), statistics, rows(y));
          return new Object[] {y, statistics.mean(), statistics.rstd()};
        }
        case SUMS -> {
          double[] sums = new double[spec.isCentred() ? 2 * ROWS : ROWS];
          norm.sums(rows(in), sums);
          RowStatistics statistics = statistics();
          norm.statistics(sums, WIDTH, statistics);
          return new Object[] {sums, statistics.mean(), statistics.rstd()};
        }
        case SEPARATE -> {
          float[][] separate = new float[ROWS][WIDTH];
          for (int row = 0; row < ROWS; row++) {
            System.arraycopy(in, row * WIDTH, separate[row], 0, WIDTH);
          }
          norm.apply(separate, separate);
          return separate;
        }
        case PAIR -> {
          Norm next = RmsNorm.builder(WIDTH).backend(backend).build();
          norm.applyAndAdd(rows(in), rows(sum), next, rows(y));
        }
        case CODES -> {
          return codes(q -> norm.apply(rows(in), null, q));
        }
        case QUANTIZER -> {
          return codes(q -> Quantizer.defaults().quantize(rows(in), q, 1));
        }
        case DEQUANTIZED -> codes(q -> q.dequantize(rows(y)));
      }
      return new Object[] {y, sum};
    }

    private RowStatistics statistics() {
      double[] rstd = new double[ROWS];
      return spec.isCentred() ? RowStatistics.of(new double[ROWS], rstd) : RowStatistics.of(rstd);
    }

    private static Rows rows(float[] values) {
      return Rows.of(values, WIDTH);
    }

    private Rows rows() {
      return Rows.of(arena.allocate((long) N * type.bytes()), type, ROWS, WIDTH);
    }

    private Object[] codes(Consumer<QuantizedRows> call) {
      QuantizedType of = type == ElementType.FLOAT32 ? QuantizedType.Q8_0 : QuantizedType.int8(32);
      byte[] codes = new byte[ROWS * (int) of.rowBytes(WIDTH)];
      float[] scales = new float[ROWS * of.scales(WIDTH)];
      if (kind == Kind.DEQUANTIZED) {
        Arrays.fill(codes, (byte) 1);
        Arrays.fill(scales, 1e-40f);
      }
      call.accept(
          scales.length == 0
              ? QuantizedRows.of(codes, of, WIDTH)
              : QuantizedRows.of(codes, scales, of, WIDTH));
      return new Object[] {codes, scales};
    }
  }
}
