package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.Commands;
import io.github.rmsnorm4j.cli.Rmsnorm;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Help;

/** What modules say of the commands that they add. */
class OfferedCommandsTest {
  @Test
  void descriptionsAreThoseOfTheCommands() throws IOException {
    Map<String, String> described = new TreeMap<>();
    for (Path module : Shell.modules().toList()) {
      described.putAll(described(module));
    }
    Map<String, String> added =
        ServiceLoader.load(Commands.class).stream()
            .flatMap(module -> module.get().commands().stream())
            .map(CommandLine::new)
            .collect(
                Collectors.toMap(
                    CommandLine::getCommandName,
                    command -> command.getCommandSpec().usageMessage().description()[0]));
    assertThat(described).isEqualTo(added);
    assertThat(Rmsnorm.commandLine().getSubcommands())
        .containsKeys(added.keySet().toArray(String[]::new));
  }

  private static Map<String, String> described(Path module) throws IOException {
    Path file = module.resolve("commands.properties");
    if (!Files.exists(file)) {
      return Map.of();
    }
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    }
    String modules = properties.remove("modules").toString();
    assertThat(modules).endsWith(Shell.CHECKOUT.relativize(module).toString());
    return properties.stringPropertyNames().stream()
        .collect(Collectors.toMap(name -> name, properties::getProperty));
  }

  /** What the launcher's jar shows until the module is built; {@code -Drmsnorm4j.help.write}. */
  @Test
  void keptHelpsAreThoseOfTheCommands() throws IOException {
    int compared = 0;
    for (Path module : Shell.modules().toList()) {
      for (String name : described(module).keySet()) {
        String help = CommandResult.of(name, "--help").out();
        Path kept = module.resolve("help").resolve(name + ".txt");
        if (Boolean.getBoolean("rmsnorm4j.help.write")) {
          Files.createDirectories(kept.getParent());
          Files.writeString(kept, help);
        }
        assertThat(kept).hasContent(help);
        compared++;
      }
    }
    assertThat(compared).isGreaterThan(4);
  }

  static Stream<String> commands() {
    return Stream.concat(Stream.of(""), Rmsnorm.commandLine().getSubcommands().keySet().stream());
  }

  /** Nothing is torn, and nothing leaves its column, whatever the width. */
  @ParameterizedTest
  @MethodSource("commands")
  void helpsBreakAtSpaces(String name) {
    CommandLine root = Rmsnorm.commandLine();
    CommandLine command = name.isEmpty() ? root : root.getSubcommands().get(name);
    List<String> unbroken = help(command, 4000);
    String words = String.join(" ", unbroken).strip().replaceAll("\\s+", " ");
    for (int width = 60; width <= 120; width++) {
      List<String> lines = help(command, width);
      assertThat(String.join(" ", lines).strip().replaceAll("\\s+", " ")).isEqualTo(words);
      int most = width;
      assertThat(lines)
          .allSatisfy(
              line -> {
                boolean oneWord = line.strip().indexOf(' ') < 0 || line.matches(" *\\S+ {2,}\\S+");
                assertThat(line.length()).isLessThanOrEqualTo(oneWord ? 120 : most);
              });
      // What begins in the first column begins there unbroken, or is prose.
      Set<String> beginnings =
          unbroken.stream()
              .filter(line -> !line.startsWith(" "))
              .flatMap(line -> Stream.of(line.split(" ")))
              .collect(Collectors.toSet());
      assertThat(lines)
          .filteredOn(line -> !line.isEmpty() && !line.startsWith(" "))
          .allMatch(line -> beginnings.contains(line.split(" ")[0]));
    }
  }

  private static List<String> help(CommandLine command, int width) {
    command.setUsageHelpWidth(width);
    return command.getUsageMessage(Help.Ansi.OFF).lines().toList();
  }
}
