package io.github.rmsnorm4j.measure;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A fresh JVM with the flags and the class path of this one. */
public final class ChildJvm {
  private ChildJvm() {}

  /**
   * Runs a program whose first argument is the file that it writes its result to.
   *
   * @param program has a main method
   * @param arguments follow the file
   * @return the text of that file
   * @throws IOException if the program fails; the message has what it said
   */
  public static String call(Class<?> program, List<String> arguments) throws IOException {
    return call(program, flags(), arguments);
  }

  /**
   * Runs a program in a JVM with other flags; its first argument is the file of its result.
   *
   * @param program has a main method
   * @param flags of its JVM, instead of those of this one
   * @param arguments follow the file
   * @return the text of that file
   * @throws IOException if the program fails; the message has what it said
   */
  public static String call(Class<?> program, List<String> flags, List<String> arguments)
      throws IOException {
    Path file = Files.createTempFile("result", ".json");
    try {
      List<String> all = new ArrayList<>();
      all.add(file.toString());
      all.addAll(arguments);
      run(program, flags, all);
      return Files.readString(file);
    } finally {
      Files.delete(file);
    }
  }

  /**
   * The flags of this JVM.
   *
   * @return what stood between {@code java} and the program
   */
  public static List<String> flags() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments();
  }

  /**
   * Runs a program to its end; what it said is shown only if it failed.
   *
   * @param program has a main method
   * @param arguments of that method
   * @throws IOException if it ends with another status than 0; the message has what it said
   */
  public static void run(Class<?> program, List<String> arguments) throws IOException {
    run(program, flags(), arguments);
  }

  private static void run(Class<?> program, List<String> flags, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(program.getName());
    command.addAll(arguments);

    Path said = Files.createTempFile("child", ".log");
    Process child = null;
    try {
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      child = builder.redirectOutput(said.toFile()).start();
      int status = child.waitFor();
      if (status != 0) {
        throw new IOException(
            "%s ended with status %s: %s"
                .formatted(program.getSimpleName(), status, ChildOutput.read(said)));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      if (child != null) {
        child.destroy();
      }
      Files.delete(said);
    }
  }
}
