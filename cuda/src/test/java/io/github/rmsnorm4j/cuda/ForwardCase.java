package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cuda.driver.SharedMemory;
import io.github.rmsnorm4j.cuda.ptx.Form;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.internal.device.NormParts;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A forward call, everything about it drawn from a seed, on the CPU and on the interpreter: its
 * launches alone, or the call of a device.
 */
final class ForwardCase {
  private static final double[] EPSILONS = {0.0, 1e-12, 1e-6, 1e-5, 0.1, 1e-300};
  private static final int MOST_GAP = 5;

  private final SplittableRandom random;
  private final String name;
  private final Set<String> reached;
  private final int rows;
  private final int width;
  private final NormSpec spec;
  private final int groups;
  private final int samples;
  private final TestRows x;
  private final TestRows residual;
  private final TestRows z;
  private final TestRows y;
  private final boolean inPlace;
  private final TestParameter gain;
  private final TestParameter bias;
  private final boolean keeps;

  ForwardCase(long seed, ElementType type, int rows, int width, Set<String> reached) {
    this(seed, type, rows, width, false, reached);
  }

  /**
   * A call.
   *
   * @param extreme whether epsilon is 0, so that small rows leave the range
   */
  ForwardCase(
      long seed, ElementType type, int rows, int width, boolean extreme, Set<String> reached) {
    random = new SplittableRandom(seed);
    name = "seed %d, %s, %d x %d".formatted(seed, type, rows, width);
    this.rows = rows;
    this.width = width;
    this.reached = reached;
    boolean biased = random.nextInt(3) == 0;
    groups = random.nextInt(4) == 0 ? divisor(width) : 1;
    NormSpec any = spec(biased);
    spec = extreme ? any.withEpsilon(0) : any;
    boolean sampled = groups == 1 && random.nextInt(6) == 0;
    samples = sampled && spec.gate() == Gate.NONE ? divisor(rows) : 1;
    boolean aligned = random.nextBoolean();
    x = rows(type, aligned);
    for (int r = 0; r < rows; r++) {
      x.draw(r, random, random.nextBoolean());
    }
    boolean gated = spec.gate() != Gate.NONE;
    residual = !gated && random.nextInt(3) == 0 ? other(type, aligned) : null;
    z = gated ? other(type, aligned) : null;
    keeps = random.nextBoolean();
    inPlace = !keeps && random.nextInt(3) == 0;
    y = inPlace ? x : rows(random.nextInt(3) > 0 ? type : anyOf(ElementType.values()), aligned);
    int length = groups > 1 && random.nextBoolean() ? width / groups : width * samples;
    boolean gains = random.nextInt(4) > 0 || sampled;
    gain = gains ? TestParameter.draw(random, length, samples, -2) : null;
    bias = biased ? TestParameter.draw(random, length, samples, -2) : null;
  }

  boolean isCentred() {
    return spec.isCentred();
  }

  private <T> T anyOf(T[] values) {
    return values[random.nextInt(values.length)];
  }

  private int divisor(int of) {
    int divisor = of;
    for (int tries = 0; tries < 20; tries++) {
      int candidate = 1 + random.nextInt(Math.min(of, 12));
      divisor = of % candidate == 0 ? candidate : divisor;
    }
    return of % divisor == 0 && divisor <= 12 ? divisor : 1;
  }

