package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.reference.Definitions;
import io.github.rmsnorm4j.reference.Gradients;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Some rows of a contest for another library, whose answer is compared with the definitions: in
 * each row the largest distance, as a share of the largest exact element.
 */
final class TorchAnswer {
  private static final int ROWS = 16;

  /** Its sums are float32, in whatever order. */
  private static final double FLOAT_SUMS = 1e-4;

  /** A published formula may round to a narrow type twice before the end. */
  private static final int ROUNDINGS = 3;

  private final Contest contest;
  private final Path folder;
  private final double epsilon;
  private final double[][] x;
  private final double[][] dy;
  private final double[] gain;

  /** Whoever answers: takes rows from the folder and leaves what it makes of them there. */
  @FunctionalInterface
  interface Answering {
    String ask(String what, Contest contest, String rows, String more);
  }

  TorchAnswer(Contest contest, Path folder) {
    this.contest = contest;
    this.folder = folder;
    epsilon = ContestPlaces.norm(contest).spec().epsilon(contest.type());
    SplittableRandom random = new SplittableRandom(contest.toString().hashCode());
    x = drawn(random, ROWS, -2, 3);
    dy = drawn(random, ROWS, -1, 1);
    gain = drawn(random, 1, 0.5, 2)[0];
  }

  private double[][] drawn(SplittableRandom random, int rows, double from, double to) {
    double[][] drawn = new double[rows][contest.width()];
    for (double[] row : drawn) {
      Arrays.setAll(row, _ -> contest.type().round(random.nextDouble(from, to)));
    }
    return drawn;
  }

  /** Why the answer is wrong; null if it is not. */
  String wrong(Answering answering) throws IOException {
    write("x", x);
    write("dy", dy);
    write("gain", gain);
    Files.deleteIfExists(folder.resolve("out"));
    String said = answering.ask("answer", contest, Integer.toString(ROWS), "");
    if (!said.startsWith("ok")) {
      return said.replaceFirst("^failed ", "");
    }
    byte[] bytes = Files.readAllBytes(folder.resolve("out"));
    int expected = (ROWS * tensors() + (hasGainGradient() ? 1 : 0)) * rowBytes();
    if (bytes.length != expected) {
      return "its answer has %s bytes, it must have %s".formatted(bytes.length, expected);
    }
    double error = error(bytes);
    double allowed = FLOAT_SUMS + (contest.type().bytes() == 2 ? narrow() : 0);
    return error <= allowed
        ? null
        : String.format(
            Locale.ROOT, "its answer is wrong by %.1e, %.1e is allowed", error, allowed);
  }

  private double narrow() {
    return ROUNDINGS * contest.type().unitRoundoff();
  }

  private int tensors() {
    return contest.job() == Contest.Job.RESIDUAL ? 2 : 1;
  }

  private boolean hasGainGradient() {
    return contest.job() == Contest.Job.BACKWARD_GAIN;
  }

  private int rowBytes() {
    return contest.width() * contest.type().bytes();
  }

  private double error(byte[] bytes) {
    double worst = 0;
    double[] dgain = new double[contest.width()];
    for (int r = 0; r < ROWS; r++) {
      worst = worse(worst, distance(row(bytes, r), exact(r, dgain)));
      if (contest.job() == Contest.Job.RESIDUAL) {
        worst = worse(worst, distance(row(bytes, ROWS + r), sum(r)));
      }
    }
    return hasGainGradient() ? worse(worst, distance(row(bytes, ROWS), dgain)) : worst;
  }

  /** NaN is the worst. */
  private static double worse(double worst, double distance) {
    return distance <= worst ? worst : distance;
  }

  /** What the residual is then: it was x. */
  private double[] sum(int r) {
    return Arrays.stream(x[r]).map(v -> contest.type().round(v + v)).toArray();
  }

  private double[] exact(int r, double[] dgain) {
    boolean centred = contest.kind() == NormSpec.Kind.LAYER_NORM;
    if (!contest.job().isBackward()) {
      double[] row = contest.job() == Contest.Job.RESIDUAL ? sum(r) : x[r];
      return centred
          ? Definitions.layerNorm(row, gain, gain, epsilon)
          : Definitions.rmsNorm(row, gain, null, epsilon);
    }
    int n = contest.width();
    double mean = centred ? Definitions.mean(x[r]) : 0;
    double square = centred ? Definitions.variance(x[r]) : Definitions.meanSquare(x[r], n);
    double root = Definitions.root(square, epsilon, EpsilonPlacement.INSIDE);
    double[] ofRow = Gradients.gain(x[r], dy[r], mean, root);
    Arrays.setAll(dgain, i -> dgain[i] + ofRow[i]);
    return centred
        ? Gradients.layerNorm(x[r], dy[r], gain, epsilon, EpsilonPlacement.INSIDE)
        : Gradients.rmsNorm(x[r], dy[r], gain, n, epsilon, EpsilonPlacement.INSIDE);
  }

  private static double distance(double[] got, double[] exact) {
    double largest = 0;
    double worst = 0;
    for (int i = 0; i < exact.length; i++) {
      largest = Math.max(largest, Math.abs(exact[i]));
      worst = worse(worst, Math.abs(got[i] - exact[i]));
    }
    return worst / largest;
  }

  private double[] row(byte[] bytes, int r) {
    ElementType type = contest.type();
    MemorySegment row = MemorySegment.ofArray(bytes).asSlice((long) r * rowBytes(), rowBytes());
    double[] values = new double[contest.width()];
    Arrays.setAll(values, i -> type.get(row, i));
    return values;
  }

  private void write(String name, double[]... values) throws IOException {
    MemorySegment bytes = MemorySegment.ofArray(new byte[values.length * rowBytes()]);
    for (int r = 0; r < values.length; r++) {
      for (int i = 0; i < contest.width(); i++) {
        contest.type().set(bytes, (long) r * contest.width() + i, values[r][i]);
      }
    }
    Files.write(folder.resolve(name), (byte[]) bytes.heapBase().orElseThrow());
  }
}
