package io.github.rmsnorm4j.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Compiles the stub of the driver's library with gcc. Tests are skipped where there is none. */
final class StubCompiler {
  /** Maven runs the tests of each module in the folder of that module. */
  private static final Path SOURCE =
      Stream.iterate(Path.of("").toAbsolutePath(), Path::getParent)
          .filter(folder -> Files.exists(folder.resolve("mvnw")))
          .findFirst()
          .orElseThrow()
          .resolve("cuda/src/test/c/stub.c");

  private static final Path FOLDER = Path.of("target", "stub");
  private static final Map<List<String>, Path> LIBRARIES = new ConcurrentHashMap<>();

  private StubCompiler() {}

  /** The library, compiled once with these options; skips the test where there is no gcc. */
  static Path library(String... options) {
    requireGcc();
    return LIBRARIES.computeIfAbsent(List.of(options), StubCompiler::compile);
  }

  private static void requireGcc() {
    assumeTrue(
        System.getProperty("os.name").equals("Linux"), "the CUDA driver's stub is built on Linux");
    if (runs(List.of("gcc", "--version"))) {
      return;
    }
    if ("true".equals(System.getenv("CI"))) {
      throw new AssertionError("the CUDA driver's stub is built with gcc, which is not here");
    }
    abort("the CUDA driver's stub is built with gcc, which is not here");
  }

  /** Whether the command is here, and ends well. */
  private static boolean runs(List<String> command) {
    try {
      return run(command).isEmpty();
    } catch (IOException e) {
      return false;
    }
  }

  /** What a command says if it fails; nothing if it does not. */
  private static String run(List<String> command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes());
    try {
      return process.waitFor() == 0 ? "" : output + " ";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  private static Path compile(List<String> options) {
    List<String> command =
        new ArrayList<>(
            List.of(
                "gcc -std=c11 -D_GNU_SOURCE -shared -fPIC -O1 -Wall -Wextra -Werror -pthread"
                    .split(" ")));
    command.addAll(options);
    Path library;
    try {
      Files.createDirectories(FOLDER);
      // Of its own: another JVM or class loader may compile it, too, and use it meanwhile.
      library = Files.createTempFile(FOLDER, "libcuda-", ".so.1").toAbsolutePath();
      library.toFile().deleteOnExit();
      command.addAll(List.of("-o", library.toString(), SOURCE.toString()));
      assertThat(run(command)).isEmpty();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return library;
  }
}
