package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Quantizer;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

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
  static final class Types implements ITypeConverter<QuantizedType>, Iterable<String> {
    private static List<String> names() {
      return QuantizedType.all().stream()
          .map(QuantizedType::toString)
          .filter(name -> !name.endsWith(":given"))
          .toList();
    }

    @Override
    public QuantizedType convert(String name) {
      if (!names().contains(name)) {
        throw new TypeConversionException("expected one of " + names() + " but was '" + name + "'");
      }
      return QuantizedType.ofName(name);
    }

    @Override
    public Iterator<String> iterator() {
      return names().iterator();
    }
  }

  static final class Rules implements ITypeConverter<Quantizer>, Iterable<String> {
    private static final Map<String, Supplier<Quantizer>> RULES =
        new TreeMap<>(
            Map.of(
                "defaults", Quantizer::defaults,
                "ggml-reference", Quantizer::ggmlReference,
                "vllm", Quantizer::vllm,
                "jlama", Quantizer::jlama));

    /** Every rule by its name. */
    static Map<String, Quantizer> presets() {
      Map<String, Quantizer> presets = new TreeMap<>();
      RULES.forEach((name, rule) -> presets.put(name, rule.get()));
      return presets;
    }

    @Override
    public Quantizer convert(String name) {
      if (!RULES.containsKey(name)) {
        throw new TypeConversionException(
            "expected one of " + RULES.keySet() + " but was '" + name + "'");
      }
      return RULES.get(name).get();
    }

    @Override
    public Iterator<String> iterator() {
      return RULES.keySet().iterator();
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
