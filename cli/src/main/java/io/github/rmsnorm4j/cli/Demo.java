package io.github.rmsnorm4j.cli;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rmsnorm demo}: what the two norms do, on a known example or on the reader's numbers. */
@Command(
    name = "demo",
    description = "Show what the two norms do, or each step of RMSNorm on your numbers.",
    footer = {
      "",
      "Examples:",
      "  rmsnorm demo",
      "  rmsnorm demo 1 2 3 4",
      "  rmsnorm demo 1 2 3 4 --gain 1,1,2,1 --eps 1e-5"
    })
final class Demo implements Callable<Integer> {
  private static final Pattern INFINITY = Pattern.compile("(?i)[+-]?inf(inity)?");

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "NUMBER", description = "The row to normalize.")
  private List<String> numbers;

  @Option(
      names = "--gain",
      paramLabel = "G",
      split = ",",
      description = "One factor for each number, separated by commas (default: none).")
  private List<String> gains;

  @Option(
      names = "--eps",
      paramLabel = "E",
      description = "Epsilon, which is added to the mean square before the root (default: 1e-6).")
  private Double epsilon;

  @Override
  public Integer call() throws IOException {
    List<String> lines = numbers == null ? tour() : steps();
    lines.forEach(spec.commandLine().getOut()::println);
    return ExitCode.OK;
  }

  private List<String> tour() {
    if (gains != null || epsilon != null) {
      throw new WrongUseException(
          "--gain and --eps need numbers to work on, as in 'rmsnorm demo 1 2 3 4'");
    }
    return DemoTour.lines();
  }

  private List<String> steps() throws IOException {
    double[] row = numbers.stream().mapToDouble(this::number).toArray();
    double[] gain = gains == null ? null : gains.stream().mapToDouble(this::number).toArray();
    if (gain != null && gain.length != row.length) {
      throw new WrongUseException(
          "--gain has %s, the row has %s: give one for each"
              .formatted(count(gain.length), count(row.length)));
    }
    return WrongUseException.checked(
        () -> DemoSteps.lines(row, gain, epsilon == null ? 1e-6 : epsilon));
  }

  private static String count(int numbers) {
    return numbers + (numbers == 1 ? " number" : " numbers");
  }

  /** A number as Java, C and Python write it; one that a double cannot hold is refused. */
  private double number(String text) {
    if (INFINITY.matcher(text).matches()) {
      return text.startsWith("-") ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
    }
    if (text.equalsIgnoreCase("nan")) {
      return Double.NaN;
    }
    double number;
    try {
      number = Double.parseDouble(text);
    } catch (NumberFormatException e) {
      String hint =
          text.contains(",") ? ": put spaces between numbers, as in 'rmsnorm demo 1 2 3'" : "";
      throw new WrongUseException(
          "'" + text + "' is neither a number nor an option of this command" + hint);
    }
    if (Double.isInfinite(number)) {
      throw new WrongUseException(
          "'%s' is beyond the range of a double, which ends at about 1.8e308".formatted(text));
    }
    return number;
  }
}
