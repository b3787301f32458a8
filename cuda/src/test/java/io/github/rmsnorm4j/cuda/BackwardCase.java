package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cuda.driver.SharedMemory;
import io.github.rmsnorm4j.cuda.ptx.Form;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.internal.device.NormParts;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A backward call, everything about it drawn from a seed, on the CPU and on the interpreter: its
 * launches alone, or the calls of a device.
 */
final class BackwardCase {
  private static final double[] EPSILONS = {0.0, 1e-12, 1e-6, 1e-5, 0.1};

  private final SplittableRandom random;
  private final String name;
  private final Set<String> reached;
  private final int rows;
  private final int width;
  private final int groups;
  private final int samples;
  private final NormSpec spec;
  private final Keep keep;
  private final ElementType type;
  private final ElementType arithmetic;
  private final TestRows x;
  private final TestRows y;
  private final TestRows z;
  private final TestRows dy;
  private final TestRows dresidual;
  private final TestRows dx;
  private final TestRows dz;
  private final TestParameter gain;
  private final TestParameter bias;

  /** The elements of a gain, a bias and their gradients. */
  private final int length;

  private final boolean wantsGain;
  private final boolean wantsBias;
  private final boolean adds;

  BackwardCase(long seed, ElementType type, int rows, int width, Set<String> reached) {
    random = new SplittableRandom(seed);
    name = "seed %d, %s, %d x %d".formatted(seed, type, rows, width);
    this.type = type;
    this.rows = rows;
    this.width = width;
    this.reached = reached;
    arithmetic = type == ElementType.FLOAT64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
    groups = width % 3 == 0 && random.nextInt(3) == 0 ? 3 : 1;
    Keep drawn = Keep.values()[random.nextInt(Keep.values().length)];
    spec = spec(drawn);
    keep = spec.gate() != Gate.NONE && drawn == Keep.OUTPUT ? Keep.INPUT : drawn;
    boolean aligned = random.nextBoolean();
    x = rows(type, aligned);
    boolean ordinary = keep == Keep.OUTPUT;
    for (int r = 0; r < rows; r++) {
      x.draw(r, random, !ordinary && random.nextInt(3) == 0);
    }
    y = rows(other(), aligned);
    boolean gated = spec.gate() != Gate.NONE;
    z = gated ? drawn(aligned) : null;
    dy = drawn(aligned);
    dresidual = !gated && random.nextInt(3) == 0 ? drawn(aligned) : null;
    dx = rows(other(), aligned);
    dz = gated ? rows(other(), aligned) : null;
    boolean sampled = groups == 1 && !gated && rows % 3 == 0 && random.nextInt(3) == 0;
    samples = sampled ? 3 : 1;
    length = groups > 1 && random.nextBoolean() ? width / groups : width * samples;
    boolean gains = sampled || random.nextInt(4) > 0;
    gain = gains ? TestParameter.draw(random, length, samples, 0) : null;
    bias = random.nextInt(3) == 0 ? TestParameter.draw(random, length, samples, 0) : null;
    boolean wantsAny = random.nextBoolean();
    wantsGain = wantsAny && random.nextInt(3) > 0;
    wantsBias = wantsAny && random.nextInt(3) > 0;
    adds = random.nextBoolean();
  }

  private NormSpec spec(Keep keep) {
    NormSpec.Kind kind = NormSpec.Kind.values()[random.nextInt(3)];
    double epsilon = EPSILONS[random.nextInt(EPSILONS.length)];
    EpsilonPlacement[] placements = EpsilonPlacement.values();
    NormSpec made =
        NormSpec.RMSNORM
            .withKind(kind)
            .withEpsilon(epsilon)
            .withEpsilonPlacement(placements[random.nextInt(placements.length)]);
    if (groups > 1) {
      made = made.withGroups(RowGroups.ofCount(groups));
    } else if (kind == NormSpec.Kind.RMS_NORM && keep != Keep.OUTPUT && random.nextInt(3) == 0) {
      made = made.withPart(RowPart.of(1 + random.nextInt(width), width));
    }
    made = random.nextInt(4) == 0 ? made.withGainOffset(3) : made;
    Gate gate = random.nextInt(3) > 0 ? Gate.NONE : Gate.values()[random.nextInt(4)];
    return gate == Gate.SILU_BEFORE && made.isCentred() ? made : made.withGate(gate);
  }

