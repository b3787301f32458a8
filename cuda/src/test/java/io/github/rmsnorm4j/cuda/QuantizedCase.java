package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Quantizer;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.ScaleFloor;
import io.github.rmsnorm4j.cuda.ptx.Form;
import io.github.rmsnorm4j.internal.codec.Float8;
import io.github.rmsnorm4j.internal.device.NormParts;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.quantized.CodeFormat;
import io.github.rmsnorm4j.internal.quantized.CodeLayout;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * A forward call with quantised output, everything about it drawn from a seed, on the CPU and on
 * the interpreter: its launches alone, or the call of a device.
 */
final class QuantizedCase {
  /** The types that have kernels. */
  static final List<QuantizedType> TYPES =
      QuantizedType.all().stream().filter(type -> type.toString().contains(":")).toList();

  /** Their formats, in this order. */
  static final List<CodeFormat> FORMATS = TYPES.stream().map(QuantizedCase::format).toList();

  private final SplittableRandom random;
  private final String seed;
  private final Set<String> reached;
  private final QuantizedType type;
  private final int rows;
  private final int width;

  /** Whether the result is the gain, up to its sign, so that edges of codes can be drawn. */
  private final boolean exact;

  private final int groups;
  private final NormSpec spec;
  private final Quantizer rule;
  private final TestRows x;
  private final TestRows residual;
  private final TestRows z;

  /** Null where the output is not stored. */
  private final TestRows y;

  private final float[] gain;
  private final float[] bias;
  private final QuantizedBytes q;

  QuantizedCase(
      long seed,
      QuantizedType type,
      ElementType elements,
      int rows,
      int width,
      Set<String> reached) {
    random = new SplittableRandom(seed);
    this.seed = "seed " + seed;
    this.type = type;
    this.rows = rows;
    this.width = width;
    this.reached = reached;
    exact = random.nextInt(3) == 0;
    groups = random.nextInt(4) == 0 ? divisor() : 1;
    boolean biased = !exact && random.nextInt(4) == 0;
    spec = exact ? NormSpec.RMSNORM.withEpsilon(0).withGroups(groups()) : spec(biased);
    rule =
        Quantizer.defaults()
            .withFactor(anyOf(CodeFactor.values()))
            .withRounding(anyOf(CodeRounding.values()))
            .withFloor(anyOf(ScaleFloor.values()))
            .withRoundedOutput(random.nextInt(3) == 0);
    boolean aligned = random.nextInt(3) > 0;
    x = rows(elements, aligned);
    boolean gated = spec.gate() != Gate.NONE;
    residual = !gated && !exact && random.nextInt(3) == 0 ? other(aligned) : null;
    z = gated ? other(aligned) : null;
    int output = random.nextInt(4);
    ElementType ofOutput = random.nextBoolean() ? elements : anyOf(ElementType.values());
    y = output == 0 ? x : output == 1 ? rows(ofOutput, aligned) : null;
    gain = exact || random.nextInt(4) > 0 ? new float[width] : null;
    bias = biased ? new float[width] : null;
    draw();
    q = new QuantizedBytes(type, format(type), rows, width, aligned, random);
  }

  /** The format of a type. */
  private static CodeFormat format(QuantizedType type) {
    String[] name = type.toString().split(":");
    Float8 float8 =
        switch (name[0]) {
          case "f8e4m3" -> Float8.E4M3;
          case "f8e5m2" -> Float8.E5M2;
          default -> null;
        };
    boolean given = name[1].equals("given");
    int block = given ? 1 : name[1].equals("row") ? 0 : Integer.parseInt(name[1]);
    return new CodeFormat(CodeLayout.APART, block, float8, given);
  }

  private <T> T anyOf(T[] values) {
    return values[random.nextInt(values.length)];
  }

  private RowGroups groups() {
    return RowGroups.ofCount(groups);
  }

  private int divisor() {
    int divisor = Math.min(width, 1 + random.nextInt(24));
    while (width % divisor != 0) {
      divisor--;
    }
    return divisor;
  }

  private NormSpec spec(boolean biased) {
    NormSpec.Kind kind = anyOf(NormSpec.Kind.values());
    boolean rms = kind == NormSpec.Kind.RMS_NORM;
    NormSpec made = NormSpec.RMSNORM.withKind(kind).withEpsilon(random.nextBoolean() ? 0 : 1e-5);
    made = !rms || biased ? made : made.withCastOrder(anyOf(CastOrder.values()));
    made = made.withResidualRounding(anyOf(ResidualRounding.values()));
    Gate gate = random.nextInt(3) > 0 ? Gate.NONE : anyOf(Gate.values());
    made = gate == Gate.SILU_BEFORE && made.isCentred() ? made : made.withGate(gate);
    boolean partial = rms && groups == 1 && random.nextInt(4) == 0;
    return partial
        ? made.withPart(RowPart.of(1 + random.nextInt(width), width))
        : made.withGroups(groups());
  }

