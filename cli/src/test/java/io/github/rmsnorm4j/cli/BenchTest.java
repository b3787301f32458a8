package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchTest {
  @TempDir Path checkout;

  @Test
  void outsideACheckoutOneLineSaysWhatIsNeeded() {
    CommandResult result = CommandResult.of("bench");
    assertThat(result.status()).isOne();
    assertThat(result.err())
        .isEqualTo(
            "rmsnorm bench: the measurements are built from a checkout of rmsnorm4j: start ./rmsnorm"
                + " bench there\n");
  }

  @Test
  void wrongUseIsSaidBeforeAnythingIsBuilt() {
    assertThat(wrongUse("--write", "--quick"))
        .contains("--write takes a whole run: it excludes --quick, --only, --polluted and --traps");
    assertThat(wrongUse("--traps", "--check")).contains("--check and --traps exclude each other");
    assertThat(wrongUse("--threads", "1,0")).contains("--threads is 0, it may be 1 to 1024");
    assertThat(wrongUse("--jvms", "101")).contains("--jvms is 101, it may be 1 to 100");
  }

  private static String wrongUse(String first, String second) {
    CommandResult result = CommandResult.of("bench", first, second);
    assertThat(result.status()).isEqualTo(2);
    return result.err();
  }

  @Test
  void whatIsMissingOrOlderThanItsSourcesIsBuilt() throws IOException {
    Path classPath = checkout.resolve("peers/target/classpath");
    PeersBuild build = new PeersBuild(checkout, new PrintWriter(Writer.nullWriter()));
    assertThat(build.isStale()).isTrue();

    Files.createDirectories(checkout.resolve("peers/target/classes"));
    Path jar = Files.createFile(checkout.resolve("peer.jar"));
    Files.writeString(classPath, jar + "\n");
    Path source = null;
    Instant old = Instant.now().minusSeconds(60);
    for (String module : List.of("core", "measure", "benchmarks", "peers")) {
      source = Files.createDirectories(checkout.resolve(module + "/src/main")).resolve("A.java");
      for (Path file : List.of(source, checkout.resolve(module + "/pom.xml"))) {
        Files.createFile(file);
        Files.setLastModifiedTime(file, FileTime.from(old));
      }
      Files.setLastModifiedTime(source.getParent(), FileTime.from(old));
    }
    Files.createFile(checkout.resolve("pom.xml"));
    Files.setLastModifiedTime(checkout.resolve("pom.xml"), FileTime.from(old));
    assertThat(build.isStale()).isFalse();

    Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(60)));
    assertThat(build.isStale()).isTrue();

    Files.setLastModifiedTime(source, FileTime.from(old));
    assertThat(build.isStale()).isFalse();
    Files.delete(jar);
    assertThat(build.isStale()).isTrue();
  }
}
