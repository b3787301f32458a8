package io.github.rmsnorm4j.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Figures in the prose of README.md and docs that come from kept results. Behind such a figure
 * stands a comment of Markdown that names the file of results and what to take from it:
 *
 * <pre>{@code
 * 1.70<!-- figure amd-epyc-peers: LayerNorm float32 128 x 4096; one thread; rmsnorm4j / oneDNN -->
 * }</pre>
 *
 * <p>The figure can be made again from that. It keeps its number of decimals, and its sign if it
 * has one.
 */
public final class MarkedFigures {
  private static final Pattern MARKED =
      Pattern.compile("([+-]?)(\\d[\\d,]*)(\\.\\d+)?(<!-- figure ([^:>]+): ([^>]+?) -->)");

  private MarkedFigures() {}

  /** Where figures come from. */
  @FunctionalInterface
  public interface Source {
    /**
     * Computes a figure.
     *
     * @param results names a file of results
     * @param rule says what to take from it
     * @return the figure; empty if these results are not of this source
     * @throws IOException if the file cannot be read
     * @throws IllegalArgumentException if the file has nothing of the kind
     */
    OptionalDouble figure(String results, String rule) throws IOException;
  }

  /**
   * The pages that may have marked figures.
   *
   * @param checkout its top folder
   * @return README.md and the Markdown files in docs and docs/background, those that exist
   * @throws IOException if docs cannot be read
   */
  public static List<Path> pages(Path checkout) throws IOException {
    List<Path> pages = new ArrayList<>();
    if (Files.exists(checkout.resolve("README.md"))) {
      pages.add(checkout.resolve("README.md"));
    }
    for (Path folder : List.of(Path.of("docs"), Path.of("docs", "background"))) {
      if (Files.isDirectory(checkout.resolve(folder))) {
        try (Stream<Path> files = Files.list(checkout.resolve(folder))) {
          files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(pages::add);
        }
      }
    }
    return pages;
  }

  /**
   * A page with the figures of a source as they must be.
   *
   * @param page Markdown
   * @param source of figures
   * @return the page; figures of other sources are as they were
   * @throws IOException if the source cannot be read
   * @throws IllegalArgumentException if the source does not have a figure; the message has the mark
   */
  public static String with(String page, Source source) throws IOException {
    StringBuilder made = new StringBuilder();
    Matcher marked = MARKED.matcher(page);
    int from = 0;
    while (marked.find()) {
      made.append(page, from, marked.start()).append(figure(marked.toMatchResult(), source));
      from = marked.end();
    }
    return made.append(page, from, page.length()).toString();
  }

  private static String figure(MatchResult marked, Source source) throws IOException {
    OptionalDouble value;
    try {
      value = source.figure(marked.group(5), marked.group(6));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(marked.group(4) + ": " + e.getMessage(), e);
    }
    if (value.isEmpty()) {
      return marked.group();
    }
    String sign = marked.group(1).isEmpty() ? "" : "+";
    int decimals = marked.group(3) == null ? 0 : marked.group(3).length() - 1;
    return String.format(Locale.ROOT, "%" + sign + ",." + decimals + "f", value.getAsDouble())
        + marked.group(4);
  }
}
