package io.github.rmsnorm4j.oracle;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RmsNorm;
import org.bytedeco.pytorch.DoubleOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.ScalarOptional;
import org.bytedeco.pytorch.ScalarTypeOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;

/**
 * Norms as their Python code has them, one operation of libtorch after the other, in the types that
 * the operations promote to. Where that code casts to float32, float64 stays as it is.
 */
enum PublishedNorm {
  /** LlamaRMSNorm of Hugging Face's transformers. */
  LLAMA {
    @Override
    Tensor forward(Tensor x, Learned learned) {
      Tensor wide = wide(x);
      Tensor normalised = wide.mul(rstd(wide, learned.epsilon)).to(x.scalar_type());
      return learned.weight.mul(normalised);
    }
  },

  /** GemmaRMSNorm of Hugging Face's transformers. */
  GEMMA {
    @Override
    Tensor forward(Tensor x, Learned learned) {
      Tensor gain = wide(learned.weight).add(new Scalar(1.0));
      Tensor wide = wide(x);
      return wide.mul(rstd(wide, learned.epsilon)).mul(gain).to(x.scalar_type());
    }
  },

  /** T5LayerNorm of Hugging Face's transformers. */
  T5 {
    @Override
    Tensor forward(Tensor x, Learned learned) {
      Tensor h = x.mul(rstd(wide(x), learned.epsilon));
      boolean narrow = learned.weight.element_size() == 2;
      return learned.weight.mul(narrow ? h.to(learned.weight.scalar_type()) : h);
    }
  },

  /** RMSNorm of the code published with the paper, rmsnorm_torch.py, with p = -1. */
  PAPER {
    @Override
    Tensor forward(Tensor x, Learned learned) {
      return paper(x, x.size(-1), learned);
    }
  },

  /** The same with p = {@value #P}: partial RMSNorm. */
  PARTIAL {
    @Override
    Tensor forward(Tensor x, Learned learned) {
      return paper(x, part(x.size(-1)), learned);
    }
  },

  /** A decoder layer's {@code hidden = residual + hidden} in the model's type, then LLAMA. */
  ADDED_FIRST {
    @Override
    Tensor forward(Tensor h, Learned learned) {
      return LLAMA.forward(h, learned);
    }
  },

  /** The sum kept in float32, as the reference code of FlashAttention's norm has it. */
  ADDED_LAST {
    @Override
    Result apply(Tensor x, Tensor residual, Learned learned) {
      Tensor sum = wide(x).add(wide(residual));
      Tensor y = sum.mul(rstd(sum, learned.epsilon)).mul(wide(learned.weight));
      return new Result(y.to(x.scalar_type()), sum.to(x.scalar_type()));
    }
  },

  /** The root of the sum in float32, the output of the sum as it is stored: vLLM's on CPUs. */
  ADDED_BETWEEN {
    @Override
    Result apply(Tensor x, Tensor residual, Learned learned) {
      Tensor sum = wide(x).add(wide(residual));
      Tensor stored = sum.to(x.scalar_type());
      Tensor y = wide(stored).mul(rstd(sum, learned.epsilon)).mul(wide(learned.weight));
      return new Result(y.to(x.scalar_type()), stored);
    }
  },

  /** torch.nn.RMSNorm. */
  RMS_NORM {
    @Override
    Tensor forward(Tensor x, Learned learned) {
      TensorOptional weight = new TensorOptional(learned.weight);
      DoubleOptional epsilon = new DoubleOptional(learned.epsilon);
      return torch.rms_norm(x, new long[] {x.size(-1)}, weight, epsilon);
    }
  },

  /** torch.nn.LayerNorm. */
  LAYER_NORM {
    @Override
    Tensor forward(Tensor x, Learned learned) {
      TensorOptional weight = new TensorOptional(learned.weight);
      TensorOptional bias =
          learned.bias == null ? new TensorOptional() : new TensorOptional(learned.bias);
      return torch.layer_norm(x, new long[] {x.size(-1)}, weight, bias, learned.epsilon, false);
    }
  },

  /** {@code hidden = residual + hidden} in the model's type, then torch.nn.LayerNorm. */
  ADDED_LAYER_NORM {
    @Override
    Tensor forward(Tensor h, Learned learned) {
      return LAYER_NORM.forward(h, learned);
    }
  };

  static final double P = 0.3;

  /**
   * What is trained, and epsilon.
   *
   * @param bias or null
   */
  record Learned(Tensor weight, Tensor bias, double epsilon) {}

