package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is written does not depend on the language of the machine. */
@Isolated // A JVM has one default locale.
class LocaleTest {
  /** Conversions that write digits, a comma or a point as a locale has them; %s and %x do not. */
  private static final Pattern LOCALIZED =
      Pattern.compile("%(\\d+\\$)?[-+ 0,(#]*\\d*(\\.\\d+)?[deEfgG]");

  private static final Pattern LITERAL =
      Pattern.compile("\"\"\"(?s:.*?)\"\"\"|\"(?:[^\"\\\\\\n]|\\\\.)*\"");

  /** With its literals joined to one receiver, in brackets or without, or with a constant. */
  private static final Pattern FORMATTED =
      Pattern.compile("(?:([A-Z_]{2,})|((?:" + LITERAL + "|\\+|\\s)+)\\)?)\\s*\\.formatted\\(");

  private static final Pattern FORMAT =
      Pattern.compile("(?:String\\.format|printf)\\(\\s*((?:" + LITERAL + "|\\+|\\s|[A-Z_]{2,})+)");

  @Test
  void numbersAreFormattedWithALocaleOrAsText() throws IOException {
    List<String> found = new ArrayList<>();
    int formats = 0;
    for (Path source : sources()) {
      String text = Files.readString(source);
      for (Pattern call : List.of(FORMATTED, FORMAT)) {
        for (Matcher m = call.matcher(text); m.find(); formats++) {
          String format = constants(m.group(1) != null ? m.group(1) : m.group(2), text);
          if (LOCALIZED.matcher(format).find()) {
            found.add(Shell.CHECKOUT.relativize(source) + ": " + format.strip());
          }
        }
      }
    }
    assertThat(formats).isGreaterThan(300);
    assertThat(found)
        .describedAs("String.format(Locale.ROOT, ...), or %%s for a whole number")
        .isEmpty();
  }

  /** A format, with what the constants that it names are in this file. */
  private static String constants(String format, String text) {
    Matcher name = Pattern.compile("[A-Z_]{2,}").matcher(format);
    StringBuilder all = new StringBuilder(format);
    while (name.find()) {
      Matcher value = Pattern.compile("\\b" + name.group() + "\\s*=\\s*([^;]*)").matcher(text);
      if (value.find()) {
        all.append(' ').append(value.group(1));
      }
    }
    return all.toString();
  }

  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    try (Stream<Path> modules = Shell.modules()) {
      for (Path main : modules.map(m -> m.resolve("src/main/java")).toList()) {
        if (Files.isDirectory(main)) {
          try (Stream<Path> files = Files.walk(main)) {
            files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
          }
        }
      }
    }
    assertThat(sources).hasSizeGreaterThan(500);
    return sources;
  }

  /** Arabic digits; a decimal comma. */
  @ParameterizedTest
  @ValueSource(strings = {"ar-EG-u-nu-arab", "de-DE"})
  void aCommandSaysTheSameInEveryLanguage(String tag) {
    String root = demoIn(Locale.ROOT);
    assertThat(root).containsPattern("LLAMA +\\d+\n").contains("2.7386");
    assertThat(demoIn(Locale.forLanguageTag(tag))).isEqualTo(root);
  }

  private static String demoIn(Locale locale) {
    Locale before = Locale.getDefault();
    Locale.setDefault(locale);
    try {
      return CommandResult.of("demo").out();
    } finally {
      Locale.setDefault(before);
    }
  }
}
