package io.github.rmsnorm4j.pages;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Follows every link of a folder of HTML to the file and the anchor that it names. */
final class LinkCheck {
  private static final Pattern SCRIPT = Pattern.compile("(?is)<script\\b.*?</script>|<!--.*?-->");
  private static final Pattern TAG = Pattern.compile("<([a-zA-Z][a-zA-Z0-9]*)\\b([^>]*)>");
  private static final Pattern ATTRIBUTE =
      Pattern.compile("\\b(href|src|srcset|id|name)=\"([^\"]*)\"");
  private static final Pattern SCHEME = Pattern.compile("(?i)[a-z][a-z0-9+.-]*:.*");

  private final Path folder;
  private final Map<Path, Set<String>> anchors = new HashMap<>();
  private final List<String> broken = new ArrayList<>();
  private int followed;

  /**
   * @param folder the folder
   */
  LinkCheck(Path folder) {
    this.folder = folder;
  }

  /** A link. {@code loaded} says that the browser fetches it by itself, as a picture. */
  private record Found(Path page, String link, boolean loaded) {}

  /** Follows all links; afterwards {@link #broken} names those that lead nowhere. */
  void run() throws IOException {
    List<Found> links = new ArrayList<>();
    for (Path page : pages()) {
      links.addAll(read(page));
    }
    links.forEach(this::follow);
  }

  /** The files of HTML, in order. */
  List<Path> pages() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(".html")).sorted().toList();
    }
  }

  /** Links that lead nowhere, each with its page. */
  List<String> broken() {
    return broken;
  }

  /** How many links were followed within the folder. */
  int followed() {
    return followed;
  }

  private List<Found> read(Path page) throws IOException {
    List<Found> links = new ArrayList<>();
    // The top of a page.
    Set<String> ids = new HashSet<>(Set.of(""));
    String html = SCRIPT.matcher(Files.readString(page)).replaceAll("");
    Matcher tag = TAG.matcher(html);
    while (tag.find()) {
      boolean anchor = tag.group(1).equalsIgnoreCase("a");
      Matcher attribute = ATTRIBUTE.matcher(tag.group(2));
      while (attribute.find()) {
        String value = Page.unescaped(attribute.group(2));
        switch (attribute.group(1)) {
          case "id" -> ids.add(value);
          case "name" -> ids.addAll(anchor ? Set.of(value) : Set.of());
          default -> links.add(new Found(page, value, !anchor));
        }
      }
    }
    anchors.put(page, ids);
    return links;
  }

  private void follow(Found found) {
    String link = found.link();
    if (SCHEME.matcher(link).matches() || link.startsWith("//")) {
      boolean allowed = found.loaded() ? link.startsWith("data:") : link.startsWith("https:");
      require(allowed, found);
      return;
    }
    followed++;
    int hash = link.indexOf('#');
    String path = decoded(hash < 0 ? link : link.substring(0, hash));
    Path target = path.isEmpty() ? found.page() : found.page().resolveSibling(path).normalize();
    require(target.startsWith(folder) && Files.isRegularFile(target), found);
    if (hash >= 0 && anchors.containsKey(target)) {
      require(anchors.get(target).contains(decoded(link.substring(hash + 1))), found);
    }
  }

  private static String decoded(String part) {
    return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private void require(boolean right, Found found) {
    if (!right) {
      broken.add(folder.relativize(found.page()) + ": " + found.link());
    }
  }
}
