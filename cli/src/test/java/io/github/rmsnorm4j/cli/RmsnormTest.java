package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.measure.ModuleBuild;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

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

  @ParameterizedTest
  @MethodSource("commands")
  void helpIsACommandToo(String command) {
    assertThat(CommandResult.of("help", command)).isEqualTo(CommandResult.of(command, "--help"));
  }

  @Test
  void helpAloneListsTheCommands() {
    assertThat(CommandResult.of("help")).isEqualTo(CommandResult.of("--help"));
    CommandResult unknown = CommandResult.of("help", "normlize");
    assertThat(unknown.status()).isEqualTo(2);
    assertThat(unknown.err()).contains("no command 'normlize'; did you mean normalize?");
  }

  /** Each module that has some describes them, and keeps their help. */
  @Test
  void theHelpNamesTheCommandsOfTheCheckout() throws IOException {
    System.setProperty(ModuleBuild.HOME, Shell.CHECKOUT.toString());
    System.setProperty(
        OfferedCommands.LISTS,
        "lab/bench/commands.properties\nspark/command/commands.properties studies/commands.properties");
    try {
      CommandResult help = CommandResult.of("--help");
      assertThat(help.out().replaceAll("\\s+", " "))
          .contains("bench Compare the speed", "loop. Built when first used. compare Measure")
          .contains("spark Normalize a column", "story Tell a story")
          .contains("train Train small Transformers");
      assertThat(help.outLines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
      String kept = Files.readString(Shell.CHECKOUT.resolve("studies/help/compare.txt"));
      assertThat(CommandResult.of("help", "compare")).isEqualTo(new CommandResult(0, kept, ""));
      assertThat(CommandResult.of("compare", "--help").out()).isEqualTo(kept);
      for (String[] words :
          new String[][] {
            {"compare", "x.parquet", "--help"},
            {"compare", "--like", "llama", "-h"},
            {"compare", "-n", "5", "y", "-h", "-x", "z"}
          }) {
        assertThat(CommandResult.of(words)).isEqualTo(new CommandResult(0, kept, ""));
      }
      assertThat(CommandResult.of("compare").err())
          .startsWith("rmsnorm compare: is not built yet: ./rmsnorm compare builds it")
          .hasLineCount(1);
    } finally {
      System.clearProperty(ModuleBuild.HOME);
      System.clearProperty(OfferedCommands.LISTS);
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

  /** Also where a prefix of it is an option, and where it is there. */
  @ParameterizedTest
  @ValueSource(strings = {"-d.npy", "-h.npy", "-V.npy", "-f.npy", "-x"})
  void anOptionThatIsNoneIsNamed(String name) {
    for (String command : List.of("show", "stats", "inspect", "normalize")) {
      CommandResult result = CommandResult.of(command, name);
      assertThat(result.status()).isEqualTo(2);
      assertThat(result.out()).isEmpty();
      assertThat(result.err())
          .startsWith("rmsnorm %s: there is no option '%s'".formatted(command, name))
          .hasLineCount(1);
    }
  }

  @Test
  void aFileThatIsNamedLikeAnOptionIsFound() throws IOException {
    Path file = Files.createTempFile(Path.of(""), "-f", ".npy");
    try {
      assertThat(CommandResult.of("show", file).err())
          .startsWith(
              "rmsnorm show: there is no option '%s'; the file is ./%1$s (".formatted(file));
      assertThat(CommandResult.of("show", "--", file).err())
          .isEqualTo("rmsnorm show: " + file + ": the file is empty\n");
    } finally {
      Files.delete(file);
    }
  }

  /** Whether the file is refused, not found or written. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "show NAME",
        "stats NAME",
        "inspect NAME",
        "fold NAME -o x",
        "check NAME NAME",
        "normalize NAME -o y.npy",
        "demo NAME",
        "NAME",
        "help NAME",
        "explain -o NAME",
        "doctor --json NAME",
        "gradient NAME --dy y.npy -o NAME"
      })
  void aControlCharacterIsPrintedTheSameEverywhere(String line) {
    String[] words = line.replace("NAME", "a\nb\u001b[2J\u202e").split(" ");
    CommandResult result = CommandResult.of(words);
    assertThat(result.status()).isPositive();
    assertThat(result.err()).hasLineCount(1);
    assertThat(result.err()).contains("a\\nb\\u{1b}[2J\\u{202e}");
  }
}
