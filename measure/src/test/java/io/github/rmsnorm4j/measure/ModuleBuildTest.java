package io.github.rmsnorm4j.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModuleBuildTest {
  private final ModuleBuild build =
      new ModuleBuild(
          "run",
          List.of("core", "lab/peers"),
          "target/classes",
          List.of("compile"),
          "it",
          "what it needs");

  @TempDir Path checkout;

  @Test
  void whatIsMissingOrOlderThanItsSourcesIsBuilt() throws IOException {
    Path classPath = checkout.resolve("lab/peers/target/classpath");
    assertThat(build.isStale(checkout)).isTrue();

    Files.createDirectories(checkout.resolve("lab/peers/target/classes"));
    Path jar = Files.createFile(checkout.resolve("peer.jar"));
    Files.writeString(classPath, jar + "\n");
    Path source = null;
    Instant old = Instant.now().minusSeconds(60);
    for (String module : build.modules()) {
      source = Files.createDirectories(checkout.resolve(module + "/src/main")).resolve("A.java");
      for (Path file : List.of(source, checkout.resolve(module + "/pom.xml"))) {
        Files.createFile(file);
        Files.setLastModifiedTime(file, FileTime.from(old));
      }
      Files.setLastModifiedTime(source.getParent(), FileTime.from(old));
    }
    Files.createFile(checkout.resolve("pom.xml"));
    Files.setLastModifiedTime(checkout.resolve("pom.xml"), FileTime.from(old));
    assertThat(build.isStale(checkout)).isFalse();

    Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(60)));
    assertThat(build.isStale(checkout)).isTrue();

    Files.setLastModifiedTime(source, FileTime.from(old));
    assertThat(build.isStale(checkout)).isFalse();
    Files.delete(jar);
    assertThat(build.isStale(checkout)).isTrue();
  }

  /** Also where it was built before, and what it needs is gone, as in a new home folder. */
  @Test
  void whatIsFetchedIsSaidBefore() throws IOException, InterruptedException {
    Path jar = checkout.resolve("peer.jar");
    Files.writeString(
        checkout.resolve("mvnw"),
        "cd \"${0%/*}\" && mkdir -p lab/peers/target/classes && echo '"
            + jar
            + "' >lab/peers/target/classpath");
    assertThat(said()).isEqualTo("rmsnorm run: building it and fetching what it needs\n");
    assertThat(said()).isEqualTo("rmsnorm run: building it and fetching what it needs\n");
    Files.createFile(jar);
    Files.delete(checkout.resolve("lab/peers/target/classes"));
    assertThat(said()).isEqualTo("rmsnorm run: building it again, since sources have changed\n");
  }

  private String said() throws IOException, InterruptedException {
    StringWriter err = new StringWriter();
    String product = checkout.resolve("lab/peers/target/classes").toString();
    assertThat(build.classPath(checkout, new PrintWriter(err))).startsWith(product);
    return err.toString().replace(System.lineSeparator(), "\n");
  }
}
