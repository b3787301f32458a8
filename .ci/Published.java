import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;

/**
 * Whether a repository's folder of the group has what Maven Central asks for: {@code Published
 * FOLDER VERSION signed|unsigned ARTIFACT...}. The list is that of
 * central.sonatype.org/publish/requirements, as of November 2026. Here the licence must also be in
 * the jars of classes and sources, and a list of components beside them.
 */
final class Published {
  private static final List<String> ELEMENTS =
      List.of(
          "name",
          "description",
          "url",
          "licenses/license/name",
          "licenses/license/url",
          "developers/developer/name",
          "scm/connection",
          "scm/developerConnection",
          "scm/url");

  private final String version;
  private final List<String> companions;
  private final List<String> findings = new ArrayList<>();

  private Published(String version, boolean signed) {
    this.version = version;
    this.companions = signed ? List.of("", ".md5", ".sha1", ".asc") : List.of("", ".md5", ".sha1");
  }

  public static void main(String[] args) throws Exception {
    List<String> artifacts = Arrays.asList(args).subList(3, args.length).stream().sorted().toList();
    Published published = new Published(args[1], args[2].equals("signed"));
    try (Stream<Path> folders = Files.list(Path.of(args[0]))) {
      List<String> found = folders.map(path -> path.getFileName().toString()).sorted().toList();
      published.check(found.equals(artifacts), "published is %s, not %s", found, artifacts);
    }
    for (String artifact : artifacts) {
      published.checkArtifact(Path.of(args[0], artifact, args[1]), artifact);
    }
    published.findings.forEach(finding -> System.err.println("Published: " + finding));
    System.exit(published.findings.isEmpty() ? 0 : 1);
  }

  private void check(boolean right, String finding, Object... words) {
    if (!right) {
      findings.add(finding.formatted(words));
    }
  }

  private void checkArtifact(Path folder, String artifact) throws Exception {
    String name = artifact + "-" + version;
    List<String> files = new ArrayList<>(List.of(".pom", "-cyclonedx.json"));
    if (checkPom(folder.resolve(name + ".pom"), artifact).equals("jar")) {
      for (String jar : List.of(".jar", "-sources.jar", "-javadoc.jar")) {
        files.add(jar);
        checkLicence(folder.resolve(name + jar));
      }
    }
    for (String file : files) {
      for (String beside : companions) {
        Path path = folder.resolve(name + file + beside);
        check(Files.isRegularFile(path) && Files.size(path) > 0, "%s is missing", path);
      }
    }
  }

  private void checkLicence(Path jar) throws IOException {
    // Javadoc's licences are those of its own files.
    if (Files.isRegularFile(jar) && !jar.toString().endsWith("-javadoc.jar")) {
      try (JarFile content = new JarFile(jar.toFile())) {
        check(content.getEntry("META-INF/LICENSE") != null, "%s has no META-INF/LICENSE", jar);
      }
    }
  }

  /** Returns the packaging. */
  private String checkPom(Path file, String artifact) throws Exception {
    if (!Files.isRegularFile(file)) {
      return "jar";
    }
    Document pom = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
    XPath paths = XPathFactory.newInstance().newXPath();
    for (String element : ELEMENTS) {
      String text = paths.evaluate("/project/" + element, pom).strip();
      check(!text.isEmpty() && !text.contains("unset"), "%s: <%s> is missing", file, element);
    }
    check(
        paths.evaluate("/project/groupId", pom).equals("io.github.rmsnorm4j")
            && paths.evaluate("/project/artifactId", pom).equals(artifact)
            && paths.evaluate("/project/version", pom).equals(version)
            && !version.endsWith("-SNAPSHOT"),
        "%s: its coordinates are not those of the release",
        file);
    check(paths.evaluate("/project/parent", pom).isEmpty(), "%s has a parent", file);
    check(!Files.readString(file).contains("${"), "%s has a property", file);
    String packaging = paths.evaluate("/project/packaging", pom);
    return packaging.isEmpty() ? "jar" : packaging;
  }
}
