package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.Commands;
import io.github.rmsnorm4j.cli.Rmsnorm;
import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** What modules say of the commands that they add. */
class OfferedCommandsTest {
  @Test
  void descriptionsAreThoseOfTheCommands() throws IOException {
    Map<String, String> described = new TreeMap<>();
    for (Path module : Shell.modules().toList()) {
      Path file = module.resolve("commands.properties");
      if (Files.exists(file)) {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
          properties.load(reader);
        }
        String modules = properties.remove("modules").toString();
        assertThat(modules).endsWith(Shell.CHECKOUT.relativize(module).toString());
        properties.forEach((name, text) -> described.put(name.toString(), text.toString()));
      }
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
}
