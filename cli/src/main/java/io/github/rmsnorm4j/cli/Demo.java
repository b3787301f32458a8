package io.github.rmsnorm4j.cli;

import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
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
final class Demo implements Runnable {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "NUMBER", description = "The row to normalize.")
  private List<String> numbers;

  @Option(
      names = "--gain",
      paramLabel = "G",
      split = ",",
      description = "One gain per number, separated by commas (default: none).")
  private double[] gain;

  @Option(
      names = "--eps",
      paramLabel = "E",
      description = "What is added to the mean square before the root (default: 1e-6).")
  private Double epsilon;

  @Override
  public void run() {
    List<String> lines = numbers == null ? tour() : steps();
    lines.forEach(spec.commandLine().getOut()::println);
  }

  private List<String> tour() {
    if (gain != null || epsilon != null) {
      throw wrongUse("--gain and --eps need numbers to work on, as in 'rmsnorm demo 1 2 3 4'");
    }
    return DemoTour.lines();
  }

  private List<String> steps() {
    double[] row = numbers.stream().mapToDouble(this::number).toArray();
    if (gain != null && gain.length != row.length) {
      throw wrongUse(
          "--gain has %d numbers, the row has %d: give one for each"
              .formatted(gain.length, row.length));
    }
    try {
      return DemoSteps.lines(row, gain, epsilon == null ? 1e-6 : epsilon);
    } catch (IllegalArgumentException e) {
      throw wrongUse(e.getMessage());
    }
  }

  private double number(String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw wrongUse("'" + text + "' is neither a number nor an option of this command");
    }
  }

  private ParameterException wrongUse(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
