package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DemoTest {
  @Test
  void theTokenGetsTheRightFigures() {
    List<String> lines = demo();
    assertThat(words(lines, "RMSNorm -0"))
        .containsExactly(
            "RMSNorm", "-0.5892", "1.0426", "-0.5831", "-1.5278", "0.5476", "-0.1785", "1.6945",
            "-0.8298");
    assertThat(words(lines, "RMSNorm 1.0000")).containsExactly("RMSNorm", "1.0000", "-0.0530");
    assertThat(words(lines, "LayerNorm -0"))
        .containsExactly(
            "LayerNorm",
            "-0.5370",
            "1.0971",
            "-0.5309",
            "-1.4769",
            "0.6014",
            "-0.1257",
            "1.7499",
            "-0.7779");
    assertThat(words(lines, "LayerNorm 1.0000")).containsExactly("LayerNorm", "1.0000", "0.0000");
  }

  @Test
  void parametersAreCountedAndTokensDoNotMix() {
    assertThat(String.join(" ", demo()).replaceAll(" +", " "))
        .contains("RMSNorm 8, a gain per column; LayerNorm 16, a gain and a bias per column")
        .contains("alone and in the tensor this one gets the same bits");
  }

  @Test
  void layerNormCentresAndRmsNormDoesNot() {
    List<String> lines = demo();
    assertThat(words(lines, "RMSNorm 0.3651"))
        .containsExactly("RMSNorm", "0.3651", "0.7303", "1.0954", "1.4606", "1.0000", "0.9129");
    assertThat(words(lines, "LayerNorm -1.3416"))
        .containsExactly("LayerNorm", "-1.3416", "-0.4472", "0.4472", "1.3416", "1.0000", "0.0000");
  }

  @Test
  void scalingChangesNeitherAndShiftingOnlyRmsNorm() {
    List<String> lines = demo();
    assertThat(words(lines, "times 10 RMSNorm").stream().filter("unchanged"::equals)).hasSize(2);
    assertThat(words(lines, "plus 10 RMSNorm"))
        .containsSubsequence("RMSNorm", "changed", "LayerNorm", "unchanged");
    assertThat(words(lines, "over 1000 RMSNorm"))
        .containsSubsequence("RMSNorm", "changed", "LayerNorm", "changed");
  }

  @Test
  void aStackOfLayersGrowsWithoutANorm() {
    List<String> lines = demo();
    assertThat(Double.parseDouble(words(lines, "without a norm").getLast()))
        .isCloseTo(Math.pow(1.2, 47), Percentage.withPercentage(0.01));
    assertThat(words(lines, "with RMSNorm before each layer")).endsWith("1.00");
  }

  @Test
  void gainAndBiasAreApplied() {
    assertThat(words(demo(), "RMSNorm 0.3651 0.3651").subList(1, 5))
        .containsExactly("0.3651", "0.3651", "2.1909", "1.4606");
    assertThat(words(demo(), "LayerNorm -1.3416 -0.2236").subList(1, 5))
        .containsExactly("-1.3416", "-0.2236", "0.8944", "1.8416");
  }

  @Test
  void castOrdersDifferInMoreThanATenthOfTheElements() {
    for (String order : List.of("LLAMA", "T5", "ONNX")) {
      assertThat(Integer.parseInt(words(demo(), order + " ").get(1))).isBetween(410, 2048);
    }
    assertThat(words(demo(), "DIVIDED ")).containsExactly("DIVIDED", "0");
    assertThat(String.join(" ", demo()))
        .contains("becomes Infinity in float16", "each element becomes 1.00.");
  }

  @Test
  void onACentredRowTheTwoAgree() {
    assertThat(demo()).contains("  Largest difference with eps 1e-6 in both: 0.");
  }

  @Test
  void everythingFitsEightyColumnsOfAscii() {
    assertThat(demo()).allSatisfy(DemoTest::fits);
    assertThat(demo("1e-300", "-1e300", "3", "4", "5", "6", "7", "8", "9", "-1e-310", "NaN"))
        .allSatisfy(DemoTest::fits);
  }

  private static void fits(String line) {
    assertThat(line).hasSizeLessThanOrEqualTo(80).matches("\\p{ASCII}*");
  }

  @Test
  void yourNumbersGoStepByStep() {
    List<String> lines = demo("1", "2", "3", "4", "--gain", "1,1,2,1", "--eps", "1e-6");
    assertThat(words(lines, "squares"))
        .containsExactly("squares", "1.0000", "4.0000", "9.0000", "16.0000");
    assertThat(words(lines, "mean square")).contains("7.5000", "30.0000,");
    assertThat(words(lines, "root")).contains("2.7386", "1.000e-06");
    assertThat(words(lines, "x / root")).contains("0.3651", "0.7303", "1.0954", "1.4606");
    List<String> result = words(lines, "times gain").subList(2, 6);
    assertThat(result).containsExactly("0.3651", "0.7303", "2.1909", "1.4606");
    assertThat(words(lines, "RmsNorm.apply").subList(1, 5)).isEqualTo(result);
  }

  @Test
  void aLineHasOneNotation() {
    List<String> lines = demo("1e-6", "2e-6", "3e-6", "4e-6");
    assertThat(words(lines, "x / root"))
        .containsExactly("x", "/", "root", "1.000e-03", "2.000e-03", "3.000e-03", "4.000e-03");
    assertThat(words(lines, "root")).containsSubsequence("1.000e-03", "sqrt(7.500e-12");
    assertThat(words(demo("0.02", "3"), "x")).containsExactly("x", "0.020000", "3.000000");
  }

  @Test
  void layerNormOfTheSameNumbersIsShown() {
    assertThat(words(demo("1", "2", "3", "4"), "LayerNorm"))
        .containsExactly("LayerNorm", "-1.3416", "-0.4472", "0.4472", "1.3416");
  }

  @Test
  void whatEpsilonDoesToSmallRowsIsSaid() {
    assertThat(text(demo("1e-6", "2e-6"))).contains("Epsilon is larger than the mean square");
    assertThat(text(demo("1", "2"))).doesNotContain("Epsilon is", "All numbers");
    assertThat(text(demo("0", "0"))).contains("All numbers are 0. Epsilon keeps the root above 0");
    assertThat(text(demo("0", "0", "--eps", "0"))).contains("0 / 0 is NaN");
  }

  private static String text(List<String> lines) {
    return String.join(" ", lines).replaceAll(" +", " ");
  }

  @Test
  void numbersMayBeNegativeEvenTheFirst() {
    assertThat(words(demo("-3", "-4", "--eps", "0"), "x / root"))
        .containsExactly("x", "/", "root", "-0.8485", "-1.1314");
  }

  @Test
  void aRowWhoseSquaresOverflowIsShownAsItIs() {
    List<String> lines = demo("1e200", "1e200");
    assertThat(words(lines, "squares")).containsExactly("squares", "Infinity", "Infinity");
    assertThat(words(lines, "RmsNorm.apply")).containsExactly("RmsNorm.apply", "1.0000", "1.0000");
    assertThat(lines).last().asString().contains("rescales such rows");
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "NaN", "Infinity"})
  void anEpsilonThatTheLibraryRefusesIsWrongUse(String epsilon) {
    CommandResult result = CommandResult.of("demo", "1", "--eps", epsilon);
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.err()).contains("epsilon").contains(epsilon).hasLineCount(1);
  }

  /** As Java, C and Python write them; a number that a double cannot hold is none of them. */
  @ParameterizedTest
  @ValueSource(strings = {"Infinity", "inf", "-inf", "+INF", "-Infinity"})
  void infinitiesAreNumbers(String infinity) {
    String shown = infinity.startsWith("-") ? "-Infinity" : "Infinity";
    assertThat(words(demo("1", infinity), "x 1")).containsExactly("x", "1.0000", shown);
    assertThat(words(demo("1", "nan"), "x 1")).containsExactly("x", "1.0000", "NaN");
  }

  @ParameterizedTest
  @ValueSource(strings = {"1e400", "-1e309"})
  void aNumberBeyondADoubleIsNoInfinity(String number) {
    String message = "'" + number + "' is beyond the range of a double";
    assertThat(CommandResult.of("demo", "1", number).err()).contains(message).hasLineCount(1);
    CommandResult gain = CommandResult.of("demo", "1", "--gain=" + number);
    assertThat(gain.err()).contains(message).hasLineCount(1);
    assertThat(gain.status()).isEqualTo(2);
  }

  @Test
  void aGainOfAnotherLengthIsWrongUse() {
    CommandResult result = CommandResult.of("demo", "1", "2", "--gain", "1,2,3");
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.err()).contains("--gain has 3 numbers, the row has 2");
    assertThat(CommandResult.of("demo", "1", "2", "--gain", "3").err())
        .contains("--gain has 1 number, the row has 2 numbers: give one for each");
    assertThat(CommandResult.of("demo", "1,2,3").err())
        .contains("'1,2,3' is neither", ": put spaces between numbers, as in 'rmsnorm demo 1 2 3'");
  }

  @Test
  void gainAndEpsilonNeedNumbers() {
    assertThat(CommandResult.of("demo", "--eps", "0").err()).contains("need numbers to work on");
  }

  private static List<String> demo(String... args) {
    String[] command = new String[args.length + 1];
    command[0] = "demo";
    System.arraycopy(args, 0, command, 1, args.length);
    CommandResult result = CommandResult.of(command);
    assertThat(result.err()).isEmpty();
    assertThat(result.status()).isZero();
    return result.outLines();
  }

  /** The words of the first line that, with single spaces, starts like this. */
  private static List<String> words(List<String> lines, String start) {
    return lines.stream()
        .map(line -> line.strip().replaceAll(" +", " "))
        .filter(line -> line.startsWith(start))
        .findFirst()
        .map(line -> Arrays.asList(line.split(" ")))
        .orElseThrow(() -> new AssertionError("no line starts with " + start));
  }
}