  private ElementType other() {
    ElementType[] narrow = {ElementType.FLOAT32, ElementType.FLOAT16, ElementType.BFLOAT16};
    boolean same = type == ElementType.FLOAT64 || random.nextBoolean();
    return same ? type : narrow[random.nextInt(narrow.length)];
  }

  private TestRows rows(ElementType of, boolean aligned) {
    int vector = 16 / of.bytes();
    int gap = aligned ? Math.floorMod(-width, vector) : random.nextInt(3);
    return TestRows.of(of, rows, width, aligned ? 0 : random.nextInt(3), gap);
  }

  private TestRows drawn(boolean aligned) {
    TestRows drawn = rows(other(), aligned);
    for (int r = 0; r < rows; r++) {
      drawn.draw(r, random, random.nextInt(9) == 0);
    }
    return drawn;
  }

  /** Makes the call on the CPU and by its launches, and compares all bytes. */
  void check() {
    check((norm, saved, dgain, dbias) -> byLaunches(NormParts.of(norm), saved, dgain, dbias));
  }

  /** Makes the calls, forward and backward, on the CPU and on a device, and compares all bytes. */
  void checkOn(CudaDevice device, CudaStream stream) {
    check((norm, saved, dgain, dbias) -> onDevice(norm, dgain, dbias, device, stream));
  }

  /** A way to make the call. */
  private interface Way {
    void run(Norm norm, Saved saved, TestRows dgain, TestRows dbias);
  }

  private void check(Way way) {
    try {
      compare(way);
    } catch (RuntimeException | AssertionError e) {
      String what =
          "%s, keeps %s, x %s, y %s, dy %s, dx %s, groups %d, gain %s, bias %s, %s %s"
              .formatted(
                  spec, keep, x.type(), y.type(), dy.type(), dx.type(), groups, gain, bias,
                  wantsGain, wantsBias);
      throw new AssertionError(name + ": " + what, e);
    }
    reach();
  }

  private void compare(Way way) {
    NormBuilder<?> builder = spec.builder(width).threads(1).backend(Backend.scalar());
    if (TestParameter.isOfNorm(gain)) {
      builder.gain(gain.onCpu());
    }
    if (TestParameter.isOfNorm(bias)) {
      builder.bias(bias.onCpu());
    }
    Norm norm = builder.build();
    Saved saved = new Saved(keep, rows);
    Rows g = TestParameter.ofCall(gain);
    Rows b = TestParameter.ofCall(bias);
    if (z != null) {
      norm.withParameters(g, b).applyGated(x.onCpu(), z.onCpu(), y.onCpu(), saved);
    } else {
      norm.withParameters(g, b).apply(x.onCpu(), y.onCpu(), saved);
    }
    TestRows dxOnCpu = dx.copy();
    TestRows dzOnCpu = dz == null ? null : dz.copy();
    Object dgain = wantsGain ? gradient() : null;
    Object dbias = wantsBias ? gradient() : null;
    TestRows dgainOnDevice = onDevice(dgain);
    TestRows dbiasOnDevice = onDevice(dbias);
    onCpu(norm, saved, dxOnCpu, dzOnCpu, gradients(dgain, dbias));
    TestRows yOnCpu = y.copy();
    way.run(norm, saved, dgainOnDevice, dbiasOnDevice);
    assertThat(y.difference(yOnCpu)).as("y").isNull();
    assertThat(dx.difference(dxOnCpu)).as("dx").isNull();
    if (dz != null) {
      assertThat(dz.difference(dzOnCpu)).as("dz").isNull();
    }
    if (wantsGain) {
      assertThat(dgainOnDevice.difference(onDevice(dgain))).as("dgain").isNull();
    }
    if (wantsBias) {
      assertThat(dbiasOnDevice.difference(onDevice(dbias))).as("dbias").isNull();
    }
  }

