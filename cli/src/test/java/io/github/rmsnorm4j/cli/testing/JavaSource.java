package io.github.rmsnorm4j.cli.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A program that a page shows, started from its source with this project on the class path. */
public final class JavaSource {
  private JavaSource() {}

  /** Runs it in a folder, where it has to end with status 0, and returns what it prints. */
  public static String run(Path folder, String program, String... arguments)
      throws IOException, InterruptedException {
    Path source = Files.writeString(folder.resolve("Lines.java"), program);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ChildJvm.flags());
    command.addAll(List.of("--class-path", System.getProperty("java.class.path")));
    command.add(source.toString());
    command.addAll(List.of(arguments));
    Path err = folder.resolve("err.txt");
    Process process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectError(err.toFile()).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(Files.readString(err)).isZero();
    return out;
  }
}