  private NormSpec spec(boolean biased) {
    NormSpec.Kind kind =
        random.nextInt(3) == 0 ? NormSpec.Kind.RMS_NORM : anyOf(NormSpec.Kind.values());
    boolean rms = kind == NormSpec.Kind.RMS_NORM;
    double epsilon = EPSILONS[random.nextInt(EPSILONS.length)];
    NormSpec made = NormSpec.RMSNORM.withKind(kind).withEpsilon(epsilon);
    made =
        random.nextBoolean() ? made : made.withEpsilonPlacement(anyOf(EpsilonPlacement.values()));
    made = !rms || biased ? made : made.withCastOrder(anyOf(CastOrder.values()));
    boolean offset = made.castOrder() != CastOrder.T5 && random.nextInt(3) == 0;
    made = offset ? made.withGainOffset(1) : made;
    made = made.withResidualRounding(anyOf(ResidualRounding.values()));
    Gate gate = random.nextInt(3) > 0 ? Gate.NONE : anyOf(Gate.values());
    made = gate == Gate.SILU_BEFORE && made.isCentred() ? made : made.withGate(gate);
    if (groups > 1) {
      return made.withGroups(RowGroups.ofCount(groups));
    }
    boolean partial = rms && random.nextInt(3) == 0;
    return partial ? made.withPart(RowPart.of(1 + random.nextInt(width), width)) : made;
  }

  private TestRows rows(ElementType type, boolean aligned) {
    int vector = 16 / type.bytes();
    boolean apart = random.nextBoolean();
    int before = aligned ? vector * random.nextInt(2) : random.nextInt(MOST_GAP);
    int toAligned = Math.floorMod(-width, vector);
    int gap = !apart ? 0 : aligned ? toAligned + vector : random.nextInt(1, MOST_GAP);
    return TestRows.of(type, rows, width, before, gap);
  }

  private TestRows other(ElementType type, boolean aligned) {
    ElementType[] narrow = {ElementType.FLOAT32, ElementType.FLOAT16, ElementType.BFLOAT16};
    boolean same = type == ElementType.FLOAT64 || random.nextBoolean();
    TestRows drawn = rows(same ? type : anyOf(narrow), aligned);
    for (int r = 0; r < rows; r++) {
      drawn.draw(r, random, false);
    }
    return drawn;
  }

  /** Makes the call on the CPU and by its launches, and compares all bytes. */
  void check() {
    check(this::byLaunches);
  }

  /** Makes the call on the CPU and on a device, and compares all bytes. */
  void checkOn(CudaDevice device, CudaStream stream) {
    check((norm, mean, rstd) -> onDevice(norm, mean, rstd, device, stream));
  }

  /** A way to make the call, which takes bytes for the numbers that are kept. */
  private interface Way {
    void run(Norm norm, byte[] mean, byte[] rstd);
  }

  private void check(Way way) {
    try {
      compare(way);
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError(name + ": " + what(), e);
    }
    reach();
  }

  private String what() {
    return "%s, x %s -> y %s, residual %s, z %s, gain %s, bias %s, groups %d, samples %d%s"
        .formatted(
            spec,
            x.type(),
            y.type(),
            residual == null ? "none" : residual.type(),
            z == null ? "none" : z.type(),
            gain,
            bias,
            groups,
            samples,
            inPlace ? ", in place" : "");
  }

  private void compare(Way way) {
    TestRows xOnCpu = x.copy();
    TestRows yOnCpu = inPlace ? xOnCpu : y.copy();
    TestRows residualOnCpu = residual == null ? null : residual.copy();
    NormBuilder<?> builder = spec.builder(width).threads(1).backend(Backend.scalar());
    if (TestParameter.isOfNorm(gain)) {
      builder.gain(gain.onCpu());
    }
    if (TestParameter.isOfNorm(bias)) {
      builder.bias(bias.onCpu());
    }
    Norm norm = builder.build();
    Saved saved = new Saved(keeps ? Keep.INPUT : Keep.NOTHING, rows);
    onCpu(norm, xOnCpu, residualOnCpu, yOnCpu, saved);

    byte[] mean = DeviceRun.doubles(rows * groups);
    byte[] rstd = DeviceRun.doubles(rows * groups);
    way.run(norm, mean, rstd);
    assertThat(y.difference(yOnCpu)).as("y").isNull();
    assertThat(x.difference(xOnCpu)).as("x").isNull();
    if (residual != null) {
      assertThat(residual.difference(residualOnCpu)).as("residual").isNull();
    }
    if (keeps) {
      same("rstd", DeviceRun.values(rstd), saved.rstd());
      if (norm.spec().isCentred()) {
        same("mean", DeviceRun.values(mean), saved.mean());
      }
    }
  }

