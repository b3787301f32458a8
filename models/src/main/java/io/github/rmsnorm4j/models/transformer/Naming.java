package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.TensorFile;
import java.util.List;

/** How families of stored models name their tensors: the columns of {@link ParameterLayout}. */
enum Naming {
  LLAMA("", "model.layers.", ".rotary_emb.inv_freq"),

  /** Matrices of its blocks are (inputs, outputs), not (outputs, inputs). */
  GPT2("transformer.", "h.", ".attn.bias", ".attn.masked_bias"),

  /**
   * A tensor of several parameters has the outputs of one head of each of them, then those of the
   * next head. In a GPT-2 one parameter follows the other.
   */
  GPT_NEOX(
      "gpt_neox.", "layers.", ".attention.bias", ".attention.masked_bias", ".rotary_emb.inv_freq");

  /** That the names in a file may have or lack, but for that of the head. */
  private final String prefix;

  /** What stands before the number of a block. */
  final String block;

  /** Ends of the names of stored tensors that follow from the config. */
  private final List<String> passedOver;

  Naming(String prefix, String block, String... passedOver) {
    this.prefix = prefix;
    this.block = block;
    this.passedOver = List.of(passedOver);
  }

  /** The prefix that the names of a file have. */
  String prefix(TensorFile file) {
    boolean prefixed = file.tensors().stream().anyMatch(tensor -> tensor.name().startsWith(prefix));
    return prefixed ? prefix : "";
  }

  boolean passesOver(String name) {
    return passedOver.stream().anyMatch(name::endsWith);
  }
}