  /** A gradient with numbers, float[] or double[]. */
  private Object gradient() {
    double[] doubles = random.doubles(length, -1, 1).toArray();
    if (arithmetic == ElementType.FLOAT64) {
      return doubles;
    }
    float[] floats = new float[length];
    for (int i = 0; i < length; i++) {
      floats[i] = (float) doubles[i];
    }
    return floats;
  }

  private TestRows onDevice(Object gradient) {
    if (gradient == null) {
      return null;
    }
    // Of samples the rows have gaps.
    int n = length / samples;
    TestRows rows = TestRows.of(arithmetic, samples, n, 0, samples > 1 ? 1 : 0);
    for (int i = 0; i < length; i++) {
      rows.set(i / n, i % n, gradient instanceof float[] f ? f[i] : ((double[]) gradient)[i]);
    }
    return rows;
  }

  private ParameterGradients gradients(Object dgain, Object dbias) {
    if (arithmetic == ElementType.FLOAT64) {
      return adds
          ? ParameterGradients.added((double[]) dgain, (double[]) dbias)
          : ParameterGradients.assigned((double[]) dgain, (double[]) dbias);
    }
    return adds
        ? ParameterGradients.added((float[]) dgain, (float[]) dbias)
        : ParameterGradients.assigned((float[]) dgain, (float[]) dbias);
  }

  private void onCpu(
      Norm norm, Saved saved, TestRows dx, TestRows dz, ParameterGradients gradients) {
    Rows upstream = dy.onCpu();
    if (dz != null) {
      norm.backwardGated(upstream, saved, dx.onCpu(), dz.onCpu(), gradients);
    } else if (dresidual != null) {
      norm.backward(upstream, saved, dresidual.onCpu(), dx.onCpu(), gradients);
    } else {
      norm.backward(upstream, saved, dx.onCpu(), gradients);
    }
  }

  private void onDevice(
      Norm norm, TestRows dgain, TestRows dbias, CudaDevice device, CudaStream stream) {
    try (DeviceCopies copies = new DeviceCopies(device)) {
      CudaNorm there = copies.of(norm, gain, bias).on(stream);
      CudaSaved saved = there.saved(keep, rows + random.nextInt(2), copies.arena());
      CudaRows input = copies.of(x);
      CudaRows output = copies.of(y);
      CudaRows upstream = copies.of(dy);
      CudaGradients gradients =
          adds
              ? CudaGradients.added(copies.of(dgain), copies.of(dbias))
              : CudaGradients.assigned(copies.of(dgain), copies.of(dbias));
      if (z != null) {
        there.applyGated(input, copies.of(z), output, saved);
        there.backwardGated(upstream, saved, copies.of(dx), copies.of(dz), gradients);
      } else {
        there.apply(input, output, saved);
        if (dresidual == null) {
          there.backward(upstream, saved, copies.of(dx), gradients);
        } else {
          CudaRows skip = copies.of(dresidual);
          there.backward(upstream, saved, skip, copies.of(dx), gradients);
        }
      }
      copies.takeBack();
    }
  }

  private void byLaunches(NormParts parts, Saved saved, TestRows dgain, TestRows dbias) {
    DeviceRun device = new DeviceRun(random);
    Map<Tensor, TestRows> all = new TreeMap<>();
    all.put(Forward.X, keep == Keep.OUTPUT ? y : x);
    all.put(Backward.DY, dy);
    all.put(Backward.DX, dx);
    put(all, Forward.RESIDUAL, dresidual);
    put(all, Forward.Z, z);
    put(all, Backward.DZ, dz);
    Map<Tensor, DeviceRows> onDevice = new TreeMap<>();
    all.forEach(
        (tensor, of) -> {
          boolean isOutput = tensor.equals(Backward.DX) || tensor.equals(Backward.DZ);
          onDevice.put(tensor, device.rows(tensor.name(), of, !isOutput));
        });
    BackwardCalls calls =
        new BackwardCalls(
            parts,
            device.sharedBytes(),
            keep,
            onDevice,
            column(device, "gain", gain, spec.gainOffset()),
            column(device, "bias", bias, 0),
            saved.mean() == null ? 0 : numbers(device, "mean", saved.mean()),
            saved.rstd() == null ? 0 : numbers(device, "rstd", saved.rstd()),
            new BackwardCalls.Gradients(
                column(device, "dgain", dgain), column(device, "dbias", dbias), adds, 0));
    byte[] tables = new byte[Math.toIntExact(calls.tableBytes())];
    long at = device.memory.allocateUnwritten("tables", tables);
    List<KernelCall> launches = calls.withTables(at).launches();
    device.launch(launches);
    if (launches.getFirst().shape().sharedBytes() > SharedMemory.LEAST) {
      reached.add("asks for shared memory, " + type);
    }
    reachLabels(launches.getFirst().kernel(), device);
  }

