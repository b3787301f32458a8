package io.github.rmsnorm4j.cuda.check;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaGradients;
import io.github.rmsnorm4j.cuda.CudaMemory;
import io.github.rmsnorm4j.cuda.CudaNorm;
import io.github.rmsnorm4j.cuda.CudaRows;
import io.github.rmsnorm4j.cuda.CudaSaved;
import io.github.rmsnorm4j.cuda.CudaStream;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Error;
import io.github.rmsnorm4j.reference.Definitions;
import io.github.rmsnorm4j.reference.Gradients;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** A call of a real size on the CPU and on a device. All its memory has guards. */
final class RealCall implements AutoCloseable {
  private static final int GUARDS = 4096;
  private static final byte GUARD = 0x5a;

  private final Arena arena = Arena.ofShared();
  private final ErrorCheck.Size size;
  private final ElementType type;
  private final double[] gain;
  private final Norm norm;
  private final MemorySegment x;
  private final MemorySegment dy;
  private final MemorySegment made;
  private final MemorySegment dgain;

  RealCall(ErrorCheck.Size size) {
    this.size = size;
    type = size.type();
    SplittableRandom random = new SplittableRandom(size.width());
    gain = new double[size.width()];
    Arrays.setAll(gain, _ -> (float) random.nextDouble(0.5, 2));
    NormSpec spec = size.kind() == NormSpec.Kind.LAYER_NORM ? NormSpec.LAYERNORM : NormSpec.RMSNORM;
    norm = spec.builder(size.width()).gain(gain).build();
    x = draw(memory(size.rows(), type), 1);
    dy = size.back() ? draw(memory(size.rows(), type), 2) : null;
    made = memory(size.rows(), type);
    dgain = memory(1, ElementType.FLOAT32);
  }

  /** With guards around the rows. */
  private MemorySegment memory(int rows, ElementType of) {
    long bytes = (long) rows * size.width() * of.bytes();
    return arena.allocate(bytes + 2 * GUARDS, 64).fill(GUARD);
  }

  /** Rows of sizes from a thousandth to a thousand, some far from 0. */
  private MemorySegment draw(MemorySegment memory, int seed) {
    IntStream.range(0, size.rows())
        .parallel()
        .forEach(
            row -> {
              SplittableRandom random = new SplittableRandom(seed * 1_000_003L + row);
              double scale = Math.pow(10, random.nextDouble(-3, 3));
              double mean = row % 4 == 0 ? 3 * scale : 0;
              MemorySegment elements = row(memory, row);
              for (int i = 0; i < size.width(); i++) {
                type.set(elements, i, mean + scale * random.nextDouble(-1, 1));
              }
            });
    return memory;
  }

  private MemorySegment row(MemorySegment memory, int row) {
    long bytes = (long) size.width() * type.bytes();
    return memory.asSlice(GUARDS + row * bytes, bytes);
  }

  private Rows rows(MemorySegment memory) {
    return Rows.of(memory.asSlice(GUARDS), type, size.rows(), size.width());
  }

  /** Makes the call on both. */
  Error run(CudaDevice device, CudaStream stream) {
    MemorySegment y = size.back() ? memory(size.rows(), type) : made;
    Saved saved = new Saved(Keep.INPUT, size.rows());
    norm.apply(rows(x), rows(y), saved);
    if (size.back()) {
      float[] sums = new float[size.width()];
      norm.backward(rows(dy), saved, rows(made), ParameterGradients.assigned(sums, null));
      MemorySegment.copy(MemorySegment.ofArray(sums), 0, dgain, GUARDS, 4L * sums.length);
    }
    MemorySegment there = memory(size.rows(), type);
    MemorySegment dgainThere = memory(1, ElementType.FLOAT32);
    String changed = onDevice(device, stream, there, dgainThere);
    String difference = changed == null ? difference("the result", there, made) : changed;
    difference = difference == null ? difference("dgain", dgainThere, dgain) : difference;
    double[] worst =
        IntStream.range(0, size.rows())
            .parallel()
            .mapToObj(row -> errors(row, there))
            .reduce(new double[2], (a, b) -> new double[] {worse(a[0], b[0]), worse(a[1], b[1])});
    return new Error(size.toString(), worst[0], size.back() ? null : worst[1], difference);
  }

