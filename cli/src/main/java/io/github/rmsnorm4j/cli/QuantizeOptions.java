package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Quantizer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Option;

/** The options that say how a result is quantised. */
final class QuantizeOptions {
  @Option(
      names = "--quantize",
      paramLabel = "TYPE",
      converter = Types.class,
      completionCandidates = Types.class,
      description =
          "Write codes of 8 bits and scales instead of elements: ${COMPLETION-CANDIDATES}. OUT is a"
              + " .safetensors file then. Blocks of q8_0, q8_1 and q8_k are written as U8. Other codes"
              + " are written as I8, F8_E4M3 or F8_E5M2, and their scales as NAME.scale in F32.")
  QuantizedType type;

  @Option(
      names = "--quantizer",
      paramLabel = "RULE",
      converter = Rules.class,
      completionCandidates = Rules.class,
      description =
          "The rule of codes and scales: ${COMPLETION-CANDIDATES} (default: defaults, which gives"
              + " the bytes of llama.cpp on x86).")
  private Quantizer rule;

  /** Types that have a place in a file. */
  static final class Types extends NamedChoices<QuantizedType> {
    @Override
    Map<String, QuantizedType> values() {
      Map<String, QuantizedType> values = new LinkedHashMap<>();
      QuantizedType.all().forEach(type -> values.put(type.toString(), type));
      values.keySet().removeIf(name -> name.endsWith(":given"));
      return values;
    }
  }

  /** Every rule. */
  static final class Rules extends NamedChoices<Quantizer> {
    @Override
    Map<String, Quantizer> values() {
      return new TreeMap<>(
          Map.of(
              "defaults", Quantizer.defaults(),
              "ggml-reference", Quantizer.ggmlReference(),
              "vllm", Quantizer.vllm(),
              "jlama", Quantizer.jlama()));
    }
  }

  /** The type if it is one of ggml, whose blocks have codes and scales; otherwise null. */
  QuantizedType ofGgml() {
    return type == null || type.scales(type.block(1)) > 0 ? null : type;
  }

  /**
   * The rule; the default one where none is asked for.
   *
   * @throws IllegalArgumentException if options do not go together
   */
  Quantizer rule(Path out, int axis, ElementType dtype) {
    if (type == null) {
      require(rule == null, "--quantizer needs --quantize");
      return Quantizer.defaults();
    }
    require(
        out.toString().endsWith(".safetensors"),
        out + ": with --quantize the name must end in .safetensors");
    require(axis == -1, "--axis is " + axis + ", with --quantize it must be -1");
    require(dtype == null, "--dtype and --quantize exclude each other");
    return rule == null ? Quantizer.defaults() : rule;
  }

  private static void require(boolean holds, String message) {
    if (!holds) {
      throw new IllegalArgumentException(message);
    }
  }
}
