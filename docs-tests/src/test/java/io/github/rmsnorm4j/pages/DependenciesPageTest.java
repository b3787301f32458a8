package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/dependencies.md names each version that the poms name, and no other. */
class DependenciesPageTest {
  private static final Pattern PROPERTY = Pattern.compile("<([a-z-]+)\\.version>([^<]+)</");
  private static final Pattern VERSIONED =
      Pattern.compile("<artifactId>([^<]+)</artifactId>\\s*<version>([^<]+)</version>");
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `(?:[^:`]+:)?([^:`]+)` \\| ([^ |]+) \\|");

  @Test
  void everyVersionOfTheBuildIsOnThePage() throws IOException {
    assertThat(
            namesAndVersions(ROW, Files.readString(Shell.CHECKOUT.resolve("docs/dependencies.md"))))
        .containsExactlyInAnyOrderElementsOf(inTheBuild());
  }

  private static List<String> inTheBuild() throws IOException {
    Map<String, String> properties = new HashMap<>();
    for (Path pom : poms()) {
      PROPERTY
          .matcher(Files.readString(pom))
          .results()
          .forEach(r -> properties.put("${" + r.group(1) + ".version}", r.group(2)));
    }

    List<String> all = new ArrayList<>();
    for (Path pom : poms()) {
      for (String found : namesAndVersions(VERSIONED, Files.readString(pom))) {
        String version = found.substring(found.indexOf(' ') + 1);
        if (!found.startsWith("rmsnorm4j")) {
          all.add(found.replace(version, properties.getOrDefault(version, version)));
        }
      }
    }
    // Set apart from the others: a setting of spotless, and what the wrapper's file says.
    all.add("google-java-format " + properties.get("${google-java-format.version}"));
    String wrapper =
        Files.readString(Shell.CHECKOUT.resolve(".mvn/wrapper/maven-wrapper.properties"));
    all.add("maven-wrapper " + only("wrapperVersion=(\\S+)", wrapper));
    all.add("apache-maven " + only("apache-maven-([0-9.]+)-bin", wrapper));
    return all.stream().distinct().toList();
  }

  private static List<Path> poms() throws IOException {
    return Stream.concat(Stream.of(Shell.CHECKOUT), Shell.modules())
        .map(module -> module.resolve("pom.xml"))
        .toList();
  }

  private static List<String> namesAndVersions(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(r -> r.group(1) + " " + r.group(2)).toList();
  }

  private static String only(String pattern, String text) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    assertThat(matcher.find()).as(pattern).isTrue();
    return matcher.group(1);
  }
}
