package io.github.rmsnorm4j.cuda.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.cuda.driver.StubDriver;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive for machines with a GPU: built, unpacked elsewhere, and run on the stub. */
class ImageIT {
  private static final long MOST_BYTES = 50_000_000;
  private static final String CUDA = "io.github.rmsnorm4j.cuda";

  @TempDir static Path temporary;
  private static Path folder;

  /** What a process said, and its status. */
  private record Said(int status, String out, String err) {}

  @BeforeAll
  static void build() throws IOException, InterruptedException {
    assumeThat(System.getProperty("os.name") + " " + System.getProperty("os.arch"))
        .as("the image is built for Linux x86-64, on such a machine")
        .isEqualTo("Linux amd64");
    List<String> command = new ArrayList<>(List.of("/bin/sh", Path.of("build").toString()));
    command.addAll(jars());
    Said built = run(command);
    assertThat(built.status()).as(built.err()).isZero();
    folder = Files.createDirectory(temporary.resolve("a folder with 'spaces' & ü"));
    Said unpacked = run(List.of("tar", "-xzf", built.out().strip(), "-C", folder.toString()));
    assertThat(unpacked.status()).as(unpacked.err()).isZero();
  }

  /** Those that this build has made, of the three modules. */
  private static List<String> jars() throws IOException {
    List<String> jars = new ArrayList<>();
    for (String module : List.of("../../core", "..", ".")) {
      try (Stream<Path> files = Files.list(Path.of(module, "target"))) {
        files
            .filter(file -> file.toString().matches(".*/rmsnorm4j[a-z-]*-\\d[^/]*\\.jar"))
            .filter(file -> !file.toString().matches(".*-(tests|sources|javadoc)\\.jar"))
            .map(Path::toString)
            .forEach(jars::add);
      }
    }
    return jars;
  }

  private static Said run(List<String> command, String... environment)
      throws IOException, InterruptedException {
    Path out = Files.createTempFile(temporary, "said", "");
    Path err = Files.createTempFile(temporary, "said", "");
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectOutput(out.toFile()).redirectError(err.toFile());
    for (String variable : environment) {
      String[] parts = variable.split("=", 2);
      builder.environment().put(parts[0], parts[1]);
    }
    int status = builder.start().waitFor();
    return new Said(status, Files.readString(out), Files.readString(err));
  }

  private static Said check(String... arguments) throws IOException, InterruptedException {
    return check(List.of(), arguments);
  }

  private static Said check(List<String> environment, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(script().toString()));
    command.addAll(Arrays.asList(arguments));
    return run(command, environment.toArray(String[]::new));
  }

  private static Path script() {
    return folder.resolve("rmsnorm4j-cuda-check/check");
  }

  @Test
  void itIsSmall() throws IOException {
    long[] bytes = new long[1];
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            bytes[0] += attributes.size();
            return FileVisitResult.CONTINUE;
          }
        });
    System.out.printf("the image has %.1f MB%n", bytes[0] / 1e6);
    assertThat(bytes[0]).isLessThan(MOST_BYTES);
  }

  @Test
  void withoutADriverOneLineSaysSo() throws IOException, InterruptedException {
    Said said = check(List.of("CHECK_OPTS=-Drmsnorm4j.cuda.library=libnone.so.1"));
    assertThat(said.status()).isEqualTo(2);
    assertThat(said.out()).isEmpty();
    assertThat(lines(said.err()))
        .containsExactly(
            "check: libnone.so.1 cannot be loaded: it comes with the driver of an NVIDIA GPU");
  }

  private static List<String> lines(String text) {
    return text.lines().filter(line -> !line.contains("incubator modules")).toList();
  }

  @Test
  void anOtherSystemsJavaIsSaid() throws IOException, InterruptedException {
    Path other = Files.createDirectory(folder.resolve("broken"));
    Files.copy(script(), other.resolve("check"));
    run(List.of("chmod", "+x", other.resolve("check").toString()));
    assertThat(run(List.of(other.resolve("check").toString())).err())
        .isEqualTo("check: there is no Java in " + other + "/java: unpack the archive again\n");
    Path java = Files.createDirectories(other.resolve("java/bin")).resolve("java");
    Files.writeString(java, "#!/no/loader/for/this\n");
    assertThat(run(List.of(other.resolve("check").toString())).err())
        .isEqualTo(
            "check: "
                + java
                + " is not executable: unpack the archive elsewhere, or with permissions\n");
    run(List.of("chmod", "+x", java.toString()));
    Said said = run(List.of(other.resolve("check").toString()));
    assertThat(said.status()).isEqualTo(2);
    assertThat(said.err())
        .startsWith(
            "check: the Java in " + other + "/java does not start here, it needs glibc 2.17");
  }

  /** All calls, on the interpreter, in the Java of the image. */
  @Test
  void onTheStubAllIsRight() throws IOException, InterruptedException {
    Path file = folder.resolve("results of the stub.json");
    Path java = folder.resolve("rmsnorm4j-cuda-check/java/bin/java");
    List<String> command =
        List.of(
            java.toString(),
            "--add-modules=jdk.incubator.vector,io.github.rmsnorm4j.cuda.check",
            "--enable-native-access=ALL-UNNAMED,io.github.rmsnorm4j," + CUDA,
            "--patch-module=" + CUDA + "=" + stub(),
            "--add-reads=" + CUDA + "=ALL-UNNAMED",
            "--add-exports=" + CUDA + "/" + CUDA + ".driver=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            "io.github.rmsnorm4j.cuda.stubbed.StubbedCheck",
            "--small",
            "--json",
            file.toString());
    Said said = run(command);
    assertThat(said.status()).as(said.out() + said.err()).isZero();
    assertThat(said.out())
        .contains(
            "All "
                + (NormCalls.all().size() + QuantizedCalls.all().size())
                + " calls of small shapes have the bytes")
        .contains("LayerNorm bfloat16 2 x 4096, backward")
        .doesNotContain("**");
    assertThat(file).content(StandardCharsets.UTF_8).contains("\"differences\" : [");
  }

  /** Where the classes of the stub are: a folder, or a jar. */
  private static Path stub() {
    try {
      return Path.of(StubDriver.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }
}
