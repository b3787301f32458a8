package io.github.rmsnorm4j.cli.testing;

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
    command.addAll(jvmOptions);
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--add-exports=java.base/jdk.internal.module=ALL-UNNAMED");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    for (Object arg : args) {
      command.add(arg.toString());
    }
    return command;
  }
}
