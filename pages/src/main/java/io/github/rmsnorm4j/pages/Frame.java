package io.github.rmsnorm4j.pages;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Optional;

/** What is around the content of every page: its head, and a bar that leads to the others. */
final class Frame {
  /** The style of the site, a file at its top. */
  static final Path STYLE = Path.of("site.css");

  /** The page that lists all others. */
  static final Path CONTENTS = Path.of("docs/index.html");

  /** The page that lists the modules with Javadoc. */
  static final Path API = Path.of("api/index.html");

  private static final String NAME = "rmsnorm4j";

  /** Where the contents are not beside the text but below it. */
  private static final String JUMP =
      "<p class=\"jump\"><a href=\"#on-this-page\">On this page</a></p>\n";

  private static final String BAR_STYLE = resource("bar.css");

  private final Optional<String> home;

  /**
   * @param home where the sources are, as a URL
   */
  Frame(Optional<String> home) {
    this.home = home;
  }

  /** The text of {@link #STYLE}. */
  static String style() {
    return BAR_STYLE + resource("text.css");
  }

  /** A page as a file of HTML. */
  String html(Page page) {
    String style = Links.between(page.address(), STYLE);
    return document(page, bar(page), "<link rel=\"stylesheet\" href=\"%s\">".formatted(style));
  }

  /**
   * The page that a host shows in place of one that is missing. Its address may be in any folder,
   * so its style is in it, and its one link leads to a page that every folder has.
   */
  String notFound() {
    String title = "There is no such page";
    String body =
        """
        <h1>%s</h1>
        <p>This site has no page of that name. The page may be in <a href="index.html">the list of this folder</a>.
        If this folder does not exist either, remove the last part of the address.</p>
        """
            .formatted(title);
    Page page = Page.of(Path.of("404.html"), title, title, body);
    return document(page, "", "<style>" + style() + "</style>");
  }

  /**
   * A page that is a document of its own, with the bar. The policy of such a document allows its
   * own style only, so the bar's is added to it.
   *
   * @param page the page, whose body is the document
   * @throws IllegalArgumentException if it is not a document as the module report writes them
   */
  String around(Page page) {
    String html = page.body();
    html = inserted(page, html, "style-src ", digest(BAR_STYLE) + " ");
    html = inserted(page, html, "</title>\n", description(page) + "\n");
    html = inserted(page, html, "</style>\n", "<style>" + BAR_STYLE + "</style>\n");
    return inserted(page, html, "<body>\n", bar(page));
  }

  private static String inserted(Page page, String html, String before, String text) {
    int end = html.indexOf(before) + before.length();
    if (end < before.length()) {
      throw new IllegalArgumentException(
          "%s has no '%s', as every report has".formatted(page.address(), before.strip()));
    }
    return html.substring(0, end) + text + html.substring(end);
  }

  private String document(Page page, String bar, String style) {
    String title = page.title().equals(NAME) ? NAME : page.title() + " - " + NAME;
    String contents = contents(page);
    return """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>%s</title>
    %s
    <link rel="icon" href="data:,">
    %s
    </head>
    <body>
    %s<div class="page">
    <main>
    %s%s</main>
    %s</div>
    </body>
    </html>
    """
        .formatted(
            Page.escaped(title),
            description(page),
            style,
            bar,
            contents.isEmpty() ? "" : JUMP,
            page.body(),
            contents);
  }

  private static String description(Page page) {
    return "<meta name=\"description\" content=\"%s\">".formatted(Page.escaped(page.description()));
  }

  private String bar(Page page) {
    StringBuilder bar = new StringBuilder("<nav class=\"bar\" aria-label=\"Site\">\n");
    entry(bar, page, Path.of("index.html"), NAME);
    entry(bar, page, Path.of("README.html"), "Read me");
    entry(bar, page, CONTENTS, "Pages");
    entry(bar, page, API, "API");
    home.ifPresent(
        url -> bar.append("<a href=\"").append(Page.escaped(url)).append("\">Sources</a>\n"));
    return bar.append("</nav>\n").toString();
  }

  private static void entry(StringBuilder bar, Page page, Path to, String text) {
    String current = page.address().equals(to) ? " aria-current=\"page\"" : "";
    String link = Links.between(page.address(), to);
    bar.append("<a href=\"%s\"%s>%s</a>\n".formatted(link, current, text));
  }

  /** The table of contents, which a page with one section does not need. */
  private static String contents(Page page) {
    if (page.headings().size() < 2) {
      return "";
    }
    StringBuilder list = new StringBuilder("<nav class=\"contents\" id=\"on-this-page\">\n");
    list.append("<p>On this page</p>\n<ul>\n");
    page.headings()
        .forEach(
            heading ->
                list.append(
                    "<li class=\"level-%s\"><a href=\"#%s\">%s</a></li>\n"
                        .formatted(heading.level(), heading.id(), heading.html())));
    return list.append("</ul>\n</nav>\n").toString();
  }

  /** As a Content-Security-Policy names the style that it allows. */
  private static String digest(String style) {
    try {
      byte[] bytes = style.getBytes(StandardCharsets.UTF_8);
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every Java has it.
    }
  }

  private static String resource(String name) {
    try (InputStream in = Frame.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("the class path does not hold " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
