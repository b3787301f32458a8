package io.github.rmsnorm4j.benchmarks;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.rmsnorm4j.measure.ChildJvm;
import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.measure.Samples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * All that a run of {@link SpeedTable} measured: every round of every row, so that each figure of
 * the table can be computed again.
 *
 * @param date when, as 2026-01-31
 * @param commit of the sources, or null if it is not known
 * @param machine what on
 * @param figures the norms on one thread
 * @param threads two threads against one
 * @param coldStarts whole processes
 */
record Results(
    String date,
    String commit,
    Machine machine,
    List<Figure> figures,
    List<ThreadTimes> threads,
    List<ColdStart> coldStarts) {

  /**
   * A row's times in one JVM; there are several for each row.
   *
   * @param row its title
   * @param polluted whether everything else had been through the process before
   */
  record Figure(String row, boolean polluted, Times times) {}

  /**
   * One thread (the baseline) and two (the subject), timed by the clock.
   *
   * @param bytes read and written by a call
   */
  record ThreadTimes(long bytes, Times times) {}

  /**
   * A JVM from its start to its end.
   *
   * @param what the kernels that it used
   * @param nanos a number per start
   */
  record ColdStart(String what, List<Double> nanos) {
    double millis() {
      return Samples.median(nanos) / 1e6;
    }
  }

  private static final JsonMapper JSON = new JsonMapper();

  /** What a program of this project measured in a fresh JVM and wrote to its first argument. */
  static <T> T fromFreshJvm(Class<?> program, Class<T> result, List<String> arguments)
      throws IOException {
    return JSON.readValue(ChildJvm.call(program, arguments), result);
  }

  static <T> T read(Path file, Class<T> type) throws IOException {
    return JSON.readValue(file.toFile(), type);
  }

  static void write(Path file, Object value) throws IOException {
    Files.writeString(
        file,
        JSON.writerWithDefaultPrettyPrinter().writeValueAsString(value) + System.lineSeparator());
  }
}
