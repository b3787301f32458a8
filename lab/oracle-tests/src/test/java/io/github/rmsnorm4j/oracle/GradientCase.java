package io.github.rmsnorm4j.oracle;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.oracle.PublishedNorm.Learned;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/**
 * A published norm, its rows, and the gradients that come back to it: of the output, and, where a
 * residual is added, of the stored sum. Every number is one that its type has exactly.
 *
 * @param name says where the numbers come from, seed included
 * @param output type of the output and of its gradient: what libtorch promotes to
 * @param residual rows to add to, or null
 * @param sum the stored sum as libtorch has it, or null
 * @param dresidual gradient of the stored sum, or null
 */
record GradientCase(
    String name,
    PublishedNorm norm,
    ElementType type,
    ElementType weightType,
    ElementType output,
    int width,
    double epsilon,
    double[] x,
    double[] residual,
    double[] sum,
    double[] weight,
    double[] bias,
    double[] dy,
    double[] dresidual) {

  /**
   * What goes back.
   *
   * @param dresidual gradient of the old residual, or null
   */
  record Gradients(double[] dx, double[] dresidual, double[] dgain, double[] dbias) {}

  private static final int[] WIDTHS = {
    1, 2, 3, 5, 8, 13, 16, 17, 33, 64, 100, 255, 768, 1023, 4096
  };

  static GradientCase draw(
      PublishedNorm norm, ElementType type, ElementType weightType, long seed) {
    Random random = new Random(seed);
    int width = WIDTHS[random.nextInt(WIDTHS.length)];
    width = norm == PublishedNorm.PARTIAL ? Math.max(width, 5) : width;
    double[] scales = {type == ElementType.FLOAT16 ? 0.03 : 1e-3, 2, 30};
    int rows = 1 + random.nextInt(5);
    double scale = scales[random.nextInt(3)];
    double inRoot = norm.placement() == EpsilonPlacement.OUTSIDE ? scale : scale * scale;
    double epsilon = random.nextInt(3) > 0 ? norm.epsilon() : 0.3 * inRoot;
    return of("seed " + seed, norm, type, weightType, rows, width, epsilon, scale, random);
  }

  /**
   * Gradients that lean on their rows and are not centred, so that each term of the formulas
   * counts. No factor is near zero, so that the way back from the output is a good one.
   */
  static GradientCase of(
      String name,
      PublishedNorm norm,
      ElementType type,
      ElementType weightType,
      int rows,
      int width,
      double epsilon,
      double scale,
      Random random) {
    int count = rows * width;
    int offset = random.nextInt(2);
    double[] x = new double[count];
    double[] residual = norm.adds() ? new double[count] : null;
    for (int i = 0; i < count; i++) {
      x[i] = Elements.round(scale * (random.nextGaussian() + offset), type);
      if (norm.adds()) {
        residual[i] = Elements.round(scale * random.nextGaussian(), type);
      }
    }
    double[] weight = new double[width];
    double[] bias = norm.hasBias() ? new double[width] : null;
    for (int i = 0; i < width; i++) {
      double gain = 0.5 + random.nextDouble() - (norm == PublishedNorm.GEMMA ? 1 : 0);
      weight[i] = Elements.round(gain, weightType);
      if (norm.hasBias()) {
        bias[i] = Elements.round(random.nextGaussian(), weightType);
      }
    }
    try (PointerScope _ = new PointerScope()) {
      PublishedNorm.Result result =
          norm.apply(
              Libtorch.tensor(x, type, width),
              residual == null ? null : Libtorch.tensor(residual, type, width),
              new Learned(
                  Libtorch.parameter(weight, weightType),
                  bias == null ? null : Libtorch.parameter(bias, weightType),
                  epsilon));
      ElementType output = Libtorch.elementType(result.y());
      double[] sum = residual == null ? null : Libtorch.values(result.sum());
      double[] dy = new double[count];
      double[] dresidual = residual == null ? null : new double[count];
      for (int i = 0; i < count; i++) {
        dy[i] = Elements.round(2 + random.nextGaussian() + x[i] / scale, output);
        if (residual != null) {
          dresidual[i] = Elements.round(random.nextGaussian() / scale, type);
        }
      }
      return new GradientCase(
          name,
          norm,
          type,
          weightType,
          output,
          width,
          epsilon,
          x,
          residual,
          sum,
          weight,
          bias,
          dy,
          dresidual);
    }
  }

  int rows() {
    return x.length / width;
  }

  /** What the root is of, as it is stored. */
  double[] normalised() {
    return sum == null ? x : sum;
  }

  /** Float64 where the rows are, else float32. */
  ElementType arithmetic() {
    return type == ElementType.FLOAT64 ? type : ElementType.FLOAT32;
  }

  /** The type of fewest bits that a number is rounded to on the way, there or back. */
  ElementType coarsest() {
    ElementType coarsest = type;
    for (ElementType other : List.of(weightType, output)) {
      coarsest = Elements.precision(other) < Elements.precision(coarsest) ? other : coarsest;
    }
    return coarsest;
  }

  /** This library's gradients, with dx in a type. */
  Gradients ours(Keep keep, ElementType dxType) {
    Rows gain = Elements.rows(weight, weightType, width);
    Rows added = bias == null ? null : Elements.rows(bias, weightType, width);
    Norm ours = norm.ours(width, epsilon).withParameters(gain, added);
    Saved saved = new Saved(keep, rows());
    Rows in = Elements.rows(x, type, width);
    Rows y = Elements.rows(new double[x.length], output, width);
    Rows dx = Elements.rows(new double[x.length], dxType, width);
    Rows slope = Elements.rows(dy, output, width);
    double[] dgain = new double[width];
    double[] dbias = bias == null ? null : new double[width];
    ParameterGradients gradients = ParameterGradients.assigned(dgain, dbias);
    if (residual == null) {
      ours.apply(in, y, saved);
      ours.backward(slope, saved, dx, gradients);
    } else {
      Rows stored = Elements.rows(residual, type, width);
      ours.addAndApply(in, stored, y, saved);
      ours.backward(slope, saved, Elements.rows(dresidual, type, width), dx, gradients);
    }
    double[] values = Elements.values(dx);
    return new Gradients(values, residual == null ? null : values, dgain, dbias);
  }

  /** libtorch's, in the case's own types. */
  Gradients published() {
    return autograd(x, residual, null);
  }

  /**
   * libtorch's with the same formula in float64, where casts round nothing. A sum that is rounded
   * before the norm is that of the stored sum.
   */
  Gradients exact() {
    if (residual == null || roundsLate()) {
      return autograd(x, residual, ElementType.FLOAT64);
    }
    return autograd(sum, new double[x.length], ElementType.FLOAT64);
  }

  /** Whether the norm goes on from what the stored sum is no longer. */
  boolean roundsLate() {
    boolean late = norm == PublishedNorm.ADDED_LAST || norm == PublishedNorm.ADDED_BETWEEN;
    return late && type.bytes() == 2;
  }

  private Gradients autograd(double[] in, double[] addend, ElementType all) {
    ElementType rowType = all == null ? type : all;
    ElementType learnedType = all == null ? weightType : all;
    ElementType outType = all == null ? output : all;
    try (PointerScope _ = new PointerScope()) {
      List<Tensor> leaves = new ArrayList<>();
      leaves.add(leaf(Libtorch.tensor(in, rowType, width)));
      leaves.add(leaf(Libtorch.parameter(weight, learnedType)));
      Tensor b = bias == null ? null : leaf(Libtorch.parameter(bias, learnedType));
      Tensor r = addend == null ? null : leaf(Libtorch.tensor(addend, rowType, width));
      Learned learned = new Learned(leaves.get(1), b, epsilon);
      PublishedNorm.Result result = norm.apply(leaves.get(0), r, learned);
      List<Tensor> outputs = new ArrayList<>(List.of(result.y()));
      List<Tensor> slopes = new ArrayList<>(List.of(Libtorch.tensor(dy, outType, width)));
      if (b != null) {
        leaves.add(b);
      }
      if (r != null) {
        leaves.add(r);
        outputs.add(result.sum());
        slopes.add(Libtorch.tensor(dresidual, rowType, width));
      }
      TensorVector back =
          torch.grad(
              vector(outputs),
              vector(leaves),
              vector(slopes),
              new BoolOptional(false),
              false,
              false);
      return new Gradients(
          Libtorch.values(back.get(0)),
          r == null ? null : Libtorch.values(back.get(leaves.size() - 1)),
          Libtorch.values(back.get(1)),
          b == null ? null : Libtorch.values(back.get(2)));
    }
  }

  private static Tensor leaf(Tensor tensor) {
    return tensor.requires_grad_();
  }

  private static TensorVector vector(List<Tensor> tensors) {
    return new TensorVector(tensors.toArray(Tensor[]::new));
  }

  @Override
  public String toString() {
    return String.format(
        "%s %s, weight %s, output %s, %d x %d, epsilon %s, %s",
        norm, type, weightType, output, rows(), width, epsilon, name);
  }
}
