package io.github.rmsnorm4j.spark.measure;

import io.github.rmsnorm4j.measure.ChildJvm;
import io.github.rmsnorm4j.spark.NormalizeParquet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A job in a process of its own, and what it took.
 *
 * @param seconds from its start to its end
 * @param peakBytes the most memory that it had at a time, 0 where the system does not tell
 */
record LargeRun(double seconds, long peakBytes) {
  static LargeRun of(String heap, Path in, Path out) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ChildJvm.flags());
    command.addAll(List.of(heap, "-cp", System.getProperty("java.class.path")));
    command.add(NormalizeParquet.class.getName());
    command.addAll(List.of(in.toString(), "-o", out.toString()));
    command.addAll(List.of("--column", GeneratedRows.COLUMN));
    long start = System.nanoTime();
    Process process = new ProcessBuilder(command).inheritIO().start();
    long peak = 0;
    try {
      while (!process.waitFor(100, TimeUnit.MILLISECONDS)) {
        peak = Math.max(peak, peak(process.pid()));
      }
    } finally {
      process.destroyForcibly();
    }
    if (process.exitValue() != 0) {
      throw new IOException("the large run ended with status " + process.exitValue());
    }
    return new LargeRun((System.nanoTime() - start) * 1e-9, peak);
  }

  /** Linux's high-water mark of a process, so that it matters little when one asks. */
  private static long peak(long pid) {
    try {
      return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
          .filter(line -> line.startsWith("VmHWM:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
          .findFirst()
          .orElse(0);
    } catch (IOException ignored) {
      return 0;
    }
  }
}
