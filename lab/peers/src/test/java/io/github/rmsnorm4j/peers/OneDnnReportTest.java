package io.github.rmsnorm4j.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.bytedeco.dnnl.global.dnnl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * docs/background/onednn-rmsnorm-gradient.md: its program in C++ builds against oneDNN alone, and
 * finds what the page says, in the kernels of each instruction set.
 */
class OneDnnReportTest {
  private static final Path FOLDER = Path.of("../..", "docs", "background");
  private static final Path COMPILER = Path.of("/usr/bin/g++");
  private static final String NUMBER = "\\d\\.\\de[+-]\\d\\d";
  private static final String LIBRARY = "libdnnl.so.3";

  @TempDir Path folder;

  @Test
  void theProgramFindsWhatThePageSays() throws Exception {
    String system = System.getProperty("os.name") + " " + System.getProperty("os.arch");
    assumeTrue(system.equals("Linux amd64"), "the program is built on Linux for x86-64");
    boolean inContinuousIntegration = "true".equals(System.getenv("CI"));
    assumeTrue(Files.isExecutable(COMPILER) || inContinuousIntegration, "there is no " + COMPILER);
    copyOneDnn();
    Path program = folder.resolve("report");
    Path source = FOLDER.resolve("onednn-rmsnorm-gradient.cpp").toAbsolutePath();
    Result built =
        run(
            Map.of(),
            COMPILER.toString(),
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-Werror",
            source.toString(),
            "-I" + folder.resolve("include"),
            folder.resolve(LIBRARY).toString(),
            "-o",
            program.toString());
    assertThat(built.status).as(built.out).isZero();

    String page = Files.readString(FOLDER.resolve("onednn-rmsnorm-gradient.md"));
    for (String instructions : List.of("DEFAULT", "SSE41")) {
      Map<String, String> environment =
          Map.of(
              "LD_LIBRARY_PATH",
              folder.toString(),
              "OMP_NUM_THREADS",
              "1",
              "ONEDNN_MAX_CPU_ISA",
              instructions);
      Result result = run(environment, program.toString());
      assertThat(result.status).as(result.out).isEqualTo(1);
      List<String> lines = result.out.lines().toList();
      assertThat(number(lines, "the derivative of RMSNorm")).isGreaterThan(1e-2);
      assertThat(number(lines, "minus LayerNorm's mean(dy * scale)")).isLessThan(1e-6);
      assertThat(number(lines, "differences of the forward pass")).isGreaterThan(1e-2);
      assertThat(number(lines, "DIFF_SCALE")).isLessThan(1e-6);
      for (String line : lines) {
        if (!line.startsWith("implementation: ")) {
          assertThat(page.replaceAll(NUMBER, "N")).contains("    " + line.replaceAll(NUMBER, "N"));
        }
      }
    }
  }

  private static double number(List<String> lines, String about) {
    String line = lines.stream().filter(l -> l.contains(about)).findFirst().orElseThrow();
    return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
  }

  /** Headers and libraries, out of the jar that Java loads them from. */
  private void copyOneDnn() throws Exception {
    URI jar = dnnl.class.getResource("/org/bytedeco/dnnl/linux-x86_64/" + LIBRARY).toURI();
    try (FileSystem files = FileSystems.newFileSystem(jar, Map.of())) {
      Path root = files.getPath("/org/bytedeco/dnnl/linux-x86_64");
      try (Stream<Path> paths = Files.walk(root)) {
        for (Path path : paths.toList()) {
          copy(root.relativize(path).toString(), path);
        }
      }
    }
  }

  private void copy(String name, Path from) throws IOException {
    boolean wanted = name.startsWith("include") || name.equals(LIBRARY) || name.contains("gomp");
    if (wanted && Files.isRegularFile(from)) {
      Path to = folder.resolve(name);
      Files.createDirectories(to.getParent());
      Files.copy(from, to);
    }
  }

  private record Result(int status, String out) {}

  private Result run(Map<String, String> environment, String... command)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Result(process.waitFor(), out);
  }
}
