package io.github.rmsnorm4j.cli.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line in a JVM of its own, as its jar's manifest would start it. */
public final class ChildJvm {
  private ChildJvm() {}

  /** The words of a command that runs a main class on this test's class path. */
  public static List<String> command(Class<?> main, List<String> jvmOptions, Object... args) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    boolean collected = jvmOptions.stream().anyMatch(ChildJvm::isCollector);
    flags().stream().filter(flag -> !collected || !isCollector(flag)).forEach(command::add);
    command.addAll(jvmOptions);
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--add-exports=java.base/jdk.internal.module=ALL-UNNAMED");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    for (Object arg : args) {
      command.add(arg.toString());
    }
    return command;
  }

  private static boolean isCollector(String option) {
    return option.matches("-XX:\\+Use\\w+GC");
  }

  /** Those flags of this JVM that are there to make tests faster; none in {@code .ci/run}. */
  static List<String> flags() {
    String flags = System.getProperty("tests.jvm", "");
    return flags.isBlank() ? List.of() : List.of(flags.split(" "));
  }

  /**
   * Runs a command that has to fail when it writes: a limit on the size of files, 4500 KiB, fails a
   * write as a full disk does.
   */
  public static void failsOnAFullDisk(Class<?> main, Object... args)
      throws IOException, InterruptedException {
    List<String> limited =
        new ArrayList<>(List.of("bash", "-c", "ulimit -f 4500 && exec \"$@\"", "bash"));
    limited.addAll(command(main, List.of(), args));
    Process process =
        new ProcessBuilder(limited).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(err).isEqualTo(1);
    assertThat(err.lines()).singleElement().asString().endsWith("cannot write: File too large");
  }
}
