package io.github.rmsnorm4j.models.transformer;

import static io.github.rmsnorm4j.models.internal.Requirement.require;

/**
 * What the blocks of a model are made of, apart from their norms.
 *
 * @param mlp the function of the MLP
 * @param biases which projections have a bias
 * @param rotaryShare the share of a head's elements that are rotated by position; 0 for positions
 *     that are learned rows, added to the embedding
 * @param parallelResidual whether attention and MLP see the same input, {@code x + f(norm(x)) +
 *     g(norm(x))}, each with a norm of its own
 * @param normBias whether norms other than LayerNorm have a bias too
 */
public record BlockForm(
    MlpKind mlp, Biases biases, double rotaryShare, boolean parallelResidual, boolean normBias) {
  /** A Llama's: the only form that can be trained and saved here. */
  public static final BlockForm LLAMA = new BlockForm(MlpKind.SWIGLU, Biases.NONE, 1, false, false);

  /** Which projections have a bias. */
  public enum Biases {
    /** None. */
    NONE,
    /** Those to queries, keys and values. */
    QUERY_KEY_VALUE,
    /** Those of the MLP. */
    MLP,
    /** All within blocks; the head has none. */
    ALL;

    /** Whether a projection, as attention or MLP names it, has one. */
    boolean of(String projection) {
      return switch (this) {
        case NONE -> false;
        case QUERY_KEY_VALUE -> projection.matches("self_attn\\.[qkv]_proj");
        case MLP -> projection.startsWith("mlp.");
        case ALL -> true;
      };
    }
  }

  /**
   * Checks that nothing is missing.
   *
   * @throws IllegalArgumentException if an argument is null, or the share is not between 0 and 1
   */
  public BlockForm {
    if (mlp == null || biases == null) {
      throw new IllegalArgumentException("mlp and biases must not be null");
    }
    require(rotaryShare >= 0 && rotaryShare <= 1, "rotaryShare", rotaryShare, "be between 0 and 1");
  }

  /** That of the family, of which each has a form of its own. */
  Naming naming() {
    if (mlp == MlpKind.SWIGLU) {
      return Naming.LLAMA;
    }
    return learnedPositions() ? Naming.GPT2 : Naming.GPT_NEOX;
  }

  boolean learnedPositions() {
    return rotaryShare == 0;
  }

  /** Elements of a head that are rotated: its first ones. */
  int rotatedWidth(int headWidth) {
    return (int) (headWidth * rotaryShare);
  }
}
