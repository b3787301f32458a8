package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A JVM that ran a program of a test, and has ended. It takes no flags from the JVM of the tests.
 *
 * @param status 0 if the program did not fail
 * @param output what it printed, with its errors unless they went to a file
 */
public record ChildJvm(int status, String output) {
  static final String VECTORS = "--add-modules=jdk.incubator.vector";
  static final String NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";

  /** The flags that the library asks for on the class path, and then more. */
  public static List<String> flags(String... more) {
    List<String> flags = new ArrayList<>(List.of(VECTORS, NATIVE_ACCESS));
    flags.addAll(List.of(more));
    return flags;
  }

  /** What a program prints that must not fail. */
  public static String output(List<String> flags, Class<?> main, String... args)
      throws IOException, InterruptedException {
    ChildJvm child = run(program(flags, main, args));
    assertThat(child.status).as("%s", child.output).isZero();
    return child.output;
  }

  /** Will run a program of the tests, whose errors are part of its output. */
  public static ProcessBuilder program(List<String> flags, Class<?> main, String... args) {
    List<String> words = new ArrayList<>(flags);
    words.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    words.addAll(List.of(args));
    return java(words).redirectErrorStream(true);
  }

  /** Will run the java of this JVM with these words alone. */
  static ProcessBuilder java(List<String> words) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(words);
    return new ProcessBuilder(command);
  }

  /** Starts a JVM, and waits until it ends. It does not go on after a test whose time is over. */
  public static ChildJvm run(ProcessBuilder java) throws IOException, InterruptedException {
    // A wait for a process hears an interrupt, and reading from its pipe does not.
    Path output = Files.createTempFile("rmsnorm4j-", ".output");
    Process child = java.redirectOutput(output.toFile()).start();
    try {
      int status = child.waitFor();
      return new ChildJvm(status, new String(Files.readAllBytes(output)));
    } finally {
      child.destroyForcibly();
      Files.delete(output);
    }
  }
}
