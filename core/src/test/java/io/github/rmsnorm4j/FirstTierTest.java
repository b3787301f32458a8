package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.norm.Payoff;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The first tier gives the contract's bits in every form of its calls, and no back end is needed.
 */
class FirstTierTest {
  private static final int CALLS = Backends.ALL_DRAWS ? 40_000 : 4_000;
  private static final double[] EPSILONS = {0, 1e-12, 1e-6, 1e-5, 1, 1e-300};
  private static final CastOrder[] ORDERS = {
    CastOrder.FLOAT32, CastOrder.LLAMA, CastOrder.T5, CastOrder.ROUNDED_ROOT, CastOrder.NONE
  };

  /** How a call gives its rows. */
  private enum Form {
    WHOLE_ARRAYS,
    OFFSETS,
    ROWS_OF_ARRAYS,
    /** Each operand in an array, in an array of bytes, or in native memory. */
    ROWS_ANYWHERE
  }

  /** Where the numbers of a call are: whole arrays begin at 0 and are dense. */
  private record Place(Form form, int offset, int stride) {
    float[] room(int rows) {
      return new float[offset + rows * stride];
    }

    Rows of(float[] array, int rows, int width) {
      return Rows.of(array, offset, rows, width, stride);
    }
  }

  /** One call with the contract's answer. */
  private static final class Call {
    final SplittableRandom random;
    final int width;
    final int rows;
    final Norm norm;
    final Form form;
    final boolean adds;
    final boolean inPlace;

    /** What the call brings; null where the gain is the norm's own, or there is none. */
    final float[] gainOfCall;

    final double[][] x;
    final double[][] residual;
    final Contract.Result[] expected;
    final String name;

    Call(long seed) {
      random = new SplittableRandom(seed);
      int groups = random.nextInt(4) == 0 ? random.nextInt(1, 5) : 1;
      int group = width();
      width = group * groups;
      rows = group > 5000 || random.nextBoolean() ? 1 : random.nextInt(1, 5);
      RandomRows source = new RandomRows(random);
      Variant any = Variant.any(random, group, EPSILONS[random.nextInt(EPSILONS.length)]).whole();
      boolean biased = random.nextInt(3) == 0;
      boolean casts = !biased && any.spec().kind() == NormSpec.Kind.RMS_NORM;
      CastOrder order = casts ? ORDERS[random.nextInt(ORDERS.length)] : CastOrder.FLOAT32;
      NormSpec spec = any.spec().withCastOrder(order);
      Variant of = new Variant(group, order == CastOrder.T5 ? spec.withGainOffset(0) : spec);
      double[] gain = random.nextInt(4) == 0 ? null : source.ordinary(ElementType.FLOAT32, group);
      double[] bias = biased ? source.ordinary(ElementType.FLOAT32, group) : null;
      form = Form.values()[random.nextInt(Form.values().length)];
      adds = random.nextInt(3) == 0;
      boolean ofArrays = form == Form.WHOLE_ARRAYS || form == Form.OFFSETS;
      boolean brings = ofArrays && !adds && groups == 1 && gain != null && random.nextBoolean();
      gainOfCall = brings ? floats(gain) : null;
      norm =
          new Variant(width, of.spec())
              .withGroups(groups)
              .norm(
                  builder -> {
                    builder.threads(1 + random.nextInt(2));
                    if (gainOfCall != null && random.nextBoolean()) {
                      builder.gain(new float[width]);
                    } else if (gainOfCall == null && gain != null) {
                      builder.gain(floats(gain));
                    }
                    if (bias != null) {
                      builder.bias(floats(bias));
                    }
                  });
      inPlace = random.nextInt(3) == 0;
      x = new double[rows * groups][];
      residual = new double[rows * groups][];
      expected = new Contract.Result[rows * groups];
      Values g = gain == null ? null : new Values(ElementType.FLOAT32, gain);
      Values b = bias == null ? null : new Values(ElementType.FLOAT32, bias);
      for (int i = 0; i < x.length; i++) {
        boolean rare = random.nextInt(8) == 0;
        x[i] =
            rare
                ? source.outOfRange(ElementType.FLOAT32, group, of.epsilon() < 1e-100)
                : source.ordinary(ElementType.FLOAT32, group);
        residual[i] = source.ordinary(ElementType.FLOAT32, group);
        Values h = adds ? new Values(ElementType.FLOAT32, residual[i]) : null;
        Values values = new Values(ElementType.FLOAT32, x[i]);
        expected[i] = Contract.row(of, values, h, g, b, ElementType.FLOAT32);
      }
      name = "seed " + seed + ", " + norm + ", " + rows + " rows, " + form + (adds ? ", adds" : "");
    }

