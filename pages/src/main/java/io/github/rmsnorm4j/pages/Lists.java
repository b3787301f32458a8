package io.github.rmsnorm4j.pages;

import io.github.rmsnorm4j.pages.Checkout.Module;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** Pages that list others: one in each folder, so that the address of a folder leads to a page. */
final class Lists {
  private static final Path TOP = Path.of("");
  private static final Path DOCS = Path.of("docs");

  private final List<Page> pages;

  /**
   * @param pages the pages to list, in order
   */
  Lists(List<Page> pages) {
    this.pages = pages;
  }

  /** A list for each folder below the top; that of docs has the pages of the top, too. */
  List<Page> folders() {
    List<Page> lists = new ArrayList<>();
    for (Path folder : parents()) {
      if (!folder.equals(TOP)) {
        lists.add(folder(folder));
      }
    }
    return lists;
  }

  private TreeSet<Path> parents() {
    TreeSet<Path> folders = new TreeSet<>();
    pages.forEach(page -> folders.add(parent(page)));
    return folders;
  }

  private static Path parent(Page page) {
    Path parent = page.address().getParent();
    return parent == null ? TOP : parent;
  }

  private Page folder(Path folder) {
    Path address = folder.resolve("index.html");
    boolean all = folder.equals(DOCS);
    String title = all ? "All pages" : "Pages in " + folder;
    StringBuilder body = new StringBuilder("<h1>" + Page.escaped(title) + "</h1>\n");
    for (Path below : parents()) {
      if (all || below.startsWith(folder)) {
        if (all) {
          String name = below.equals(TOP) ? "The project" : below.toString();
          body.append("<h2 id=\"%1$s\">%1$s</h2>\n".formatted(Page.escaped(name)));
        }
        body.append("<ul class=\"list\">\n");
        pages.stream()
            .filter(page -> parent(page).equals(below))
            .forEach(
                page -> entry(body, address, page.address(), page.title(), page.description()));
        body.append("</ul>\n");
      }
    }
    return Page.of(address, title, title + " of rmsnorm4j.", body.toString());
  }

  /** The page of the modules with Javadoc. */
  static Page modules(List<Module> modules) {
    StringBuilder body = new StringBuilder("<h1>API</h1>\n");
    body.append("<p>The Javadoc of the modules that are published.</p>\n<ul class=\"list\">\n");
    for (Module module : modules) {
      entry(body, Frame.API, module.address(), module.name(), module.description());
    }
    body.append("</ul>\n");
    return Page.of(Frame.API, "API", "The Javadoc of rmsnorm4j's modules.", body.toString());
  }

  private static void entry(
      StringBuilder body, Path from, Path to, String title, String description) {
    body.append("<li><a href=\"").append(Links.between(from, to)).append("\">");
    body.append(Page.escaped(title)).append("</a>");
    if (!description.equals(title)) {
      body.append("<br>").append(Page.escaped(description));
    }
    body.append("</li>\n");
  }
}
