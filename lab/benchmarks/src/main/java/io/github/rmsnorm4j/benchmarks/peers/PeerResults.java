package io.github.rmsnorm4j.benchmarks.peers;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.measure.Samples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;

/**
 * All that a run of {@code rmsnorm bench} measured: every round, so that each figure can be
 * computed again.
 *
 * @param date when, as 2026-01-31
 * @param commit of the sources, or null if it is not known
 * @param machine what on
 * @param versions of the other systems, each as its name and number; none where there were none
 * @param figures a contest may be there several times, from as many JVMs
 * @param traps inputs that systems get wrong
 * @param changes whether answers depend on the number of threads or the batch
 */
public record PeerResults(
    String date,
    String commit,
    Machine machine,
    List<String> versions,
    List<Figure> figures,
    List<Trap> traps,
    List<Change> changes) {
  private static final JsonMapper JSON = new JsonMapper();

  /**
   * A contest in one JVM.
   *
   * @param contest what was done
   * @param threads how many each system might use
   * @param polluted whether everything else had been through this library before
   * @param entries a system each
   */
  public record Figure(Contest contest, int threads, boolean polluted, List<Entry> entries) {
    /**
     * {@return a system's part, or nothing if it was not there}
     *
     * @param system its name
     */
    public Optional<Entry> entry(String system) {
      return entries.stream().filter(entry -> entry.system().equals(system)).findFirst();
    }
  }

  /**
   * A system in a contest.
   *
   * @param system its name
   * @param error the largest, as a share of the largest exact element of its row
   * @param allowed how large that may be
   * @param refused why there are no times, or null
   * @param nanos per call, a number per round
   */
  public record Entry(
      String system, double error, double allowed, String refused, List<Double> nanos) {
    /** {@return whether its answer was far from the exact one, or no number} */
    public boolean wrong() {
      return refused == null && !(error <= allowed);
    }

    /** {@return the time of a call, the median of the rounds} */
    public double median() {
      return Samples.median(nanos);
    }
  }

  /**
   * What a system computed from a trap.
   *
   * @param input the row, in words
   * @param contest what was asked for
   * @param system who was asked
   * @param exact the element of the exact answer where the system is farthest off
   * @param got what it has there
   * @param error as in {@link Entry}
   * @param allowed as in {@link Entry}
   * @param refused as in {@link Entry}
   */
  public record Trap(
      String input,
      Contest contest,
      String system,
      double exact,
      double got,
      double error,
      double allowed,
      String refused) {}

  /**
   * Bits of the same rows, computed in two ways.
   *
   * @param what differs between the ways, in words
   * @param contest what was asked for
   * @param system who was asked
   * @param differing how many elements have other bits
   * @param elements of how many
   */
  public record Change(
      String what, Contest contest, String system, long differing, long elements) {}

  /**
   * {@return what is in a file that {@link #write} wrote}
   *
   * @param file JSON
   * @throws IOException if it cannot be read
   */
  public static PeerResults read(Path file) throws IOException {
    return JSON.readValue(file.toFile(), PeerResults.class);
  }

  /**
   * Writes all as JSON, whole or not at all.
   *
   * @param file replaced if it is there
   * @throws IOException if it cannot be written
   */
  public void write(Path file) throws IOException {
    Path part = file.resolveSibling(file.getFileName() + ".part");
    Files.writeString(
        part,
        JSON.writerWithDefaultPrettyPrinter().writeValueAsString(this) + System.lineSeparator());
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
