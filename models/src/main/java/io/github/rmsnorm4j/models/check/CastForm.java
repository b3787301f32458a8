package io.github.rmsnorm4j.models.check;

import java.util.Arrays;

/**
 * How an element is computed from x, rstd r and gain g, and where it is rounded. T is the type of
 * the row, W the type of the gain. One line for each.
 */
public enum CastForm {
  /** {@code (x * r) * g}. */
  FLOAT32("float32", "PyTorch, Gemma and OLMo 2", Step.MULTIPLY, Root.EXACT, Cast.NEVER),
  /** {@code ((x * r)T) * g}. */
  LLAMA("llama", "Llama, Qwen and Mistral", Step.MULTIPLY, Root.EXACT, Cast.TO_ROW),
  /** {@code ((x * r)W) * g}. */
  T5("t5", "T5", Step.MULTIPLY, Root.EXACT, Cast.TO_GAIN),
  /** {@code ((x / root)T) * g}. */
  ONNX("onnx", "ONNX", Step.DIVIDE, Root.EXACT, Cast.TO_ROW),
  /** {@code (x / root) * g}. */
  DIVIDED("divided", "ONNX Runtime and the code of the paper", Step.DIVIDE, Root.EXACT, Cast.NEVER),
  /** {@code x * (r * g)}. */
  GAIN_FIRST("gain-first", "Flax", Step.GAIN_FIRST, Root.EXACT, Cast.NEVER),
  /** {@code ((x * (r)T)T) * g}; DeepSeek-V4 has no gain there. */
  ROUNDED_ROOT("rounded-root", "DeepSeek-V4", Step.MULTIPLY, Root.ROUNDED, Cast.TO_ROW),
  /** Every step in T, the mean square too; the reciprocal of the root is one step. */
  NONE("none", "Liger with casting mode none", Step.MULTIPLY, Root.IN_ROW_TYPE, Cast.EVERY_STEP),
  /** {@link #NONE} with a division by the root, which is rounded to T. */
  NONE_DIVIDED(
      "none-divided",
      "ONNX with the row's type as stash type and the code of the paper on 16-bit rows",
      Step.DIVIDE,
      Root.IN_ROW_TYPE,
      Cast.EVERY_STEP);

  /** How the row meets its rstd. */
  enum Step {
    /** Times rstd, then times the gain. */
    MULTIPLY,
    /** Divided by the root, then times the gain. */
    DIVIDE,
    /** Times the product of rstd and gain. */
    GAIN_FIRST
  }

  /** What rstd, or the root, is rounded to. */
  enum Root {
    /** To the compute type alone. */
    EXACT,
    /** Then to the type of the row. */
    ROUNDED,
    /** It is computed in the type of the row, from the squares on. */
    IN_ROW_TYPE
  }

  /** What the normalised row is rounded to before the gain. */
  enum Cast {
    /** To nothing. */
    NEVER,
    /** To the type of the row. */
    TO_ROW,
    /** To the type of the gain. */
    TO_GAIN,
    /** To the type of the row, and so is the product with the gain. */
    EVERY_STEP
  }

  private final String text;

  /** Whose order it is, as the end of a sentence "is the order of ...". */
  final String users;

  final Step step;
  final Root root;
  final Cast cast;

  CastForm(String text, String users, Step step, Root root, Cast cast) {
    this.text = text;
    this.users = users;
    this.step = step;
    this.root = root;
    this.cast = cast;
  }

  /** The order of a name. */
  static CastForm of(String name) {
    return Arrays.stream(values()).filter(form -> form.text.equals(name)).findFirst().orElseThrow();
  }

  /** The name on the command line. */
  @Override
  public String toString() {
    return text;
  }
}
