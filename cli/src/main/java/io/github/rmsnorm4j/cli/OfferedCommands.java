package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.measure.ModuleBuild;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * Commands of a checkout that its launcher builds when they are first asked for. Each module that
 * has some describes them in its file commands.properties, and keeps their help beside it.
 */
final class OfferedCommands {
  private OfferedCommands() {}

  /** Names the files, with spaces between: to look for them would make each start longer. */
  static final String LISTS = "rmsnorm.offered";

  /** Adds those that the command line has not, if a checkout's launcher started this. */
  static void add(CommandLine root) {
    String home = System.getProperty(ModuleBuild.HOME);
    String lists = System.getProperty(LISTS, "").strip();
    if (home == null || lists.isEmpty()) {
      return;
    }
    Map<String, CommandSpec> offered = new TreeMap<>();
    for (String list : lists.split("\\s+")) {
      Path file = Path.of(home, list);
      Properties descriptions = new Properties();
      try (Reader reader = Files.newBufferedReader(file)) {
        descriptions.load(reader);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      // The one key that is no command: what the launcher builds.
      descriptions.remove("modules");
      for (String name : descriptions.stringPropertyNames()) {
        Path help = file.resolveSibling("help").resolve(name + ".txt");
        offered.put(name, offered(name, descriptions.getProperty(name), help));
      }
    }
    offered.keySet().removeAll(root.getSubcommands().keySet());
    offered.forEach(root::addSubcommand);
  }

  private static CommandSpec offered(String name, String description, Path help) {
    Runnable missing =
        () -> {
          throw new WrongUseException("is not built yet: ./rmsnorm " + name + " builds it");
        };
    CommandSpec command = CommandSpec.wrapWithoutInspection(missing);
    // Whatever stands beside --help.
    command.addPositional(PositionalParamSpec.builder().arity("0..*").type(List.class).build());
    command.parser().unmatchedOptionsArePositionalParams(true);
    command.usageMessage().description(description + " Built when first used.");
    HelpText.replace(command, _ -> text(help));
    return command;
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
