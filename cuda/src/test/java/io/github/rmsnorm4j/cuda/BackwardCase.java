package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cuda.ptx.Arguments;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.cuda.ptx.TreeKernel;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.backend.NormParts;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** A backward call, everything about it drawn from a seed, on the CPU and on the interpreter. */
final class BackwardCase {
  private static final double[] EPSILONS = {0.0, 1e-12, 1e-6, 1e-5, 0.1};

  private final SplittableRandom random;
  private final String name;
  private final Set<String> reached;
  private final int rows;
  private final int width;
  private final int groups;
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
  private final double[] gain;
  private final double[] bias;

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
    length = groups > 1 && random.nextBoolean() ? width / groups : width;
    gain = random.nextInt(4) > 0 ? numbers() : null;
    bias = random.nextInt(3) == 0 ? numbers() : null;
    wantsGain = random.nextInt(3) > 0;
    wantsBias = random.nextInt(3) > 0;
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

  private double[] numbers() {
    double[] numbers = new double[length];
    for (int i = 0; i < length; i++) {
      numbers[i] = (float) random.nextDouble(0.5, 2) * (random.nextBoolean() ? 1 : -1);
    }
    return numbers;
  }

  /** Makes the call in both ways, and compares all bytes. */
  void check() {
    try {
      compare();
    } catch (RuntimeException | AssertionError e) {
      String what =
          "%s, keeps %s, x %s, y %s, dy %s, dx %s, groups %d, gain %s, bias %s, %s %s"
              .formatted(
                  spec,
                  keep,
                  x.type(),
                  y.type(),
                  dy.type(),
                  dx.type(),
                  groups,
                  gain != null,
                  bias != null,
                  wantsGain,
                  wantsBias);
      throw new AssertionError(name + ": " + what, e);
    }
  }

