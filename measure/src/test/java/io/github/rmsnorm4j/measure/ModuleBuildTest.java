package io.github.rmsnorm4j.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModuleBuildTest {
  @TempDir Path checkout;

  @Test
  void whatIsMissingOrOlderThanItsSourcesIsBuilt() throws IOException {
    Path classPath = checkout.resolve("lab/peers/target/classpath");
    ModuleBuild build =
        new ModuleBuild(
            "run",
            List.of("core", "lab/peers"),
            "target/classes",
            List.of("compile"),
            "it",
            "what it needs");
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
}
