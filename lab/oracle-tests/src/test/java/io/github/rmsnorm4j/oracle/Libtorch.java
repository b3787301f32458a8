package io.github.rmsnorm4j.oracle;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.oracle.NormCase.Statistics;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.DoubleOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.ScalarTypeOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.Assumptions;

/** libtorch's answers, on one thread. */
final class Libtorch {
  private static final long[] LAST_AXIS = {-1};

  private Libtorch() {}

  /** Loads libtorch. Where there is none the tests are skipped, and fail if CI is true. */
  static void require() {
    try {
      torch.set_num_threads(1);
    } catch (LinkageError e) {
      String message =
          "these tests need libtorch, which does not load on "
              + Loader.getPlatform()
              + ". org.bytedeco:pytorch has it for linux-x86_64, macosx-arm64, macosx-x86_64 and"
              + " windows-x86_64";
      if ("true".equals(System.getenv("CI"))) {
        throw new AssertionError(message, e);
      }
      Assumptions.abort(message + " (" + e + ")");
    }
  }

  /** {@code torch.rms_norm} (plus bias) or {@code torch.layer_norm} of tensors of the type. */
  static double[] norm(NormCase norm, ElementType type) {
    try (PointerScope _ = new PointerScope()) {
      long[] shape = {norm.width()};
      Tensor x = rows(norm, type);
      if (norm.centred()) {
        return values(
            torch.layer_norm(
                x,
                shape,
                optional(norm.gain(), type),
                optional(norm.bias(), type),
                norm.epsilon(),
                false));
      }
      DoubleOptional epsilon = new DoubleOptional(norm.epsilon());
      Tensor y = torch.rms_norm(x, shape, optional(norm.gain(), type), epsilon);
      return values(norm.bias() == null ? y : y.add(parameter(norm.bias(), type)));
    }
  }

  /**
   * The lines that Python code has for it, one operation after the other: {@code x *
   * rsqrt(mean(x^2) + eps) * weight}, for LayerNorm with {@code x - mean(x)} in place of x. Tensors
   * of 16-bit types are widened first and the result is narrowed last.
   */
  static double[] formula(NormCase norm, ElementType type) {
    ElementType arithmetic = type == ElementType.FLOAT64 ? type : ElementType.FLOAT32;
    try (PointerScope _ = new PointerScope()) {
      Tensor x = rows(norm, arithmetic);
      if (norm.centred()) {
        x = x.sub(mean(x));
      }
      Tensor squares = x.pow(new Scalar(2.0));
      Tensor y = x.mul(mean(squares).add(new Scalar(norm.epsilon())).rsqrt());
      if (norm.gain() != null) {
        y = y.mul(parameter(norm.gain(), arithmetic));
      }
      if (norm.bias() != null) {
        y = y.add(parameter(norm.bias(), arithmetic));
      }
      return values(y.to(scalarType(type)));
    }
  }

  /** The rows' statistics in float64: zero and rstd for RMSNorm, mean and rstd for LayerNorm. */
  static Statistics statistics(NormCase norm) {
    try (PointerScope _ = new PointerScope()) {
      Tensor x = rows(norm, ElementType.FLOAT64);
      if (norm.centred()) {
        TensorOptional none = new TensorOptional();
        var results =
            torch.native_layer_norm(x, new long[] {norm.width()}, none, none, norm.epsilon());
        return new Statistics(values(results.get1()), values(results.get2()));
      }
      Tensor rstd = mean(x.square()).add(new Scalar(norm.epsilon())).rsqrt();
      return new Statistics(new double[norm.rows()], values(rstd));
    }
  }

  private static Tensor mean(Tensor x) {
    return x.mean(LAST_AXIS, true, new ScalarTypeOptional());
  }

  private static Tensor rows(NormCase norm, ElementType type) {
    return Tensor.create(norm.x(), norm.rows(), norm.width()).to(scalarType(type));
  }

  private static TensorOptional optional(double[] parameter, ElementType type) {
    return parameter == null
        ? new TensorOptional()
        : new TensorOptional(parameter(parameter, type));
  }

  /** A gain or bias of the type. */
  static Tensor parameter(double[] parameter, ElementType type) {
    return Tensor.create(parameter, parameter.length).to(scalarType(type));
  }

  /** One row of these values in a tensor of the type. */
  static Tensor tensor(double[] row, ElementType type) {
    return tensor(row, type, row.length);
  }

  /** Rows of these values in a tensor of the type. */
  static Tensor tensor(double[] values, ElementType type, int width) {
    return Tensor.create(values, values.length / width, width).to(scalarType(type));
  }

  static ElementType elementType(Tensor tensor) {
    for (ElementType type : ElementType.values()) {
      if (scalarType(type) == tensor.scalar_type().intern()) {
        return type;
      }
    }
    throw new AssertionError(tensor.scalar_type());
  }

  static double[] values(Tensor tensor) {
    Tensor float64 = tensor.to(ScalarType.Double).contiguous();
    double[] values = new double[Math.toIntExact(float64.numel())];
    float64.data_ptr_double().get(values);
    return values;
  }

  static ScalarType scalarType(ElementType type) {
    return switch (type) {
      case FLOAT64 -> ScalarType.Double;
      case FLOAT32 -> ScalarType.Float;
      case FLOAT16 -> ScalarType.Half;
      case BFLOAT16 -> ScalarType.BFloat16;
    };
  }
}