  /** NaN is the worst. */
  private static double worse(double a, double b) {
    return b <= a ? a : b;
  }

  private static String difference(String what, MemorySegment there, MemorySegment here) {
    long at = there.mismatch(here);
    return at < 0
        ? null
        : "%s: byte %s from the first element on is %s, on the CPU it is %s"
            .formatted(what, at - GUARDS, there.get(JAVA_BYTE, at), here.get(JAVA_BYTE, at));
  }

  /** What has changed that nobody may change; null if nothing has. */
  private String onDevice(
      CudaDevice device, CudaStream stream, MemorySegment result, MemorySegment sums) {
    try (Arena there = Arena.ofConfined()) {
      CudaNorm onDevice = device.norm(norm, there).on(stream);
      CudaSaved saved = onDevice.saved(Keep.INPUT, size.rows(), there);
      CudaMemory input = copy(device, x, there);
      CudaMemory output = copy(device, result, there);
      CudaMemory gradient = copy(device, sums, there);
      onDevice.apply(onDevice(input), onDevice(output), saved);
      if (size.back()) {
        CudaMemory upstream = copy(device, dy, there);
        CudaRows dgainRow =
            CudaRows.of(gradient.asSlice(GUARDS), ElementType.FLOAT32, 1, size.width());
        onDevice.backward(
            onDevice(upstream), saved, onDevice(output), CudaGradients.assigned(dgainRow, null));
      }
      stream.synchronize();
      output.copyTo(result);
      gradient.copyTo(sums);
      MemorySegment after = arena.allocate(x.byteSize());
      input.copyTo(after);
      return difference("x", after, x);
    }
  }

  private CudaRows onDevice(CudaMemory memory) {
    return CudaRows.of(memory.asSlice(GUARDS), type, size.rows(), size.width());
  }

  private static CudaMemory copy(CudaDevice device, MemorySegment from, Arena arena) {
    CudaMemory memory = device.allocate(from.byteSize(), arena);
    memory.copyFrom(from);
    return memory;
  }

  /** The largest error of a row in units in the last place, and as a share of the bound. */
  private double[] errors(int row, MemorySegment there) {
    double[] input = values(x, row);
    double[] got = values(there, row);
    double epsilon = norm.spec().epsilon(type);
    boolean centred = norm.spec().isCentred();
    if (size.back()) {
      double[] upstream = values(dy, row);
      double[] exact =
          centred
              ? Gradients.layerNorm(input, upstream, gain, epsilon, EpsilonPlacement.INSIDE)
              : Gradients.rmsNorm(
                  input, upstream, gain, input.length, epsilon, EpsilonPlacement.INSIDE);
      double largest = Arrays.stream(exact).map(Math::abs).max().orElseThrow();
      double worst = 0;
      for (int i = 0; i < got.length; i++) {
        worst = worse(worst, Math.abs(got[i] - exact[i]) / ulp(largest));
      }
      return new double[] {worst, 0};
    }
    double mean = centred ? Definitions.mean(input) : 0;
    double square =
        centred ? Definitions.variance(input) : Definitions.meanSquare(input, input.length);
    double root = Definitions.root(square, epsilon, EpsilonPlacement.INSIDE);
    double[] exact = Definitions.output(input, mean, root, gain, null);
    Bound bound = new Bound(centred, input, 1 / root);
    double[] worst = new double[2];
    for (int i = 0; i < got.length; i++) {
      double error = Math.abs(got[i] - exact[i]);
      worst[0] = worse(worst[0], error / ulp(exact[i]));
      worst[1] = worse(worst[1], error / bound.allowed(exact[i], gain[i], type));
    }
    return worst;
  }

  private double[] values(MemorySegment memory, int row) {
    MemorySegment elements = row(memory, row);
    double[] values = new double[size.width()];
    Arrays.setAll(values, i -> type.get(elements, i));
    return values;
  }

  private double ulp(double value) {
    return Bound.ulp(type, value);
  }

  @Override
  public void close() {
    arena.close();
  }
}