  private DeviceColumn column(
      DeviceRun device, String name, TestParameter parameter, double offset) {
    boolean float64 = arithmetic == ElementType.FLOAT64;
    return TestParameter.column(device, name, parameter, offset, float64, width / groups);
  }

  private DeviceColumn column(DeviceRun device, String name, TestRows gradient) {
    if (gradient == null) {
      return null;
    }
    long address = device.rows(name, gradient, false).address();
    long step = samples > 1 ? gradient.stride() : width / groups;
    return new DeviceColumn(address, arithmetic, arithmetic, length, step, 0);
  }

  private long numbers(DeviceRun device, String name, double[] numbers) {
    return device.numbers(name, Arrays.copyOf(numbers, rows * groups), ElementType.FLOAT64);
  }

  private static void put(Map<Tensor, TestRows> all, Tensor tensor, TestRows rows) {
    if (rows != null) {
      all.put(tensor, rows);
    }
  }

  private void reach() {
    Form form = Form.of(width / groups, wantsGain || wantsBias);
    reached.add(form + " " + type + " " + spec.kind());
    reached.add(form + " keeps " + keep + " " + spec.kind());
    reached.add(spec.kind() + " " + spec.epsilonPlacement());
    reached.add("leaves zeros " + spec.leavesZeros());
    reached.add(form + " gate " + spec.gate());
    reached.add(form + " sums " + wantsGain + " " + wantsBias);
    boolean inParts = groups > 1 && length == width;
    reached.add("groups " + groups + " in parts " + inParts);
    reached.add(form + " partial " + (spec.part().elements(width) < width));
    reached.add("samples " + samples);
    TestParameter.reach(reached, "gain", gain, arithmetic, spec.gainOffset());
    reached.add("residual " + (dresidual != null));
  }

  private void reachLabels(PtxKernel kernel, DeviceRun device) {
    for (String label : device.work.reached(DeviceRun.program(kernel.text()))) {
      reached.add(kernel.form() + " " + (type == ElementType.FLOAT64) + " " + label);
    }
  }

  /** What a draw reaches in the forms of kernels, as {@code reached} names it. */
  static Set<String> choices() {
    Set<String> all = new TreeSet<>();
    all.add("leaves zeros true");
    for (Form form : Form.values()) {
      // Teams of several rows in a warp do not add rows up.
      boolean sums = form != Form.NARROW;
      for (NormSpec.Kind kind : NormSpec.Kind.values()) {
        for (ElementType type : ElementType.values()) {
          all.add(form + " " + type + " " + kind);
        }
        for (Keep keep : Keep.values()) {
          all.add(form + " keeps " + keep + " " + kind);
        }
      }
      for (Gate gate : Gate.values()) {
        all.add(form + " gate " + gate);
      }
      for (boolean is : new boolean[] {false, true}) {
        if (sums) {
          all.add(form + " sums true " + is);
        }
        all.add(form + " sums false " + (is && sums));
        all.add(form + " partial " + is);
      }
    }
    for (boolean is : new boolean[] {false, true}) {
      all.add("groups 3 in parts " + is);
      all.add("residual " + is);
      all.add("samples " + (is ? 3 : 1));
    }
    return all;
  }
}
