package io.github.rmsnorm4j.pages;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Links of the checkout's files become links of the site's. A link to a page leads to its HTML, a
 * link to another file to the project's home, if that is known.
 */
final class Links {
  /** The explainer, which becomes the front page. */
  static final Path EXPLAINER = Path.of("docs/explain.html");

  private static final Pattern SCHEME = Pattern.compile("[a-zA-Z][a-zA-Z0-9+.-]*:.*");

  private final Path checkout;
  private final Set<Path> pages;
  private final Optional<String> home;

  /**
   * @param checkout the folder of the checkout
   * @param pages the files that become pages, relative to the checkout
   * @param home where the sources are, as a URL without a slash at its end
   */
  Links(Path checkout, Set<Path> pages, Optional<String> home) {
    this.checkout = checkout;
    this.pages = Set.copyOf(pages);
    this.home = home;
  }

  /** The file of the site that a page of the checkout becomes. */
  static Path address(Path page) {
    if (page.equals(EXPLAINER)) {
      return Path.of("index.html");
    }
    return page.resolveSibling(page.getFileName().toString().replaceFirst("\\.md$", ".html"));
  }

  /** A link from one file of the site to another. */
  static String between(Path from, Path to) {
    Path folder = from.getParent();
    Path link = folder == null ? to : folder.relativize(to);
    return link.toString().replace('\\', '/');
  }

  /**
   * What a link of a page becomes.
   *
   * @param page the page, relative to the checkout
   * @param destination what its link has: a URL, a heading of the page, or a file beside it
   * @return the link of the site, or nothing if the file is only in the sources, whose home is
   *     unknown
   * @throws IllegalArgumentException if there is no such file
   */
  Optional<String> rewritten(Path page, String destination) {
    if (destination.startsWith("#") || SCHEME.matcher(destination).matches()) {
      return Optional.of(destination);
    }
    int hash = destination.indexOf('#');
    String anchor = hash < 0 ? "" : destination.substring(hash);
    Path target = file(page, hash < 0 ? destination : destination.substring(0, hash));
    if (pages.contains(target)) {
      return Optional.of(between(address(page), address(target)) + anchor);
    }
    String kind = Files.isDirectory(checkout.resolve(target)) ? "tree" : "blob";
    String path = target.toString().replace('\\', '/');
    return home.map(url -> "%s/%s/HEAD/%s%s".formatted(url, kind, path, anchor));
  }

  /**
   * The file of the checkout that a page names.
   *
   * @param page the page, relative to the checkout
   * @param name the file, relative to the page's folder
   * @return the file, relative to the checkout
   * @throws IllegalArgumentException if there is no such file
   */
  Path file(Path page, String name) {
    Path file = page.resolveSibling(name).normalize();
    if (file.startsWith("..") || !Files.exists(checkout.resolve(file))) {
      throw new IllegalArgumentException(
          "%s links to '%s', which is no file of the checkout".formatted(page, name));
    }
    return file;
  }
}
