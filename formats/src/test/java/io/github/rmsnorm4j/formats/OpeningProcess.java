package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A process with a heap of some MiB in the locale C, which opens a file, reads the first element of
 * each tensor, and says how it went.
 */
final class OpeningProcess {
  private OpeningProcess() {}

  /** The error of the file; "opened" without one. */
  static String open(Path file, int heap) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx" + heap + "m", "-XX:+UseSerialGC", "-Dstdout.encoding=UTF-8"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(OpeningProcess.class.getName(), file.toString()));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("LC_ALL", "C");
    Process process = builder.start();
    return new String(process.getInputStream().readAllBytes(), UTF_8).strip();
  }

  public static void main(String[] args) throws IOException {
    try (TensorFile file = TensorFile.open(Path.of(args[0]))) {
      for (Tensor tensor : file.tensors()) {
        Values.range(file, tensor, 0, Math.min(1, tensor.elements()));
      }
      System.out.println("opened");
    } catch (FormatException e) {
      System.out.println(e.getMessage());
    }
  }
}
