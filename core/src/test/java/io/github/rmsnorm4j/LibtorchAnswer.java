package io.github.rmsnorm4j;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * What the Python code of a published norm gives on libtorch, as a file of {@code libtorch/} has
 * it: a title, and lines of a key and numbers. Types are those that libtorch promotes to.
 *
 * @param weight type of weight and bias
 */
record LibtorchAnswer(
    String norm, ElementType x, ElementType weight, ElementType y, Map<String, double[]> lines) {
  /** The norms of {@code published.txt}; {@code gradients.txt} has them too. */
  static final List<String> PUBLISHED =
      List.of(
          "LLAMA",
          "GEMMA",
          "T5",
          "PAPER",
          "PARTIAL",
          "ADDED_FIRST",
          "ADDED_BETWEEN",
          "ADDED_LAST",
          "ADDED_LAYER_NORM");

  /** Those of a norm. */
  static List<LibtorchAnswer> of(String file, String norm) throws IOException {
    List<LibtorchAnswer> answers = read(file, LibtorchAnswer::of);
    return answers.stream().filter(answer -> answer.norm.equals(norm)).toList();
  }

  private static LibtorchAnswer of(String title, Map<String, double[]> lines) {
    String[] words = title.split(" ");
    return new LibtorchAnswer(
        words[0],
        ElementType.ofName(words[1]),
        ElementType.ofName(words[2]),
        ElementType.ofName(words[4]),
        lines);
  }

  /**
   * The answers of a file: what is made of each title, and of the numbers below it by their key.
   */
  static <T> List<T> read(String file, BiFunction<String, Map<String, double[]>, T> of)
      throws IOException {
    List<T> answers = new ArrayList<>();
    Map<String, double[]> lines = null;
    for (String line : resource(file).lines().toList()) {
      String[] words = line.split(" ");
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      if (Character.isLetter(words[1].charAt(0))) {
        lines = new HashMap<>();
        answers.add(of.apply(line, lines));
      } else {
        double[] values = Arrays.stream(words).skip(1).mapToDouble(Double::parseDouble).toArray();
        lines.put(words[0], values);
      }
    }
    return answers;
  }

  private static String resource(String file) throws IOException {
    try (InputStream in = LibtorchAnswer.class.getResourceAsStream("/libtorch/" + file)) {
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
    }
  }

  ElementType arithmetic() {
    return x == ElementType.FLOAT64 ? x : ElementType.FLOAT32;
  }

  int width() {
    return lines.get("weight").length;
  }

  int rows() {
    return lines.get("x").length / width();
  }

  /** This library's norm for it, with neither gain nor bias of its own. */
  Norm ours() {
    int n = width();
    return switch (norm) {
      case "LLAMA", "ADDED_FIRST" -> RmsNorm.llama(n).build();
      case "GEMMA" -> RmsNorm.gemma(n).build();
      case "T5" -> RmsNorm.t5(n).build();
      case "PAPER" -> RmsNorm.paper(n).build();
      case "PARTIAL" -> RmsNorm.paper(n).partialRoundedDown(0.3).build();
      case "ADDED_BETWEEN" -> RmsNorm.builder(n).residualRounding(ResidualRounding.BETWEEN).build();
      case "ADDED_LAST" -> RmsNorm.builder(n).residualRounding(ResidualRounding.LAST).build();
      case "RMS_NORM" -> RmsNorm.builder(n).build();
      case "LAYER_NORM", "ADDED_LAYER_NORM" -> LayerNorm.builder(n).build();
      default -> throw new AssertionError(norm);
    };
  }

  /** The rows of a line; null where there is no such line. */
  Block block(Arena arena, ElementType type, String key) {
    double[] values = lines.get(key);
    if (values == null) {
      return null;
    }
    int n = width();
    Block block = new Block(arena, Place.NATIVE, type, values.length / n, n, n);
    for (int row = 0; row < values.length / n; row++) {
      block.put(row, Arrays.copyOfRange(values, row * n, (row + 1) * n));
    }
    return block;
  }

  @Override
  public String toString() {
    return norm + " " + x + " " + weight;
  }
}
