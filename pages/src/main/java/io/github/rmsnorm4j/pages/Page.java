package io.github.rmsnorm4j.pages;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * A page of the site.
 *
 * @param address its file in the site
 * @param title its heading, as text
 * @param description what it is about in a sentence or two, as text
 * @param body its content, as HTML
 * @param headings its headings of the second and third level, in order
 * @param pictures the files of the checkout that it shows
 */
record Page(
    Path address,
    String title,
    String description,
    String body,
    List<Heading> headings,
    Set<Path> pictures) {

  /**
   * A heading.
   *
   * @param level 2 or 3
   * @param id what a link has behind its {@code #}
   * @param html its text, as HTML without links
   */
  record Heading(int level, String id, String html) {}

  /** A page that shows no picture and needs no table of contents. */
  static Page of(Path address, String title, String description, String body) {
    return new Page(address, title, description, body, List.of(), Set.of());
  }

  /** A text as HTML, also within an attribute. */
  static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  /** The text that was {@link #escaped}. */
  static String unescaped(String html) {
    return html.replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&gt;", ">")
        .replace("&lt;", "<")
        .replace("&amp;", "&");
  }
}