  private void compare() {
    Norm.Builder<?> builder = spec.builder(width).threads(1).backend(Backend.scalar());
    if (gain != null) {
      builder.gain(gain);
    }
    if (bias != null) {
      builder.bias(bias);
    }
    Norm norm = builder.build();
    Saved saved = new Saved(keep, rows);
    if (z != null) {
      norm.applyGated(x.onCpu(), z.onCpu(), y.onCpu(), saved);
    } else {
      norm.apply(x.onCpu(), y.onCpu(), saved);
    }
    TestRows dxOnCpu = dx.copy();
    TestRows dzOnCpu = dz == null ? null : dz.copy();
    Object dgain = wantsGain ? gradient() : null;
    Object dbias = wantsBias ? gradient() : null;
    TestRows dgainOnDevice = onDevice(dgain);
    TestRows dbiasOnDevice = onDevice(dbias);
    onCpu(norm, saved, dxOnCpu, dzOnCpu, gradients(dgain, dbias));
    onDevice(NormParts.of(norm), saved, dgainOnDevice, dbiasOnDevice);
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
    TestRows rows = TestRows.of(arithmetic, 1, length, 0, 0);
    for (int i = 0; i < length; i++) {
      rows.set(0, i, gradient instanceof float[] f ? f[i] : ((double[]) gradient)[i]);
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

  private void onDevice(NormParts parts, Saved saved, TestRows dgain, TestRows dbias) {
    DeviceRun device = new DeviceRun(random.nextBoolean());
    NormChoices choices = parts.choices(type);
    boolean biased = bias != null && (keep == Keep.OUTPUT || spec.gate().isAfter());
    boolean kept = keep != Keep.NOTHING;
    BackwardFormula formula =
        new BackwardFormula(
            spec, keep == Keep.OUTPUT, kept, gain != null, biased, wantsGain, wantsBias);
    Map<Tensor, TestRows> all = new TreeMap<>();
    all.put(Forward.X, keep == Keep.OUTPUT ? y : x);
    all.put(Backward.DY, dy);
    all.put(Backward.DX, dx);
    put(all, Forward.RESIDUAL, dresidual);
    put(all, Forward.Z, z);
    put(all, Backward.DZ, dz);
    Map<Tensor, ElementType> types = new TreeMap<>();
    Map<Tensor, Long> addresses = new TreeMap<>();
    all.forEach(
        (tensor, of) -> {
          boolean isOutput = tensor.equals(Backward.DX) || tensor.equals(Backward.DZ);
          types.put(tensor, of.type());
          addresses.put(tensor, device.rows(tensor.name(), of, !isOutput));
        });
    PtxKernel kernel = NormKernels.backward(choices, types, formula);
    boolean inParts = groups > 1 && length == width;
    int launches = inParts ? groups : 1;
    int count = rows * groups / launches;
    Numbers numbers = new Numbers(device, saved, dgain, dbias);
    for (int part = 0; part < launches; part++) {
      Arguments arguments = new Arguments(kernel.parameters());
      for (Map.Entry<Tensor, TestRows> of : all.entrySet()) {
        rows(arguments, of.getKey(), of.getValue(), addresses.get(of.getKey()), inParts, part);
      }
      numbers.set(kernel, arguments, launches, part, count, choices.width());
      arguments
          .set("rows", count)
          .set("width", choices.width())
          .set("part", choices.part())
          .set("epsilon", choices.epsilon());
      device.launch(kernel, arguments, count, choices.width());
      numbers.trees(part, count, choices.width());
    }
    reach(kernel, device, inParts);
  }

  private static void put(Map<Tensor, TestRows> all, Tensor tensor, TestRows rows) {
    if (rows != null) {
      all.put(tensor, rows);
    }
  }

  private void rows(
      Arguments arguments, Tensor tensor, TestRows of, long address, boolean inParts, int part) {
    int bytes = of.type().bytes();
    if (inParts) {
      long at = address + (long) part * (width / groups) * bytes;
      arguments.rows(tensor, at, (long) of.stride() * bytes, 0, 0);
    } else {
      arguments.rowsOfGroups(tensor, address, bytes, width, of.stride(), groups);
    }
  }

  /** The columns, the kept numbers and the sums of a call on the device. */
  private final class Numbers {
    private final DeviceRun device;
    private final int bytes = arithmetic.bytes();
    private final TestRows dgain;
    private final TestRows dbias;
    private final long ofGain;
    private final long ofBias;
    private final long rstd;
    private final long mean;
    private final long dgainAt;
    private final long dbiasAt;
    private long gainTable;
    private long biasTable;

    Numbers(DeviceRun device, Saved saved, TestRows dgain, TestRows dbias) {
      this.device = device;
      this.dgain = dgain;
      this.dbias = dbias;
      ofGain = gain == null ? 0 : device.column("gain", gain, arithmetic);
      ofBias = bias == null ? 0 : device.column("bias", bias, arithmetic);
      rstd = saved.rstd() == null ? 0 : numbers("rstd", saved.rstd());
      mean = saved.mean() == null ? 0 : numbers("mean", saved.mean());
      dgainAt = dgain == null ? 0 : device.rows("dgain", dgain, false);
      dbiasAt = dbias == null ? 0 : device.rows("dbias", dbias, false);
    }

    private long numbers(String name, double[] numbers) {
      return device.column(name, Arrays.copyOf(numbers, rows * groups), ElementType.FLOAT64);
    }

    void set(PtxKernel kernel, Arguments arguments, int launches, int part, int count, int width) {
      long from = (long) part * width * bytes;
      for (var parameter : kernel.parameters().all()) {
        switch (parameter.name()) {
          case "gain_address" -> arguments.column(Forward.GAIN, ofGain + from);
          case "bias_address" -> arguments.column(Forward.BIAS, ofBias + from);
          case "dgain_address" ->
              arguments.column(Backward.GAIN_GRADIENT, gainTable = table(count, width));
          case "dbias_address" ->
              arguments.column(Backward.BIAS_GRADIENT, biasTable = table(count, width));
          case "rstd_address" -> arguments.set("rstd_address", rstd + (long) part * Double.BYTES);
          case "mean_address" ->
              arguments.set("mean_address", mean == 0 ? 0 : mean + (long) part * Double.BYTES);
          case "statistic_step" -> arguments.set("statistic_step", launches);
          default -> {}
        }
      }
    }

    private long table(int count, int width) {
      byte[] table = new byte[(int) TreeKernel.tableBytes(count, width, arithmetic)];
      return device.memory.allocateUnwritten("table", table);
    }

    void trees(int part, int count, int width) {
      long from = (long) part * width * bytes;
      if (dgain != null) {
        tree(gainTable, dgainAt + from, count, width);
      }
      if (dbias != null) {
        tree(biasTable, dbiasAt + from, count, width);
      }
    }

    private void tree(long table, long gradient, int count, int width) {
      PtxKernel kernel = TreeKernel.of(arithmetic);
      Arguments arguments =
          new Arguments(kernel.parameters())
              .set("table_address", table)
              .set("gradient_address", gradient)
              .set("blocks", TreeKernel.blocks(count))
              .set("width", width)
              .set("adds", adds ? 1 : 0);
      device.launch(kernel.text(), TreeKernel.launch(width), arguments);
    }
  }

  private void reach(PtxKernel kernel, DeviceRun device, boolean inParts) {
    String of = kernel.form() + " " + type + " " + spec.kind();
    reached.add(of);
    reached.add(kernel.form() + " keeps " + keep + " " + spec.kind());
    reached.add(spec.kind() + " " + spec.epsilonPlacement());
    reached.add(kernel.form() + " gate " + spec.gate());
    reached.add(kernel.form() + " sums " + wantsGain + " " + wantsBias);
    reached.add("groups " + groups + " in parts " + inParts);
    reached.add(kernel.form() + " partial " + (spec.part().elements(width) < width));
    reached.add("residual " + (dresidual != null));
    for (String label : device.work.reached(DeviceRun.program(kernel.text()))) {
      reached.add(kernel.form() + " " + (type == ElementType.FLOAT64) + " " + label);
    }
  }
}
