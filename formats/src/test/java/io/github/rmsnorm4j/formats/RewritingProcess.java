package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A process that replaces a file again and again until it or the test is killed or the disk is
 * full; each time the file is {@link #SIZE} bytes of one value, another than the last time.
 */
final class RewritingProcess {
  static final int SIZE = 1 << 20;

  private static final int PIECE = 1 << 14;

  private RewritingProcess() {}

  /** Starts one; it prints a line when it has replaced the file once. */
  static Process start(Path target, String... wrapper) throws IOException {
    List<String> command = new ArrayList<>(List.of(wrapper));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(RewritingProcess.class.getName(), target.toString()));
    return new ProcessBuilder(command).start();
  }

  /** Whether a file is as one complete write left it. */
  static boolean isWhole(Path target) throws IOException {
    byte[] content = Files.readAllBytes(target);
    byte[] expected = new byte[SIZE];
    Arrays.fill(expected, content.length == 0 ? 0 : content[0]);
    return Arrays.equals(content, expected);
  }

  public static void main(String[] args) throws IOException {
    ProcessHandle test = ProcessHandle.current().parent().orElseThrow();
    byte[] piece = new byte[PIECE];
    for (int round = 1; test.isAlive(); round++) {
      Arrays.fill(piece, (byte) round);
      try (ReplacingFile file = ReplacingFile.create(Path.of(args[0]), true)) {
        for (int written = 0; written < SIZE; written += PIECE) {
          file.write(MemorySegment.ofArray(piece));
        }
        file.commit();
      }
      if (round == 1) {
        System.out.println("ready");
      }
    }
  }
}
