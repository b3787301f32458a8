package io.github.rmsnorm4j.cli;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.rmsnorm4j.report.Document;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The page of {@link Explain}: its markup, its scripts and its texts in every language. */
final class ExplainPage {
  /** The page's languages, by the names that HTML has for them. */
  enum Language {
    en,
    ko,
    zh,
    ja
  }

  /** In the order in which they build on each other. */
  static final List<String> SCRIPTS =
      List.of(
          "arithmetic.js",
          "page.js",
          "address.js",
          "charts.js",
          "sections.js",
          "formats.js",
          "tensors.js",
          "main.js");

  private ExplainPage() {}

  /**
   * The page; the reader can choose each language.
   *
   * @param first the language that is seen first, or null for that of the reader's browser
   */
  static String html(Language first) {
    String page = resource("page.html");
    if (first == null) {
      first = Language.en;
    } else {
      page = page.replace("<select id=\"language\">", "<select id=\"language\" data-own>");
    }
    String main = page + Document.data("texts", allTexts()) + "\n";
    List<String> scripts = SCRIPTS.stream().map(ExplainPage::resource).toList();
    String title = texts(first).get("title");
    return Document.html(first.name(), title, resource("explain.css"), main, scripts);
  }

  /** The texts of a language by their keys. */
  static Map<String, String> texts(Language language) {
    try {
      return new JsonMapper()
          .readValue(resource(file(language)), new TypeReference<Map<String, String>>() {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String allTexts() {
    return Arrays.stream(Language.values())
        .map(language -> "\"" + language + "\": " + resource(file(language)).strip())
        .collect(Collectors.joining(",\n", "{\n", "\n}"));
  }

  private static String file(Language language) {
    return language + ".json";
  }

  /** A file of the page, as text with the line ends of a browser. */
  static String resource(String name) {
    try (InputStream in = ExplainPage.class.getResourceAsStream("explain/" + name)) {
      if (in == null) {
        throw new IllegalStateException("the class path does not hold explain/" + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
