package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.measure.ModuleBuild;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

@Isolated // It sets a property that the whole JVM has.
class RmsnormTest {
  static Stream<String> commands() {
    return Rmsnorm.commandLine().getSubcommands().keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("commands")
  void everyCommandHasHelpWithAnExample(String command) {
    CommandResult help = CommandResult.of(command, "--help");
    assertThat(help.status()).isZero();
    assertThat(help.err()).isEmpty();
    assertThat(help.out()).startsWith("Usage: rmsnorm " + command).contains("Example");
    assertThat(help.outLines())
        .filteredOn(line -> line.contains("rmsnorm " + command))
        .hasSizeGreaterThan(1);
    assertThat(help.outLines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
    List<String> examples =
        help.outLines().stream().dropWhile(line -> !line.startsWith("Example")).skip(1).toList();
    assertThat(examples)
        .as("whole")
        .isNotEmpty()
        .allMatch(line -> line.matches(" {2}.*rmsnorm .*"));
  }

  @Test
  void theHelpNamesEveryCommand() {
    assertThat(CommandResult.of("--help").out()).contains(commands().toList());
  }

  /** Each module that has some describes them; what it says is what they say of themselves. */
  @Test
  void theHelpNamesTheCommandsOfTheCheckout() {
    System.setProperty(ModuleBuild.HOME, Shell.CHECKOUT.toString());
    try {
      CommandResult help = CommandResult.of("--help");
      assertThat(help.out().replaceAll("\\s+", " "))
          .contains("More commands, each built when it is first used: bench Compare the speed")
          .contains("compare Measure LayerNorm", "spark Normalize a column", "story Tell a story")
          .contains("train Train small Transformers");
      assertThat(help.outLines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
    } finally {
      System.clearProperty(ModuleBuild.HOME);
    }
  }

  @Test
  void theVersionIsTheBuilds() {
    assertThat(CommandResult.of("--version").out())
        .matches("rmsnorm \\d+\\.\\d+\\.\\d+\\S* \\(Java 2\\d\\S*\\)\\R");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "normlize x.npy|there is no command 'normlize'; did you mean normalize?",
        "quux --help|there is no command 'quux' (rmsnorm --help tells more)",
        "nosuch --help|there is no command 'nosuch' (rmsnorm",
        "normlize --help|there is no command 'normlize'; did you mean normalize?",
        "normalize x.npy -o y.npy --gain-ofset 1|there is no option '--gain-ofset'; did you mean --gain or --gain-offset or --gate?",
        "doctor now|'now' is one argument too many"
      })
  void whatIsUnknownIsNamedWithWhatIsSpelledMuchLikeIt(String line, String message) {
    CommandResult result = CommandResult.of(line.split(" "));
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).contains(message).hasLineCount(1);
  }

  @Test
  void withoutACommandTheHelpGoesToStandardError() {
    CommandResult result = CommandResult.of();
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).startsWith("Usage: rmsnorm");
  }

  static Stream<List<String>> wrongUses() {
    return Stream.of(
            "nosuchcommand",
            "--nosuchoption",
            "demo x",
            "demo 1 --eps",
            "demo 1 --eps x",
            "doctor x")
        .map(line -> Arrays.asList(line.split(" ")));
  }

  @ParameterizedTest
  @MethodSource("wrongUses")
  void wrongUseIsOneLineOnStandardErrorAndStatusTwo(List<String> args) {
    CommandResult result = CommandResult.of(args.toArray(String[]::new));
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.out()).isEmpty();
    assertThat(result.err().lines())
        .singleElement()
        .asString()
        .startsWith("rmsnorm")
        .contains("--help tells more");
  }
}
