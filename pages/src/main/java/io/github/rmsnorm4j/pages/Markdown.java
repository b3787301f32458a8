package io.github.rmsnorm4j.pages;

import io.github.rmsnorm4j.pages.Page.Heading;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.ext.heading.anchor.HeadingAnchorExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.HtmlInline;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Paragraph;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;

/**
 * Markdown, with tables, as HTML. Headings have the anchors that GitHub gives them. HTML in a page
 * is kept: the pages are the project's own.
 */
final class Markdown {
  private static final List<Extension> EXTENSIONS =
      List.of(TablesExtension.create(), HeadingAnchorExtension.create());
  private static final Parser PARSER = Parser.builder().extensions(EXTENSIONS).build();
  private static final HtmlRenderer HTML = HtmlRenderer.builder().extensions(EXTENSIONS).build();

  private static final Pattern PICTURE = Pattern.compile("\\b(?:src|srcset)=\"([^\"]*)\"");
  private static final Pattern HEADING =
      Pattern.compile("(?s)<h([23]) id=\"([^\"]*)\">(.*?)</h\\1>");
  private static final Pattern LINK_TAG = Pattern.compile("</?a\\b[^>]*>");

  /** As much as a search engine shows. */
  private static final int DESCRIPTION = 160;

  private Markdown() {}

  /**
   * A page of the site from one of the checkout.
   *
   * @param file the page, relative to the checkout
   * @param markdown its text
   * @param links where its links lead
   * @throws IllegalArgumentException if the page has no heading of the first level, or links to a
   *     file that is not there
   */
  static Page page(Path file, String markdown, Links links) {
    Node document = PARSER.parse(markdown);
    String title =
        first(document, org.commonmark.node.Heading.class)
            .filter(heading -> heading.getLevel() == 1)
            .map(Markdown::text)
            .orElseThrow(
                () -> new IllegalArgumentException(file + " does not begin with a heading '# …'"));
    String description =
        first(document, Paragraph.class).map(node -> shortened(text(node))).orElse(title);
    Set<Path> pictures = new TreeSet<>();
    document.accept(new Rewriting(file, links, pictures));
    String body =
        HTML.render(document)
            // A wide table scrolls in a box of its own, also with the keys.
            .replace("<table>", "<div class=\"table\" tabindex=\"0\"><table>")
            .replace("</table>", "</table></div>");
    return new Page(Links.address(file), title, description, body, headings(body), pictures);
  }

  private static <T extends Node> Optional<T> first(Node document, Class<T> type) {
    for (Node node = document.getFirstChild(); node != null; node = node.getNext()) {
      if (type.isInstance(node)) {
        return Optional.of(type.cast(node));
      }
    }
    return Optional.empty();
  }

  private static String text(Node block) {
    StringBuilder text = new StringBuilder();
    block.accept(
        new AbstractVisitor() {
          @Override
          public void visit(Text node) {
            text.append(node.getLiteral());
          }

          @Override
          public void visit(Code node) {
            text.append(node.getLiteral());
          }

          @Override
          public void visit(SoftLineBreak node) {
            text.append(' ');
          }
        });
    return text.toString().strip();
  }

  private static String shortened(String text) {
    if (text.length() <= DESCRIPTION) {
      return text;
    }
    return text.substring(0, text.lastIndexOf(' ', DESCRIPTION)) + " …";
  }

  private static List<Heading> headings(String body) {
    return HEADING
        .matcher(body)
        .results()
        .map(
            found ->
                new Heading(
                    Integer.parseInt(found.group(1)),
                    found.group(2),
                    LINK_TAG.matcher(found.group(3)).replaceAll("")))
        .toList();
  }

  /** Gives the links of a page the destinations of the site, and notes the pictures. */
  private static final class Rewriting extends AbstractVisitor {
    private final Path file;
    private final Links links;
    private final Set<Path> pictures;

    Rewriting(Path file, Links links, Set<Path> pictures) {
      this.file = file;
      this.links = links;
      this.pictures = pictures;
    }

    @Override
    public void visit(Link link) {
      visitChildren(link);
      Optional<String> destination = links.rewritten(file, link.getDestination());
      if (destination.isPresent()) {
        link.setDestination(destination.get());
        return;
      }
      while (link.getFirstChild() != null) {
        link.insertBefore(link.getFirstChild());
      }
      link.unlink();
    }

    @Override
    public void visit(Image image) {
      pictures.add(links.file(file, image.getDestination()));
    }

    @Override
    public void visit(HtmlBlock html) {
      picturesOf(html.getLiteral());
    }

    @Override
    public void visit(HtmlInline html) {
      picturesOf(html.getLiteral());
    }

    private void picturesOf(String html) {
      PICTURE
          .matcher(html)
          .results()
          .forEach(found -> pictures.add(links.file(file, found.group(1))));
    }
  }
}
