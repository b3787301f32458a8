package io.github.rmsnorm4j.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** The help of commands. Lines break at spaces only, so that no name such as .npy is torn. */
final class HelpText {
  /** The one section that a help is made of. */
  private static final String WHOLE = "whole";

  /** No text is as wide, so picocli breaks none. */
  private static final int ENDLESS = 1 << 12;

  private static final Pattern COLOR = Pattern.compile("\u001b\\[[0-9;]*m");
  private static final Pattern WORD = Pattern.compile(" *[^ ]+");

  /** What stands before the last column of a table, or before a text. */
  private static final Pattern BEFORE_TEXT = Pattern.compile(" *(\\S.*? {2,})?(?=\\S)");

  private HelpText() {}

  /** Prints the help of a command to one of the two standard streams. */
  static void print(CommandLine command, PrintWriter out, int stream) {
    command.usage(out, Help.defaultColorScheme(Terminal.colors(stream)));
  }

  /** Lets the help of a command break at spaces. */
  static void breakAtSpaces(CommandLine command) {
    List<String> keys = command.getHelpSectionKeys();
    Map<String, IHelpSectionRenderer> sections = Map.copyOf(command.getHelpSectionMap());
    replace(
        command.getCommandSpec(),
        help -> {
          UsageMessageSpec message = help.commandSpec().usageMessage();
          int width = message.width();
          message.width(ENDLESS);
          try {
            int usage = "Usage: ".length() + help.commandSpec().qualifiedName().length() + 1;
            return keys.stream()
                .filter(sections::containsKey)
                .map(key -> sections.get(key).render(help))
                .collect(Collectors.joining())
                .lines()
                .map(
                    line -> wrapped(line, line.startsWith("Usage: ") ? usage : indent(line), width))
                .collect(Collectors.joining());
          } finally {
            message.width(width);
          }
        });
  }

  /** Replaces the help of a command. */
  static void replace(CommandSpec command, IHelpSectionRenderer whole) {
    command.usageMessage().sectionMap(Map.of(WHOLE, whole));
    command.usageMessage().sectionKeys(List.of(WHOLE));
  }

  /** How far further lines of a line are indented: two more than its text, or not at all. */
  private static int indent(String line) {
    Matcher before = BEFORE_TEXT.matcher(COLOR.matcher(line).replaceAll(""));
    return before.lookingAt() && before.end() > 0 ? before.end() + 2 : 0;
  }

  private static String wrapped(String line, int indent, int width) {
    StringBuilder lines = new StringBuilder();
    int column = 0;
    Matcher words = WORD.matcher(line);
    while (words.find()) {
      String word = words.group();
      int length = COLOR.matcher(word).replaceAll("").length();
      if (column > indent && column + length > width) {
        lines.append("%n".formatted()).append(" ".repeat(indent));
        column = indent;
        length -= word.length() - word.stripLeading().length();
        word = word.stripLeading();
      }
      lines.append(word);
      column += length;
    }
    return lines.append("%n".formatted()).toString();
  }
}
