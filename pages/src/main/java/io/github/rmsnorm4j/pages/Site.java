package io.github.rmsnorm4j.pages;

import io.github.rmsnorm4j.pages.Checkout.Module;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Makes the folder {@code site} of a checkout: README.md and the other pages as HTML, with the
 * explainer in place of {@code index.html} and the Javadoc of the published modules in {@code api}.
 * It is written whole or not at all, and twice with the same bytes.
 */
public final class Site {
  private static final String PURPOSE =
      "RMSNorm and LayerNorm, computed step by step with your numbers: the page that explains the"
          + " norms of the Java library rmsnorm4j.";
  private static final Pattern TITLE = Pattern.compile("<title>([^<]*)</title>");

  private final Checkout checkout;
  private final Links links;
  private final Frame frame;
  private final Path site;
  private final List<Page> pages = new ArrayList<>();

  private Site(Checkout checkout, Optional<String> home, Path site) throws IOException {
    this.checkout = checkout;
    Set<Path> files = new HashSet<>(checkout.markdown());
    files.addAll(checkout.documents());
    this.links = new Links(checkout.folder(), files, home);
    this.frame = new Frame(home);
    this.site = site;
  }

  /**
   * Makes the site.
   *
   * @param arguments the folder of the checkout, and the URL of the sources' home or {@code unset}
   * @throws IOException if a file cannot be read or written
   */
  public static void main(String[] arguments) throws IOException {
    Path checkout = Path.of(arguments[0]).toAbsolutePath().normalize();
    Optional<String> home = Optional.of(arguments[1]).filter(url -> !url.equals("unset"));
    try {
      int pages = make(new Checkout(checkout), home, checkout.resolve("site"));
      System.out.println(
          "site: " + pages + " pages and the Javadoc are in " + checkout.resolve("site"));
    } catch (IllegalArgumentException e) {
      System.err.println("site: " + e.getMessage());
      System.exit(1);
    }
  }

  /**
   * Makes a site in place of the one that is there.
   *
   * @param checkout what it is made of, with the Javadoc in the modules' folders {@code target}
   * @param home where the sources are, as a URL without a slash at its end
   * @param site the folder of the site
   * @return the number of pages, not counting Javadoc
   */
  static int make(Checkout checkout, Optional<String> home, Path site) throws IOException {
    Path target = Files.createDirectories(checkout.folder().resolve("pages/target"));
    Path work = Files.createTempDirectory(target, "site");
    try {
      Path made = Files.createDirectory(work.resolve("made"));
      Site maker = new Site(checkout, home, made);
      maker.write();
      if (Files.exists(site)) {
        Files.move(site, work.resolve("old"));
      }
      Files.move(made, site);
      return maker.pages.size();
    } finally {
      delete(work);
    }
  }

  private void write() throws IOException {
    for (Path file : checkout.documents()) {
      Page page = document(file);
      add(page, frame.around(page));
    }
    for (Path file : checkout.markdown()) {
      Page page = Markdown.page(file, checkout.read(file), links);
      add(page, frame.html(page));
      for (Path picture : page.pictures()) {
        copy(checkout.folder().resolve(picture), site.resolve(picture));
      }
    }
    List<Module> modules = checkout.published();
    for (Module module : modules) {
      javadoc(module);
    }
    Lists lists = new Lists(List.copyOf(pages));
    for (Page list : lists.folders()) {
      add(list, frame.html(list));
    }
    Page api = Lists.modules(modules);
    add(api, frame.html(api));
    write(Frame.STYLE, Frame.style());
    write(Path.of("404.html"), frame.notFound());
  }

  private Page document(Path file) throws IOException {
    String html = checkout.read(file);
    Matcher found = TITLE.matcher(html);
    if (!found.find()) {
      throw new IllegalArgumentException(file + " has no title");
    }
    String title = Page.unescaped(found.group(1));
    String description = file.equals(Links.EXPLAINER) ? PURPOSE : title;
    return Page.of(Links.address(file), title, description, html);
  }

  private void add(Page page, String html) throws IOException {
    pages.add(page);
    write(page.address(), html);
  }

  private void write(Path address, String text) throws IOException {
    Path file = site.resolve(address);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private void javadoc(Module module) throws IOException {
    Path made = checkout.folder().resolve(module.folder()).resolve("target/reports/apidocs");
    if (!Files.isDirectory(made)) {
      throw new IllegalArgumentException(
          "%s has no Javadoc in target/reports/apidocs, which ./mvnw -Psite -DskipTests package makes"
              .formatted(module.folder()));
    }
    Path to = site.resolve(module.address()).getParent();
    try (Stream<Path> files = Files.walk(made)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        copy(file, to.resolve(made.relativize(file)));
      }
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to.getParent());
    Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void delete(Path folder) throws IOException {
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, IOException failure)
              throws IOException {
            Files.delete(directory);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