  private static void same(String what, double[] actual, double[] wanted) {
    for (int r = 0; r < actual.length; r++) {
      assertThat(Double.doubleToLongBits(actual[r]))
          .as("%s of row %d: %s, %s", what, r, actual[r], wanted[r])
          .isEqualTo(Double.doubleToLongBits(wanted[r]));
    }
  }

  private void onCpu(Norm norm, TestRows x, TestRows residual, TestRows y, Saved saved) {
    Rows g = TestParameter.ofCall(gain);
    Rows b = TestParameter.ofCall(bias);
    Rows in = x.onCpu();
    Rows out = y.onCpu();
    if (z != null && keeps) {
      norm.withParameters(g, b).applyGated(in, z.onCpu(), out, saved);
    } else if (z != null) {
      norm.withParameters(g, b).applyGated(in, z.onCpu(), out);
    } else if (residual != null && keeps) {
      norm.withParameters(g, b).addAndApply(in, residual.onCpu(), out, saved);
    } else if (residual != null) {
      norm.withParameters(g, b).addAndApply(in, residual.onCpu(), out);
    } else if (keeps) {
      norm.withParameters(g, b).apply(in, out, saved);
    } else if (g == null && b == null) {
      norm.apply(in, out);
    } else if (b == null) {
      norm.withParameters(g, null).apply(in, out);
    } else if (g != null) {
      norm.withParameters(g, b).apply(in, out);
    } else {
      // The CPU has no call for that which could work in place.
      norm.withParameters(null, b).apply(x.copy().onCpu(), out, new Saved(Keep.NOTHING, rows));
    }
  }

  private void onDevice(Norm norm, byte[] mean, byte[] rstd, CudaDevice device, CudaStream stream) {
    try (DeviceCopies copies = new DeviceCopies(device)) {
      CudaNorm there = copies.of(norm, gain, bias).on(stream);
      CudaRows input = copies.of(x);
      CudaRows output = copies.of(y);
      if (keeps && z == null && residual == null && random.nextBoolean()) {
        withStatistics(there, input, output, mean, rstd, copies);
      } else if (keeps) {
        CudaSaved saved = there.saved(Keep.INPUT, rows, copies.arena());
        if (z != null) {
          there.applyGated(input, copies.of(z), output, saved);
        } else if (residual != null) {
          there.addAndApply(input, copies.of(residual), output, saved);
        } else {
          there.apply(input, output, saved);
        }
        saved.rstd().memory().copyTo(MemorySegment.ofArray(rstd));
        if (saved.mean() != null) {
          saved.mean().memory().copyTo(MemorySegment.ofArray(mean));
        }
      } else if (z != null) {
        there.applyGated(input, copies.of(z), output);
      } else if (residual != null) {
        there.addAndApply(input, copies.of(residual), output);
      } else {
        there.apply(input, output);
      }
      copies.takeBack();
    }
  }

  private void withStatistics(
      CudaNorm norm, CudaRows x, CudaRows y, byte[] mean, byte[] rstd, DeviceCopies copies) {
    CudaMemory rstds = copies.allocate(rstd.length);
    CudaRows numbers = CudaRows.of(rstds, ElementType.FLOAT64, rows, groups);
    if (spec.isCentred()) {
      CudaMemory meansThere = copies.allocate(mean.length);
      CudaRows ofMean = CudaRows.of(meansThere, ElementType.FLOAT64, rows, groups);
      norm.apply(x, y, CudaStatistics.meanAndRstd(ofMean, numbers));
      meansThere.copyTo(MemorySegment.ofArray(mean));
    } else {
      norm.apply(x, y, CudaStatistics.rstd(numbers));
    }
    rstds.copyTo(MemorySegment.ofArray(rstd));
    reached.add("statistics " + spec.kind());
  }

