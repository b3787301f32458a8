package io.github.rmsnorm4j.oracle;

import io.github.rmsnorm4j.ElementType;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.ScalarOptional;
import org.bytedeco.pytorch.ScalarTypeOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch.ScalarType;

/**
 * Norms as their Python code has them, one operation of libtorch after the other, in the types that
 * the operations promote to.
 */
enum PublishedNorm {
  /** LlamaRMSNorm of Hugging Face's transformers. */
  LLAMA {
    @Override
    Tensor forward(Tensor x, Tensor weight) {
      return weight.mul(normalised(x.to(ScalarType.Float)).to(x.scalar_type()));
    }
  },

  /** GemmaRMSNorm of Hugging Face's transformers. */
  GEMMA {
    @Override
    Tensor forward(Tensor x, Tensor weight) {
      Tensor gain = weight.to(ScalarType.Float).add(new Scalar(1.0));
      return normalised(x.to(ScalarType.Float)).mul(gain).to(x.scalar_type());
    }
  },

  /** T5LayerNorm of Hugging Face's transformers. */
  T5 {
    @Override
    Tensor forward(Tensor x, Tensor weight) {
      Tensor h = x.mul(rstd(x.to(ScalarType.Float)));
      boolean narrow = weight.element_size() == 2;
      return weight.mul(narrow ? h.to(weight.scalar_type()) : h);
    }
  },

  /** RMSNorm of the code published with the paper, rmsnorm_torch.py, with p = -1. */
  PAPER {
    @Override
    Tensor forward(Tensor x, Tensor weight) {
      return paper(x, x.size(-1), weight);
    }
  },

  /** The same with p = {@value #P}: partial RMSNorm. */
  PARTIAL {
    @Override
    Tensor forward(Tensor x, Tensor weight) {
      return paper(x, (long) (x.size(-1) * P), weight);
    }
  },

  /** A decoder layer's {@code hidden = residual + hidden} in the model's type, then LLAMA. */
  ADDED_FIRST {
    @Override
    Tensor sum(Tensor x, Tensor residual) {
      return residual.add(x);
    }

    @Override
    Tensor forward(Tensor h, Tensor weight) {
      return LLAMA.forward(h, weight);
    }
  },

  /** The sum kept in float32, as the reference code of FlashAttention's norm has it. */
  ADDED_LAST {
    @Override
    Tensor sum(Tensor x, Tensor residual) {
      return x.to(ScalarType.Float).add(residual.to(ScalarType.Float));
    }

    @Override
    Tensor forward(Tensor h, Tensor weight) {
      return normalised(h).mul(weight.to(ScalarType.Float));
    }
  };

  static final double P = 0.3;

  /** The normalised rows; with a residual, of the sum. */
  abstract Tensor forward(Tensor x, Tensor weight);

  /** The sum that is normalised, before it is stored; null where there is no residual. */
  Tensor sum(Tensor x, Tensor residual) {
    return null;
  }

  boolean adds() {
    return this == ADDED_FIRST || this == ADDED_LAST;
  }

  /** Whether it is for rows and weights of these types. */
  boolean takes(ElementType x, ElementType weight) {
    return switch (this) {
      case LLAMA, T5, GEMMA -> x != ElementType.FLOAT64 && weight != ElementType.FLOAT64;
      case PAPER, PARTIAL -> x == weight && x.bytes() > 2;
      case ADDED_FIRST, ADDED_LAST -> x == weight && x != ElementType.FLOAT64;
    };
  }

  private static Tensor rstd(Tensor x) {
    Tensor variance = x.pow(new Scalar(2.0)).mean(new long[] {-1}, true, new ScalarTypeOptional());
    return variance.add(new Scalar(1e-6)).rsqrt();
  }

  private static Tensor normalised(Tensor x) {
    return x.mul(rstd(x));
  }

  private static Tensor paper(Tensor x, long k, Tensor weight) {
    ScalarOptional two = new ScalarOptional(new Scalar(2.0));
    Tensor norm = x.narrow(-1, 0, k).norm(two, new long[] {-1}, true);
    Tensor rms = norm.mul(new Scalar(1 / Math.sqrt(k)));
    return weight.mul(x.div(rms.add(new Scalar(1e-8))));
  }
}
