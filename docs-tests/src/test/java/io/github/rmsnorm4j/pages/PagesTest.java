package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Pages lead to what is there: files, headings, tests, and the JDK that the build is for. */
class PagesTest {
  private static final Path DOCS = Shell.CHECKOUT.resolve("docs");
  private static final Path DEV_DOCS = Shell.CHECKOUT.resolve("dev-docs");
  private static final Pattern CODE = Pattern.compile("(?s)\n```.*?\n```");
  private static final Pattern LINK =
      Pattern.compile("\\]\\(([^)#]*)(?:#([^)]*))?\\)|\\bsrc(?:set)?=\"([^\"]*)\"");
  private static final Pattern TEST = Pattern.compile("`(\\w+(?:Test|IT))(?:\\.\\w+)?`");
  private static final Pattern FOLDERS = Pattern.compile("(?m)^\\| folder \\|.*\n((?:\\|.*\n)+)");
  private static final Pattern FOLDER = Pattern.compile("`([^`\n]*)`(?=.* \\| )");
  private static final Pattern TARGET = Pattern.compile("<maven.compiler.target>(\\d+)<");

  private static final Pattern VERSION = Pattern.compile("<version>([^<]+)</version>");

  /** A class file of Java N is of version N + 44. */
  private static final int FIRST_VERSION = 44;

  static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    for (Path folder : List.of(Shell.CHECKOUT, DOCS, DEV_DOCS, DOCS.resolve("benchmarks"))) {
      try (Stream<Path> files = Files.list(folder)) {
        files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(pages::add);
      }
    }
    return pages;
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyLinkLeadsToAFileAndAHeading(Path page) throws IOException {
    Matcher link = LINK.matcher(CODE.matcher(Files.readString(page)).replaceAll(""));
    while (link.find()) {
      String to = link.group(3) == null ? link.group(1) : link.group(3);
      if (to.contains("://")) {
        continue;
      }
      Path target = to.isEmpty() ? page : page.resolveSibling(to);
      assertThat(target).as("%s: %s", page, link.group()).isRegularFile();
      if (link.group(2) != null) {
        assertThat(anchors(target)).as("%s: %s", page, link.group()).contains(link.group(2));
      }
    }
  }

  /** As GitHub makes them of headings. */
  private static Set<String> anchors(Path page) throws IOException {
    return Files.readString(page)
        .lines()
        .filter(line -> line.startsWith("#"))
        .map(line -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT))
        .map(line -> line.replaceAll("[^\\w -]", "").replace(' ', '-'))
        .collect(Collectors.toSet());
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyTestIsThere(Path page) throws IOException {
    Set<String> tests = tests();
    assertThat(TEST.matcher(Files.readString(page)).results().map(found -> found.group(1)))
        .as("%s", page)
        .allMatch(tests::contains);
  }

  @Test
  void everyFolderOfTheMapIsThere() throws IOException {
    Matcher table = FOLDERS.matcher(Files.readString(Shell.CHECKOUT.resolve("CONTRIBUTING.md")));
    assertThat(table.find()).isTrue();
    assertThat(FOLDER.matcher(table.group(1)).results().map(found -> found.group(1)))
        .hasSizeGreaterThan(15)
        .allSatisfy(folder -> assertThat(Shell.CHECKOUT.resolve(folder)).isDirectory());
  }

  /** A promise without a test is none. */
  @Test
  void everyPromiseNamesWhatTestsIt() throws IOException {
    List<String> promises =
        Files.readString(DEV_DOCS.resolve("promises.md"))
            .lines()
            .filter(line -> line.startsWith("| **"))
            .toList();
    assertThat(promises).hasSizeGreaterThan(15);
    for (String promise : promises) {
      String evidence = promise.substring(promise.lastIndexOf(" | "));
      assertThat(TEST.matcher(evidence).find()).as(promise).isTrue();
    }
  }

  @Test
  void theCitationIsOfThisVersion() throws IOException {
    Matcher version = VERSION.matcher(Files.readString(Shell.CHECKOUT.resolve("bom/pom.xml")));
    assertThat(version.find()).isTrue();
    assertThat(Files.readString(Shell.CHECKOUT.resolve("CITATION.cff")).lines())
        .contains("cff-version: 1.2.0", "version: " + version.group(1))
        .anyMatch(line -> line.startsWith("title: "))
        .anyMatch(line -> line.startsWith("message: "))
        .contains("authors:");
  }

  private static Set<String> tests() throws IOException {
    try (Stream<Path> modules = Shell.modules()) {
      Set<String> names = new HashSet<>();
      for (Path module : modules.map(path -> path.resolve("src/test/java")).toList()) {
        if (Files.isDirectory(module)) {
          try (Stream<Path> files = Files.walk(module)) {
            files
                .map(file -> file.getFileName().toString())
                .filter(name -> name.endsWith("Test.java") || name.endsWith("IT.java"))
                .forEach(name -> names.add(name.replace(".java", "")));
          }
        }
      }
      return names;
    }
  }

  @Test
  void theOldestJdkIsThatOfTheClassFiles() throws IOException {
    Path core = Shell.CHECKOUT.resolve("core").resolve("pom.xml");
    Matcher target = TARGET.matcher(Files.readString(core));
    assertThat(target.find()).isTrue();
    int jdk = Integer.parseInt(target.group(1));
    assertThat(Files.readString(DOCS.resolve("compatibility.md")))
        .contains("\n| " + jdk + " | ")
        .contains("\n| " + (jdk - 1) + " and older | none")
        .contains("class files are of version " + (FIRST_VERSION + jdk));
  }
}
