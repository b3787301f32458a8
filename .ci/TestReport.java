import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Prints what the tests of modules left: what JaCoCo measured, as one line, and one line for each reason
 * why tests did not run. Run by Maven at the end of verify. Its arguments: whether JaCoCo was skipped, the
 * top folder, and the modules in it.
 */
public final class TestReport {
  private static final int LONGEST_REASON = 160;
  private static final int MOST_NAMES = 5;

  private TestReport() {}

  public static void main(String[] args) throws Exception {
    boolean counted = !Boolean.parseBoolean(args[0]); // Or else the file is of a build before.
    Path top = Path.of(args[1]);
    for (String module : List.of(args).subList(2, args.length)) {
      print(top.resolve(module).resolve("target"), module, counted);
    }
  }

  private static void print(Path target, String module, boolean counted) throws Exception {
    Path coverage = target.resolve("site/jacoco/jacoco.csv");
    if (counted && Files.exists(coverage)) { // Else a module without tests of its own.
      List<String> lines = Files.readAllLines(coverage);
      System.out.printf(
          "Coverage of %s: %s of the lines, %s of the branches%n", module, covered(lines, "LINE"), covered(lines, "BRANCH"));
    }
    skipped(target).forEach((reason, tests) -> System.out.printf("Not run in %s: %s: %s%n", module, tests, reason));
  }

  private static String covered(List<String> lines, String what) {
    List<String> columns = List.of(lines.getFirst().split(","));
    long covered = 0;
    long missed = 0;
    for (String line : lines.subList(1, lines.size())) {
      String[] cells = line.split(",");
      covered += Long.parseLong(cells[columns.indexOf(what + "_COVERED")]);
      missed += Long.parseLong(cells[columns.indexOf(what + "_MISSED")]);
    }
    return covered + missed == 0 ? "none" : "%.1f %%".formatted(100.0 * covered / (covered + missed));
  }

  /** The classes of the tests that were skipped, by reason. */
  private static Map<String, String> skipped(Path target) throws Exception {
    Map<String, Set<String>> classes = new TreeMap<>();
    for (Path report : reports(target)) {
      NodeList skips =
          DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder().parse(report.toFile()).getElementsByTagName("skipped");
      for (int i = 0; i < skips.getLength(); i++) {
        Element skip = (Element) skips.item(i);
        Element test = (Element) skip.getParentNode();
        String reason = reason(skip);
        String ofClass = test.getAttribute("classname").replaceFirst(".*\\.", "");
        classes.computeIfAbsent(reason, _ -> new TreeSet<>()).add(ofClass);
      }
    }
    Map<String, String> tests = new TreeMap<>();
    classes.forEach((reason, names) -> tests.put(reason, names.size() <= MOST_NAMES ? String.join(", ", names) : names.size() + " test classes"));
    return tests;
  }

  private static List<Path> reports(Path target) throws IOException {
    try (Stream<Path> files = Files.exists(target) ? Files.walk(target, 2) : Stream.empty()) {
      return files.filter(file -> file.toString().matches(".*[/\\\\](surefire|failsafe)-reports[/\\\\]TEST-.*\\.xml")).sorted().toList();
    }
  }

  /** One line; of an assumption of AssertJ its description. */
  private static String reason(Element skip) {
    // A failed assumption has its exception with its stack trace instead of a message.
    String message = skip.hasAttribute("message") ? skip.getAttribute("message") : skip.getTextContent();
    String line = message.replaceFirst("(?s)\\n\\tat .*", "").replaceAll("\\s+", " ").strip();
    line = line.replaceFirst("^\\S*TestAbortedException: ", "").replaceFirst("^assumption was not met due to: ", "");
    line = line.replaceFirst("^System property .* ==> ", "");
    String described = line.replaceFirst("^\\[(.*?)\\] ?(Expecting|expected:).*$", "$1").replaceFirst("^Assumption failed: ", "");
    return described.length() <= LONGEST_REASON ? described : described.substring(0, LONGEST_REASON) + "...";
  }
}