    private int width() {
      return switch (random.nextInt(12)) {
        case 0 -> random.nextInt(1, 65_537);
        case 1, 2 -> random.nextInt(1, 70);
        case 3, 4 -> 1024 + random.nextInt(-2, 3);
        case 5, 6 -> 32 * random.nextInt(1, 17);
        default -> random.nextInt(1, 3000);
      };
    }

    private static float[] floats(double[] values) {
      float[] floats = new float[values.length];
      for (int i = 0; i < floats.length; i++) {
        floats[i] = (float) values[i];
      }
      return floats;
    }

    /** Numbers of another row than the call's must stay. */
    private float[] filled(Place place, double[][] groupsOfRows) {
      float[] array = place.room(rows);
      Arrays.fill(array, 7);
      if (groupsOfRows != null) {
        int groups = groupsOfRows.length / rows;
        for (int i = 0; i < groupsOfRows.length; i++) {
          int at = place.offset + i / groups * place.stride + i % groups * (width / groups);
          System.arraycopy(floats(groupsOfRows[i]), 0, array, at, width / groups);
        }
      }
      return array;
    }

    private Place place() {
      boolean dense = form == Form.WHOLE_ARRAYS || form == Form.OFFSETS;
      int stride = dense || random.nextBoolean() ? width : width + random.nextInt(1, 9);
      int offset = form == Form.WHOLE_ARRAYS || random.nextBoolean() ? 0 : random.nextInt(1, 9);
      return new Place(form, offset, stride);
    }

    void check() {
      Place ofX = place();
      Place ofY = inPlace ? ofX : place();
      Place ofResidual = place();
      float[] xs = filled(ofX, x);
      float[] ys = inPlace ? xs : filled(ofY, null);
      float[] sums = filled(ofResidual, residual);
      // Of its own, so that it does not matter what other tests had normalised.
      FirstTier first = norm.firstTier(new Payoff());
      assertThat(first).as(name).isNotNull();
      boolean served =
          switch (form) {
            case WHOLE_ARRAYS -> {
              if (adds) {
                yield first.addAndApply(xs, sums, ys);
              }
              yield gainOfCall == null
                  ? first.apply(xs, ys)
                  : first.apply(xs, 0, gainOfCall, 0, ys, 0, rows);
            }
            case OFFSETS -> atOffsets(first, ofX, xs, ofResidual, sums, ofY, ys);
            case ROWS_OF_ARRAYS ->
                first.apply(
                    ofX.of(xs, rows, width),
                    adds ? ofResidual.of(sums, rows, width) : null,
                    ofY.of(ys, rows, width));
            case ROWS_ANYWHERE -> anywhere(first, ofX, xs, ofResidual, sums, ofY, ys);
          };
      assertThat(served).as(name).isTrue();
      double[][] y = new double[expected.length][];
      double[][] sum = new double[expected.length][];
      for (int i = 0; i < expected.length; i++) {
        y[i] = expected[i].y();
        sum[i] = adds ? expected[i].residual() : residual[i];
      }
      same(ys, filled(ofY, y), "y");
      same(sums, filled(ofResidual, sum), "residual");
    }

    private boolean atOffsets(
        FirstTier first,
        Place ofX,
        float[] xs,
        Place ofResidual,
        float[] sums,
        Place ofY,
        float[] ys) {
      if (adds) {
        return first.addAndApply(xs, ofX.offset, sums, ofResidual.offset, ys, ofY.offset, rows);
      }
      if (gainOfCall == null) {
        return first.apply(xs, ofX.offset, ys, ofY.offset, rows);
      }
      int at = random.nextInt(3);
      float[] all = new float[at + gainOfCall.length];
      System.arraycopy(gainOfCall, 0, all, at, gainOfCall.length);
      return first.apply(xs, ofX.offset, all, at, ys, ofY.offset, rows);
    }

    private boolean anywhere(
        FirstTier first,
        Place ofX,
        float[] xs,
        Place ofResidual,
        float[] sums,
        Place ofY,
        float[] ys) {
      try (Arena arena = random.nextBoolean() ? Arena.ofShared() : Arena.ofConfined()) {
        MemorySegment x = segment(arena, xs);
        MemorySegment h = segment(arena, sums);
        MemorySegment y = inPlace ? x : segment(arena, ys);
        Rows residual = adds ? rows(h, ofResidual) : null;
        boolean served = first.apply(rows(x, ofX), residual, rows(y, ofY));
        MemorySegment.copy(h, ValueLayout.JAVA_FLOAT_UNALIGNED, 0, sums, 0, sums.length);
        MemorySegment.copy(y, ValueLayout.JAVA_FLOAT_UNALIGNED, 0, ys, 0, ys.length);
        return served;
      }
    }

