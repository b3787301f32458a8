package io.github.rmsnorm4j.cli;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.TextTable;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * Commands of a checkout that its launcher builds when they are first asked for. Each module that
 * has some describes them in its file commands.properties; the help lists them.
 */
final class OfferedCommands {
  private static final String SECTION = "offered";

  /** How wide the column of names is. */
  private static final int NAMES = 12;

  private static final String DESCRIPTIONS = "commands.properties";

  /** The one key that is no command: what the launcher builds. */
  private static final String MODULES = "modules";

  private OfferedCommands() {}

  /**
   * Adds to the help those that the command line has not.
   *
   * @param home the top folder of the checkout; null if this was not started from one
   */
  static void list(CommandLine root, String home) {
    if (home == null) {
      return;
    }
    List<String> sections = new ArrayList<>(root.getHelpSectionKeys());
    sections.add(sections.indexOf(UsageMessageSpec.SECTION_KEY_COMMAND_LIST) + 1, SECTION);
    root.setHelpSectionKeys(sections);
    root.getHelpSectionMap()
        .put(SECTION, help -> text(help, Path.of(home), root.getSubcommands().keySet()));
  }

  private static String text(CommandLine.Help help, Path home, Set<String> known) {
    try {
      Map<String, String> offered = descriptions(home);
      offered.keySet().removeAll(known);
      return offered.isEmpty()
          ? ""
          : "More commands, each built when it is first used:%n".formatted() + table(help, offered);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Descriptions by name. */
  static Map<String, String> descriptions(Path home) throws IOException {
    Map<String, String> all = new TreeMap<>();
    for (Path file : files(home)) {
      Properties descriptions = new Properties();
      try (Reader reader = Files.newBufferedReader(file)) {
        descriptions.load(reader);
      }
      descriptions.forEach((name, text) -> all.put(name.toString(), text.toString()));
    }
    all.remove(MODULES);
    return all;
  }

  /** In the columns of the list of commands. */
  private static String table(CommandLine.Help help, Map<String, String> offered) {
    int width = help.commandSpec().usageMessage().width();
    TextTable table =
        TextTable.forColumns(
            help.colorScheme(),
            new Column(NAMES, 2, Column.Overflow.SPAN),
            new Column(width - NAMES, 2, Column.Overflow.WRAP));
    offered.forEach(table::addRowValues);
    return table.toString();
  }

  /** In folders of the checkout, and one level below them. */
  private static List<Path> files(Path home) throws IOException {
    List<Path> folders = folders(home);
    for (Path folder : List.copyOf(folders)) {
      folders.addAll(folders(folder));
    }
    return folders.stream().map(f -> f.resolve(DESCRIPTIONS)).filter(Files::isRegularFile).toList();
  }

  private static List<Path> folders(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.filter(Files::isDirectory).collect(Collectors.toCollection(ArrayList::new));
    }
  }
}