  private TestRows rows(ElementType type, boolean aligned) {
    int vector = 16 / type.bytes();
    int before = aligned ? vector * random.nextInt(2) : random.nextInt(5);
    int gap = aligned ? Math.floorMod(-width, vector) : random.nextInt(5);
    return TestRows.of(type, rows, width, before, gap);
  }

  private TestRows other(boolean aligned) {
    ElementType[] narrow = {ElementType.FLOAT32, ElementType.FLOAT16, ElementType.BFLOAT16};
    TestRows drawn = rows(x.type() == ElementType.FLOAT64 ? x.type() : anyOf(narrow), aligned);
    for (int r = 0; r < rows; r++) {
      drawn.draw(r, random, false);
    }
    return drawn;
  }

  private void draw() {
    for (int r = 0; r < rows; r++) {
      if (!exact) {
        x.draw(r, random, random.nextBoolean());
      }
      for (int i = 0; exact && i < width; i++) {
        x.set(r, i, random.nextBoolean() ? 1 : -1);
      }
    }
    if (exact) {
      drawEdges();
    } else {
      for (int i = 0; i < width; i++) {
        if (gain != null) {
          gain[i] = (float) random.nextDouble(-2, 2);
        }
        if (bias != null) {
          bias[i] = (float) random.nextDouble(-2, 2);
        }
      }
    }
  }

  /** Pieces of numbers at the edges of codes and scales; a block is one piece or several. */
  private void drawEdges() {
    int[] pieces = {32, 128, width};
    int piece = pieces[random.nextInt(pieces.length)];
    float most = Float8.E4M3.largest;
    float[] sizes = {1, 0x1p-20f, 0x1p-23f, 0x1p-126f, 0x1p-140f, 0x1p-149f, 0x1p100f, most};
    for (int from = 0; from < width; from += piece) {
      int kind = random.nextInt(12);
      float size = sizes[random.nextInt(sizes.length)];
      for (int i = from; i < Math.min(width, from + piece); i++) {
        float half = (random.nextInt(509) - 254) * 0.5f;
        float eighth = (random.nextInt(257) - 128) * (1 / 16f) * (1 << random.nextInt(9));
        gain[i] =
            switch (kind) {
              case 0 -> 0;
              case 1, 2, 3 -> half * size;
              case 4, 5, 6 -> Math.clamp(eighth, -most, most) * size;
              case 7 -> Float.intBitsToFloat(random.nextInt() & 0x807fffff);
              default -> (float) random.nextDouble(-1, 1) * size;
            };
      }
      float[] odd = {127 * size, Float.NaN, Float.POSITIVE_INFINITY, most * size, 127 * 0x1p-128f};
      if (random.nextInt(3) > 0) {
        int last = Math.min(width, from + piece) - 1;
        gain[random.nextInt(from, last + 1)] = odd[random.nextInt(kind < 8 ? 5 : 1)];
      }
    }
  }

  private Norm norm() {
    NormBuilder<?> builder = spec.builder(width).threads(1).backend(Backend.scalar());
    if (gain != null) {
      builder.gain(gain);
    }
    if (bias != null) {
      builder.bias(bias);
    }
    return builder.quantizer(rule).build();
  }

  /** Makes the call on the CPU and by its launches, and compares all bytes. */
  void check() {
    check(this::byLaunches);
  }

  /** Makes the call on the CPU and on a device, and compares all bytes. */
  void checkOn(CudaDevice device, CudaStream stream) {
    check(norm -> onDevice(norm, device, stream));
  }

  private interface Way {
    void run(Norm norm);
  }

  private void check(Way way) {
    try {
      compare(way);
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError(seed + ": " + this, e);
    }
    reach();
  }

  private void compare(Way way) {
    TestRows xOnCpu = x.copy();
    TestRows yOnCpu = y == x ? xOnCpu : y == null ? null : y.copy();
    TestRows residualOnCpu = residual == null ? null : residual.copy();
    QuantizedBytes wanted = q.copy();
    Norm norm = norm();
    onCpu(norm, xOnCpu, residualOnCpu, yOnCpu, wanted);
    way.run(norm);
    assertThat(q.difference(wanted)).isNull();
    assertThat(x.difference(xOnCpu)).as("x").isNull();
    if (y != null) {
      assertThat(y.difference(yOnCpu)).as("y").isNull();
    }
    if (residual != null) {
      assertThat(residual.difference(residualOnCpu)).as("residual").isNull();
    }
  }