    private MemorySegment segment(Arena arena, float[] values) {
      MemorySegment all = MemorySegment.ofArray(values);
      return switch (random.nextInt(3)) {
        case 0 -> MemorySegment.ofArray(values.clone());
        case 1 -> MemorySegment.ofArray(all.toArray(ValueLayout.JAVA_BYTE));
        default -> arena.allocate(all.byteSize(), 4).copyFrom(all);
      };
    }

    private Rows rows(MemorySegment segment, Place place) {
      MemorySegment from = segment.asSlice((long) place.offset * Float.BYTES);
      return Rows.of(from, ElementType.FLOAT32, rows, width, place.stride);
    }

    private void same(float[] actual, float[] expected, String what) {
      int at = -1;
      for (int i = 0; i < actual.length && at < 0; i++) {
        at = Float.floatToIntBits(actual[i]) == Float.floatToIntBits(expected[i]) ? -1 : i;
      }
      if (at >= 0) {
        assertThat(actual[at]).as("%s[%d] of %s", what, at, name).isEqualTo(expected[at]);
        throw new AssertionError(what + "[" + at + "] has another zero: " + name);
      }
    }
  }

  @Test
  void everyFormHasTheContractsBits() {
    TreeSet<String> reached = new TreeSet<>();
    for (long seed = 0; seed < CALLS; seed++) {
      Call call = new Call(seed);
      call.check();
      boolean outOfRange = Arrays.stream(call.expected).anyMatch(Contract.Result::outOfRange);
      reached.add(call.norm.spec().kind() + " " + call.form + " " + call.adds + " " + outOfRange);
      reached.add(call.norm.spec().epsilonPlacement() + " " + call.norm.spec().kind());
      reached.add(call.norm.spec().castOrder() + " " + call.form);
      if (call.gainOfCall != null) {
        boolean offset = call.norm.spec().gainOffset() != 0;
        reached.add("gain of a call, " + call.form + " " + call.norm.spec().kind() + " " + offset);
      }
      reached.add(call.norm.groups + " groups, " + call.form + " " + call.inPlace);
    }
    // Three norms, four forms, with or without a residual, in range or not; three placements of
    // each norm; five cast orders and four numbers of groups in four forms; gains of calls in two
    // forms of three norms, with and without an offset.
    assertThat(reached).hasSize(3 * 4 * 2 * 2 + 9 + 5 * 4 + 4 * 4 * 2 + 2 * 3 * 2);
  }

  @ParameterizedTest
  @EnumSource
  void cast(CastOrder order) {
    boolean divides =
        List.of(CastOrder.ONNX, CastOrder.DIVIDED, CastOrder.NONE_DIVIDED).contains(order);
    boolean served = !divides && order != CastOrder.GAIN_FIRST;
    RmsNorm.Builder builder = RmsNorm.builder(8).castOrder(order);
    assertThat(builder.gain(new float[8]).build().first != null).isEqualTo(served);
    Rows narrow = Rows.of(new short[8], ElementType.BFLOAT16, 8);
    assertThat(builder.gain(narrow).build().first != null)
        .isEqualTo(served && order != CastOrder.T5);
  }

  @Test
  void otherNormsHaveNone() {
    assertThat(RmsNorm.builder(65_536).build().first).isNotNull();
    assertThat(RmsNorm.builder(65_537).build().first).isNull();
    assertThat(RmsNorm.builder(64).part(32).build().first).isNull();
    assertThat(RmsNorm.builder(64).gate(Gate.SILU).build().first).isNull();
    assertThat(RmsNorm.builder(64).groupSize(32).gain(new float[64]).build().first).isNull();
    for (Backend chosen : Backends.EACH) {
      assertThat(RmsNorm.builder(64).backend(chosen).build().first).isNull();
    }
  }

  /** A call of a norm ends here where the first tier serves it, and needs no back end. */
  @Test
  void callsOfANormNeedNoBackEnd() {
    Norm norm = RmsNorm.builder(64).gain(new float[64]).build();
    float[] x = new float[64];
    norm.apply(x, new float[64]);
    norm.apply(x, 0, new float[65], 1, 1);
    norm.addAndApply(x, new float[64], new float[64]);
    norm.apply(Rows.of(x, 64), Rows.of(new float[64], 64));
    norm.addAndApply(Rows.of(x, 64), Rows.of(new float[64], 64), Rows.of(new float[64], 64));
    assertThat(norm.backEndParts).isNull();
    norm.addAndApply(x, 0, new float[65], 1, new float[64], 0, 1);
    norm.apply(x, 0, new float[99], 35, new float[64], 0, 1);
    norm.apply(new float[][] {x}, new float[1][64]);
    assertThat(norm.backEndParts).isNull();
    norm.withParameters(Rows.of(new float[64], 64), Rows.of(new float[64], 64))
        .apply(x, new float[64]);
    assertThat(norm.backEndParts).as("a bias of the call").isNotNull();
  }

