package io.github.rmsnorm4j.models.families;

/**
 * The logits of a model in float64, by the formulas of its family as the code of Hugging Face has
 * them, without the roundings there. Sliding windows are longer than the sequences here, and left
 * out; so are scaled rotations for long contexts.
 */
final class ReferenceForward {
  private ReferenceForward() {}

  /** The logits of a model that has a decoder only: a row for each token. */
  static double[][] logits(TinyModel model, int... ids) {
    return switch (model.type()) {
      case "gpt2", "gpt_neox", "opt", "rmsnorm4j-gpt2", "rmsnorm4j-gpt_neox", "rmsnorm4j-opt" ->
          new LayerNormForward(model).logits(ids);
      case "llama",
          "mistral",
          "qwen2",
          "qwen3",
          "gemma",
          "gemma2",
          "gemma3_text",
          "olmo2",
          "phi3" ->
          new LlamaForward(model).logits(ids);
      default -> throw new IllegalArgumentException("no forward of " + model.type());
    };
  }

  /** The logits of any model; T5 takes the same tokens, in reverse order, in its encoder. */
  static double[][] anyLogits(TinyModel model, int... ids) {
    if (!model.type().equals("t5")) {
      return logits(model, ids);
    }
    int[] reversed = new int[ids.length];
    for (int i = 0; i < ids.length; i++) {
      reversed[i] = ids[ids.length - 1 - i];
    }
    return new T5Forward(model).logits(reversed, ids);
  }
}
