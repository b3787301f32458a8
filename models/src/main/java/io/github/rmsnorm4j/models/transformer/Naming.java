package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.transformer.ParameterLayout.LayoutRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * How a family of stored models names its tensors, and in which order these have their elements.
 *
 * @param prefix that the names in a file may have or lack, but for that of the head
 * @param block what stands before the number of a block
 * @param names in the file, by those of {@link ParameterLayout} without the block
 * @param inputsFirst whether matrices of blocks are (inputs, outputs), not (outputs, inputs)
 * @param headByHead whether a tensor of several parameters has the outputs of one head of each of
 *     them, then those of the next head; otherwise one parameter follows the other
 * @param passedOver ends of the names of stored tensors that follow from the config
 */
record Naming(
    String prefix,
    String block,
    Map<String, String> names,
    boolean inputsFirst,
    boolean headByHead,
    List<String> passedOver) {
  /** The names of {@link ParameterLayout}. */
  private static final Naming LLAMA =
      new Naming("", "", Map.of(), false, false, List.of(".rotary_emb.inv_freq"));

  private static final Naming GPT2 =
      new Naming(
          "transformer.",
          "h.",
          names(LayoutRow::gpt2),
          true,
          false,
          List.of(".attn.bias", ".attn.masked_bias"));

  private static final Naming GPT_NEOX =
      new Naming(
          "gpt_neox.",
          "layers.",
          names(LayoutRow::neox),
          false,
          true,
          List.of(".attention.bias", ".attention.masked_bias", ".rotary_emb.inv_freq"));

  private static final Pattern PARAMETER =
      Pattern.compile("(?:model\\.layers\\.(\\d+)\\.)?(.+)(\\.weight|\\.bias)");

  /** That of a model from a file, of which each family has a form of its own. */
  static Naming of(BlockForm form) {
    if (form.mlp() == MlpKind.SWIGLU) {
      return LLAMA;
    }
    return form.learnedPositions() ? GPT2 : GPT_NEOX;
  }

  private static Map<String, String> names(Function<LayoutRow, String> name) {
    return ParameterLayout.rows().stream()
        .filter(row -> !name.apply(row).equals(ParameterLayout.NOT_THERE))
        .collect(Collectors.toMap(LayoutRow::name, name));
  }

  /** The prefix that the names of a file have. */
  String prefix(TensorFile file) {
    boolean prefixed = file.tensors().stream().anyMatch(tensor -> tensor.name().startsWith(prefix));
    return prefixed ? prefix : "";
  }

  /**
   * The tensors that hold parameters of a model.
   *
   * @param parameters in the model's order, those of fused tensors together
   * @param prefix of the file
   */
  static List<StoredTensor> tensors(ModelConfig config, List<Parameter> parameters, String prefix) {
    Naming naming = of(config.form());
    Map<String, List<Parameter>> stored = new LinkedHashMap<>();
    for (Parameter parameter : parameters) {
      String name = naming.stored(parameter.name(), prefix);
      stored.computeIfAbsent(name, unused -> new ArrayList<>()).add(parameter);
    }
    List<StoredTensor> tensors = new ArrayList<>();
    stored.forEach(
        (name, parts) -> {
          Parameter first = parts.getFirst();
          boolean turns = naming.headByHead && parts.size() > 1;
          int run = turns ? config.headWidth() : first.shape().getFirst();
          boolean transposed =
              naming.inputsFirst && first.shape().size() > 1 && first.name().contains(".layers.");
          tensors.add(new StoredTensor(name, parts, run, transposed));
        });
    return tensors;
  }

  /** The name that the tensor of a parameter has in a file. */
  String stored(String parameter, String prefix) {
    Matcher parts = PARAMETER.matcher(parameter);
    if (!parts.matches() || !names.containsKey(parts.group(2))) {
      return prefix + parameter;
    }
    boolean head = parts.group(2).equals(ParameterLayout.HEAD);
    String number = parts.group(1) == null ? "" : block + parts.group(1) + ".";
    return (head ? "" : prefix) + number + names.get(parts.group(2)) + parts.group(3);
  }
}