  private void onCpu(Norm norm, TestRows x, TestRows residual, TestRows y, QuantizedBytes q) {
    Rows output = y == null ? null : y.onCpu();
    if (z != null && y == null) {
      norm.applyGated(x.onCpu(), z.onCpu(), null, q.onCpu());
    } else if (z != null) {
      norm.applyGated(x.onCpu(), z.onCpu(), output, q.onCpu());
    } else if (residual != null && y == null) {
      norm.addAndApply(x.onCpu(), residual.onCpu(), null, q.onCpu());
    } else if (residual != null) {
      norm.addAndApply(x.onCpu(), residual.onCpu(), output, q.onCpu());
    } else if (y == null) {
      norm.apply(x.onCpu(), null, q.onCpu());
    } else {
      norm.apply(x.onCpu(), output, q.onCpu());
    }
  }

  private void onDevice(Norm norm, CudaDevice device, CudaStream stream) {
    try (DeviceCopies copies = new DeviceCopies(device)) {
      CudaNorm there = device.norm(norm, copies.arena()).on(stream);
      CudaRows input = copies.of(x);
      CudaRows output = copies.of(y);
      CudaQuantizedRows codes = q.on(copies);
      if (z != null) {
        there.applyGated(input, copies.of(z), output, codes);
      } else if (residual != null) {
        there.addAndApply(input, copies.of(residual), output, codes);
      } else {
        there.apply(input, output, codes);
      }
      copies.takeBack();
    }
  }

  private void byLaunches(Norm norm) {
    NormParts parts = NormParts.of(norm);
    DeviceRun device = new DeviceRun(random);
    Map<Tensor, DeviceRows> all = new TreeMap<>();
    all.put(Forward.X, device.rows("x", x, y != x));
    if (residual != null) {
      all.put(Forward.RESIDUAL, device.rows("residual", residual, false));
    }
    if (z != null) {
      all.put(Forward.Z, device.rows("z", z, true));
    }
    ElementType output = y == null ? parts.unstored(x.type()) : y.type();
    DeviceCodes codes = new DeviceCodes(q.on(device.memory), parts.rule(), output);
    if (y == x) {
      all.put(Forward.Y, all.get(Forward.X));
    } else if (y != null) {
      all.put(Forward.Y, device.rows("y", y, false));
    } else if (!codes.fitGroups(groups)) {
      byte[] bytes = new byte[rows * width * output.bytes()];
      long address = device.memory.allocateUnwritten("output", bytes);
      all.put(Forward.Y, new DeviceRows(address, output, rows, width, width));
    }
    ForwardCalls calls =
        new ForwardCalls(
            parts,
            device.sharedBytes(),
            all,
            column(device, gain),
            column(device, bias),
            0,
            0,
            codes);
    List<KernelCall> launches = calls.launches();
    device.launch(launches);
    for (KernelCall launch : launches) {
      reachLabels(launch, device);
    }
    reached.add("launches " + launches.size());
  }

  private DeviceColumn column(DeviceRun device, float[] numbers) {
    if (numbers == null) {
      return null;
    }
    double[] doubles = new double[width];
    for (int i = 0; i < width; i++) {
      doubles[i] = numbers[i];
    }
    ElementType arithmetic = NormKernels.arithmetic(x.type());
    long address = device.numbers("column", doubles, arithmetic);
    return DeviceColumn.of(address, ElementType.FLOAT32, arithmetic, width, width / groups);
  }

  private void reach() {
    Form form = Form.of(width / groups, true);
    reached.add(form + " " + type);
    reached.add(form + " " + x.type() + " output " + (y == null ? "none" : y.type()));
    reached.add(type + " " + rule.floor());
    reached.add(type + " rounds " + rule.roundsOutput());
    if (type.toString().startsWith("int8")) {
      reached.add(type + " " + rule.factor() + " " + rule.rounding());
      reached.add(rule.factor() + " " + rule.floor() + (exact ? " exact" : ""));
    }
    reached.add(type + (exact ? " exact" : ""));
    reached.add("in place " + (y == x));
    reached.add("gate " + spec.gate() + " output " + (y != null));
    reached.add("residual " + (residual != null) + " output " + (y != null));
    reached.add(spec.kind() + " groups " + (groups > 1));
    q.reach(reached);
  }

  private void reachLabels(KernelCall launch, DeviceRun device) {
    boolean float64 = x.type() == ElementType.FLOAT64;
    for (String label : device.work.reached(DeviceRun.program(launch.kernel().text()))) {
      reached.add(launch.kernel().form() + " " + float64 + " " + label);
    }
  }

  @Override
  public String toString() {
    return "%s of %d x %d %s -> %s by %s, y %s%s, residual %s, z %s, gain %s, groups %d%s"
        .formatted(
            spec,
            rows,
            width,
            x.type(),
            type,
            rule,
            y == null ? "none" : y.type(),
            y == x ? " in place" : "",
            residual == null ? "none" : residual.type(),
            z == null ? "none" : z.type(),
            gain != null,
            groups,
            exact ? ", the result is the gain" : "");
  }
}