  /** With enough rows that each thread gets its MiB. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void severalThreadsDoTheRowsOfACall(int groups) {
    int width = 1028;
    int rows = 600;
    for (boolean arrays : new boolean[] {true, false}) {
      RmsNorm.Builder builder = RmsNorm.builder(width).groupCount(groups);
      FirstTier first = builder.threads(3).build().firstTier(new Payoff());
      float[] x = new float[rows * width];
      for (int i = 0; i < x.length; i++) {
        x[i] = i % 101 - 50 + i % width;
      }
      float[] expected = new float[x.length];
      builder.backend(Backend.scalar()).build().apply(x, expected);
      float[] y = new float[x.length + 1];
      float[] sum = new float[x.length];
      boolean served =
          arrays
              ? first.apply(x, 0, y, 1, rows)
              : first.apply(Rows.of(x, width), Rows.of(sum, width), Rows.of(y, 1, rows, width));
      assertThat(served).isTrue();
      assertThat(Arrays.mismatch(y, 1, y.length, expected, 0, x.length)).isEqualTo(-1);
      assertThat(Arrays.equals(sum, x)).isEqualTo(!arrays);
    }
  }

  @Test
  void severalAndWideRowsGetAKernelThatPays() throws Exception {
    Payoff payoff = new Payoff();
    float[] x = new float[1000 * 1000];
    FirstTier first = RmsNorm.builder(1000).threads(1).build().firstTier(payoff);
    for (int call = 0; call < 500; call++) {
      assertThat(first.apply(x, 0, x, 0, 1000)).isTrue();
    }
    // Without machine code and the Vector API nothing is faster.
    boolean stays = Backend.best().vectorBits() == 0;
    assertThat(servesAfterAsking(first, x, 2)).isEqualTo(stays);
    assertThat(first.apply(x, 0, x, 0, 1)).isTrue();
    FirstTier wide = RmsNorm.builder(8193).build().firstTier(payoff);
    assertThat(servesAfterAsking(wide, x, 1)).isEqualTo(stays);
    FirstTier single = RmsNorm.builder(8192).build().firstTier(payoff);
    assertThat(servesAfterAsking(single, x, 1)).isTrue();
    FirstTier narrow = RmsNorm.builder(512).build().firstTier(payoff);
    assertThat(servesAfterAsking(narrow, x, 2)).isEqualTo(stays && !Backends.HAS_JAVA_KERNELS);
  }

  /** The call that asks for kernels is served, and those until they are ready. */
  private static boolean servesAfterAsking(FirstTier first, float[] x, int rows) throws Exception {
    assertThat(first.apply(x, 0, x, 0, rows)).isTrue();
    KernelsReady.await();
    return first.apply(x, 0, x, 0, rows);
  }

  /** More threads than places for their memory, each with rows of its own, on one norm. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void threadsShareANorm(boolean virtual) throws Exception {
    int width = 777;
    Norm norm = LayerNorm.builder(width).threads(1).build();
    Norm plain = LayerNorm.builder(width).threads(1).backend(Backend.scalar()).build();
    List<Callable<Boolean>> jobs = new ArrayList<>();
    for (int thread = 0; thread < 40; thread++) {
      SplittableRandom random = new SplittableRandom(thread);
      float[] x = new float[width + 3];
      for (int i = 0; i < x.length; i++) {
        x[i] = (float) random.nextDouble(-4, 4);
      }
      float[] expected = new float[width];
      plain.apply(x, 3, expected, 0, 1);
      jobs.add(
          () -> {
            float[] y = new float[width + 5];
            boolean same = true;
            for (int call = 0; call < 500; call++) {
              Arrays.fill(y, 0);
              norm.apply(x, 3, y, 5, 1);
              same &= Arrays.equals(y, 5, 5 + width, expected, 0, width);
            }
            return same;
          });
    }
    try (ExecutorService threads =
        virtual ? Executors.newVirtualThreadPerTaskExecutor() : Executors.newFixedThreadPool(40)) {
      for (Future<Boolean> job : threads.invokeAll(jobs)) {
        assertThat(job.get()).isTrue();
      }
    }
    assertThat(norm.backEndParts).isNull();
  }
}
