package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The presets against what the Python code that they are named for gives on libtorch, kept in
 * {@code libtorch/published.txt}. The module oracle-tests wrote it, and checks that libtorch still
 * gives it. Types are those that libtorch promotes to.
 */
class LibtorchPublishedTest {
  /** A row of them, in an operation libtorch adds or multiplies in another order. */
  private static final double ROUNDINGS = 8;

  /** Of the elements, those that a last bit before it sent to a cast's other side. */
  private static final double OTHER_SIDE = 0.01;

  /** What a title and its lines hold. */
  private record Answer(
      String norm, ElementType x, ElementType weight, ElementType y, Map<String, double[]> lines) {}

  private static RmsNorm.Builder builder(String norm, int width) {
    return switch (norm) {
      case "LLAMA", "ADDED_FIRST" -> RmsNorm.llama(width);
      case "GEMMA" -> RmsNorm.gemma(width);
      case "T5" -> RmsNorm.t5(width);
      case "PAPER" -> RmsNorm.paper(width);
      case "PARTIAL" -> RmsNorm.paper(width).partialRoundedDown(0.3);
      case "ADDED_LAST" -> RmsNorm.builder(width).residualRounding(ResidualRounding.LAST);
      default -> throw new AssertionError(norm);
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"LLAMA", "GEMMA", "T5", "PAPER", "PARTIAL", "ADDED_FIRST", "ADDED_LAST"})
  void asPublished(String norm) throws IOException {
    int elements = 0;
    int other = 0;
    for (Answer answer : answers(norm)) {
      double[] y = normalise(answer);
      double[] theirs = answer.lines.get("y");
      // A last bit of the arithmetic, or the step of 16 bits that it may send an element over.
      boolean exact =
          List.of(answer.x, answer.weight, answer.y).stream().allMatch(t -> t.bytes() > 2);
      double unit = answer.x == ElementType.FLOAT64 ? 0x1p-53 : 0x1p-24;
      for (int i = 0; i < y.length; i++) {
        String what = answer.norm + " " + answer.x + " " + answer.weight + ", element " + i;
        double near = ROUNDINGS * unit * Math.abs(theirs[i]);
        if (!exact && Math.abs(y[i] - theirs[i]) > near) {
          near += 0x1p-7 * Math.abs(theirs[i]);
          other++;
        }
        assertThat(y[i]).as(what).isCloseTo(theirs[i], within(near));
        elements++;
      }
    }
    assertThat(elements).isGreaterThan(70);
    assertThat(other).as("of %d elements", elements).isLessThan((int) (OTHER_SIDE * elements) + 1);
  }

  private static double[] normalise(Answer answer) {
    int n = answer.lines.get("x").length;
    try (Arena arena = Arena.ofConfined()) {
      Block gain = block(arena, answer.weight, answer.lines.get("weight"));
      Block x = block(arena, answer.x, answer.lines.get("x"));
      Block y = new Block(arena, Place.NATIVE, answer.y, 1, n, n);
      RmsNorm norm = builder(answer.norm, n).gain(gain.rows).build();
      double[] residual = answer.lines.get("residual");
      if (residual == null) {
        norm.apply(x.rows, y.rows);
      } else {
        Block sum = block(arena, answer.x, residual);
        norm.addAndApply(x.rows, sum.rows, y.rows);
        assertThat(sum.values(0)).isEqualTo(answer.lines.get("sum"));
      }
      return y.values(0);
    }
  }

  private static Block block(Arena arena, ElementType type, double[] values) {
    Block block = new Block(arena, Place.NATIVE, type, 1, values.length, values.length);
    block.put(0, values);
    return block;
  }

  private static List<Answer> answers(String norm) throws IOException {
    List<Answer> answers = new ArrayList<>();
    for (String line : resource().lines().toList()) {
      String[] words = line.split(" ");
      if (line.contains(" -> ")) {
        answers.add(
            new Answer(
                words[0],
                ElementType.ofName(words[1]),
                ElementType.ofName(words[2]),
                ElementType.ofName(words[4]),
                new HashMap<>()));
      } else if (!line.isEmpty() && !line.startsWith("#")) {
        double[] values = Arrays.stream(words).skip(1).mapToDouble(Double::parseDouble).toArray();
        answers.getLast().lines.put(words[0], values);
      }
    }
    return answers.stream().filter(answer -> answer.norm.equals(norm)).toList();
  }

  private static String resource() throws IOException {
    try (InputStream in =
        LibtorchPublishedTest.class.getResourceAsStream("/libtorch/published.txt")) {
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
    }
  }
}
