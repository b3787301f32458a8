package io.github.rmsnorm4j.pages;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The files of a checkout that the site is made of.
 *
 * @param folder the folder of the checkout
 */
record Checkout(Path folder) {
  private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");

  private static final Comparator<Path> README_FIRST =
      Comparator.comparing(file -> !file.endsWith("README.md"));

  /**
   * A module that is published.
   *
   * @param folder its folder, relative to the checkout
   * @param name its name as an artifact
   * @param description what is in it
   */
  record Module(Path folder, String name, String description) {
    /** The first page of its Javadoc. */
    Path address() {
      return Path.of("api", name, "index.html");
    }
  }

  /** The pages in Markdown, relative to the checkout: those at its top and those in docs. */
  List<Path> markdown() throws IOException {
    try (Stream<Path> top = Files.list(folder);
        Stream<Path> docs = Files.walk(folder.resolve("docs"))) {
      return relative(Stream.concat(top, docs), ".md");
    }
  }

  /** The pages that are documents of HTML, relative to the checkout. */
  List<Path> documents() throws IOException {
    try (Stream<Path> docs = Files.walk(folder.resolve("docs"))) {
      return relative(docs, ".html");
    }
  }

  private List<Path> relative(Stream<Path> files, String end) {
    return files
        .filter(file -> file.getFileName().toString().endsWith(end))
        .map(folder::relativize)
        .sorted(README_FIRST.thenComparing(Comparator.naturalOrder()))
        .toList();
  }

  /** The modules with Javadoc: those whose pom says that they are published. */
  List<Module> published() throws IOException {
    Stream.Builder<Module> modules = Stream.builder();
    Matcher module = MODULE.matcher(read(Path.of("pom.xml")));
    while (module.find()) {
      Path place = Path.of(module.group(1));
      if (Files.isDirectory(folder.resolve(place).resolve("src/main/java"))) {
        String pom = read(place.resolve("pom.xml"));
        if (element(pom, "maven.deploy.skip").equals("false")) {
          modules.add(new Module(place, element(pom, "name"), element(pom, "description")));
        }
      }
    }
    return modules.build().distinct().toList();
  }

  /** The text of an element that a pom has once, or an empty text. */
  private static String element(String pom, String name) {
    Matcher element = Pattern.compile("<%1$s>([^<]*)</%1$s>".formatted(name)).matcher(pom);
    return element.find() ? element.group(1) : "";
  }

  /** The text of a file, which is named relative to the checkout. */
  String read(Path file) throws IOException {
    return Files.readString(folder.resolve(file)).replace("\r\n", "\n");
  }
}