  private void byLaunches(Norm norm, byte[] mean, byte[] rstd) {
    NormParts parts = NormParts.of(norm);
    DeviceRun device = new DeviceRun(random);
    boolean float64 = x.type() == ElementType.FLOAT64;
    Map<Tensor, DeviceRows> all = new TreeMap<>();
    all.put(Forward.X, device.rows("x", x, !inPlace));
    DeviceRows out = inPlace ? all.get(Forward.X) : device.rows("y", y, false);
    all.put(Forward.Y, out);
    if (residual != null) {
      all.put(Forward.RESIDUAL, device.rows("residual", residual, false));
    }
    if (z != null) {
      all.put(Forward.Z, device.rows("z", z, true));
    }
    ForwardCalls calls =
        new ForwardCalls(
            parts,
            device.sharedBytes(),
            all,
            TestParameter.column(device, "gain", gain, spec.gainOffset(), float64, width / groups),
            TestParameter.column(device, "bias", bias, 0, float64, width / groups),
            keeps ? device.memory.allocateUnwritten("mean", mean) : 0,
            keeps ? device.memory.allocateUnwritten("rstd", rstd) : 0,
            null);
    List<KernelCall> launches = calls.launches();
    device.launch(launches);
    if (launches.getFirst().shape().sharedBytes() > SharedMemory.LEAST) {
      reached.add("asks for shared memory, " + x.type());
    }
    reachLabels(launches.getFirst().kernel(), device);
  }

  private void reach() {
    Form form = Form.of(width / groups, false);
    reached.add(form + " " + x.type() + " " + spec.kind());
    reached.add(form + " to " + y.type());
    reached.add(spec.kind() + " " + spec.epsilonPlacement());
    reached.add("leaves zeros " + spec.leavesZeros());
    reached.add(x.type() + " " + spec.castOrder());
    reached.add("gate " + spec.gate());
    if (residual != null) {
      reached.add("residual " + spec.residualRounding() + " " + residual.type());
    }
    boolean inParts = gain != null && gain.length() > width / groups;
    reached.add("groups " + (groups > 1) + " in parts " + inParts);
    reached.add("samples " + (samples > 1));
    TestParameter.reach(reached, "gain", gain, arithmetic(), spec.gainOffset());
    TestParameter.reach(reached, "bias", bias, arithmetic(), 0);
    reached.add("partial " + (spec.part().elements(width) < width));
    reached.add("in place " + inPlace);
    reached.add("kept " + keeps);
  }

  private ElementType arithmetic() {
    return NormKernels.arithmetic(x.type());
  }

  private void reachLabels(PtxKernel kernel, DeviceRun device) {
    for (String label : device.work.reached(DeviceRun.program(kernel.text()))) {
      reached.add(kernel.form() + " " + (x.type() == ElementType.FLOAT64) + " " + label);
    }
  }

  /** What a draw reaches, as {@code reached} names it. */
  static Set<String> choices() {
    Set<String> all = new TreeSet<>();
    all.add("leaves zeros true");
    for (ElementType type : ElementType.values()) {
      for (Form form : Form.values()) {
        all.add(form + " to " + type);
        for (NormSpec.Kind kind : NormSpec.Kind.values()) {
          all.add(form + " " + type + " " + kind);
        }
      }
      for (CastOrder order : CastOrder.values()) {
        all.add(type + " " + order);
      }
      for (ResidualRounding rounding : ResidualRounding.values()) {
        all.add("residual " + rounding + " " + type);
      }
    }
    for (NormSpec.Kind kind : NormSpec.Kind.values()) {
      for (EpsilonPlacement placement : EpsilonPlacement.values()) {
        all.add(kind + " " + placement);
      }
    }
    for (Gate gate : Gate.values()) {
      all.add("gate " + gate);
    }
    for (boolean is : new boolean[] {false, true}) {
      all.add("partial " + is);
      all.add("in place " + is);
      all.add("kept " + is);
      all.add("groups true in parts " + is);
      all.add("samples " + is);
    }
    return all;
  }
}