  /**
   * What comes out.
   *
   * @param sum of rows and residual as it is stored, or null
   */
  record Result(Tensor y, Tensor sum) {}

  /** The normalised rows; with a residual, of the sum that is rounded first. */
  Tensor forward(Tensor x, Learned learned) {
    throw new AssertionError(this + " adds a residual");
  }

  /** Normalises the rows, or their sum with the residual where there is one. */
  Result apply(Tensor x, Tensor residual, Learned learned) {
    if (residual == null) {
      return new Result(forward(x, learned), null);
    }
    Tensor sum = residual.add(x);
    return new Result(forward(sum, learned), sum);
  }

  /** This library's norm for it. */
  Norm ours(int width, double epsilon) {
    return switch (this) {
      case LLAMA, ADDED_FIRST -> RmsNorm.llama(width).epsilon(epsilon).build();
      case GEMMA -> RmsNorm.gemma(width).epsilon(epsilon).build();
      case T5 -> RmsNorm.t5(width).epsilon(epsilon).build();
      case PAPER -> RmsNorm.paper(width).epsilon(epsilon).build();
      case PARTIAL -> RmsNorm.paper(width).epsilon(epsilon).partialRoundedDown(P).build();
      case ADDED_LAST -> added(ResidualRounding.LAST, width, epsilon);
      case ADDED_BETWEEN -> added(ResidualRounding.BETWEEN, width, epsilon);
      case RMS_NORM -> RmsNorm.builder(width).epsilon(epsilon).build();
      case LAYER_NORM, ADDED_LAYER_NORM -> LayerNorm.builder(width).epsilon(epsilon).build();
    };
  }

  private static Norm added(ResidualRounding rounding, int width, double epsilon) {
    return RmsNorm.builder(width).residualRounding(rounding).epsilon(epsilon).build();
  }

  /** The epsilon that it is published with. */
  double epsilon() {
    return switch (this) {
      case PAPER, PARTIAL -> 1e-8;
      case LAYER_NORM, ADDED_LAYER_NORM -> 1e-5;
      default -> 1e-6;
    };
  }

  EpsilonPlacement placement() {
    return this == PAPER || this == PARTIAL ? EpsilonPlacement.OUTSIDE : EpsilonPlacement.INSIDE;
  }

  boolean centred() {
    return this == LAYER_NORM || this == ADDED_LAYER_NORM;
  }

  /** Whether it is one operation of libtorch, whose answers {@link Vectors} has. */
  boolean isOneOperation() {
    return this == RMS_NORM || this == LAYER_NORM;
  }

  boolean adds() {
    return switch (this) {
      case ADDED_FIRST, ADDED_BETWEEN, ADDED_LAST, ADDED_LAYER_NORM -> true;
      default -> false;
    };
  }

  boolean hasBias() {
    return placement() == EpsilonPlacement.OUTSIDE || centred();
  }

  /** Elements that the root is of. */
  int part(long width) {
    return (int) (this == PARTIAL ? (long) (width * P) : width);
  }

  /** Whether it is for rows and weights of these types. */
  boolean takes(ElementType x, ElementType weight) {
    return switch (this) {
      case LLAMA, T5, GEMMA -> x != ElementType.FLOAT64 && weight != ElementType.FLOAT64;
      case PAPER, PARTIAL -> x == weight && x.bytes() > 2;
      case ADDED_FIRST, ADDED_BETWEEN, ADDED_LAST -> x == weight && x != ElementType.FLOAT64;
      case RMS_NORM, LAYER_NORM, ADDED_LAYER_NORM -> x == weight;
    };
  }

  private static Tensor wide(Tensor x) {
    return x.element_size() == 8 ? x : x.to(ScalarType.Float);
  }

  private static Tensor rstd(Tensor x, double epsilon) {
    Tensor variance = x.pow(new Scalar(2.0)).mean(new long[] {-1}, true, new ScalarTypeOptional());
    return variance.add(new Scalar(epsilon)).rsqrt();
  }

  private static Tensor paper(Tensor x, long k, Learned learned) {
    ScalarOptional two = new ScalarOptional(new Scalar(2.0));
    Tensor norm = x.narrow(-1, 0, k).norm(two, new long[] {-1}, true);
    Tensor rms = norm.mul(new Scalar(1 / Math.sqrt(k)));
    Tensor y = learned.weight.mul(x.div(rms.add(new Scalar(learned.epsilon))));
    return learned.bias == null ? y : y.add(learned.bias);
  }
}
