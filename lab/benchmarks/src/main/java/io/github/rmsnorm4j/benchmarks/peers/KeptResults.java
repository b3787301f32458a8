package io.github.rmsnorm4j.benchmarks.peers;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.rmsnorm4j.benchmarks.DecodeResults;
import io.github.rmsnorm4j.benchmarks.DecodeTable;
import io.github.rmsnorm4j.measure.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What is kept in docs/benchmarks of one processor: the newest results of each kind of run in a
 * JSON file, the tables that are made of them, and a chart.
 *
 * @param runs comparisons, each of another kind
 * @param decode the first tokens, or null
 */
public record KeptResults(Map<Run, PeerResults> runs, DecodeResults decode) {
  private static final JsonMapper JSON = new JsonMapper();

  /** Results, of which the map is a copy. */
  public KeptResults {
    Map<Run, PeerResults> copy = new EnumMap<>(Run.class);
    copy.putAll(runs);
    runs = copy;
  }

  /**
   * Makes the tables and charts of some files again.
   *
   * @param files of JSON in docs/benchmarks
   * @throws IOException if a file cannot be read or written
   */
  public static void main(String[] files) throws IOException {
    for (String file : files) {
      read(Path.of(file)).write(Path.of(file));
    }
  }

  /**
   * Keeps results instead of those of the same processor and kind.
   *
   * @param checkout its top folder
   * @param run what was measured
   * @param results of a whole run
   * @return the JSON file
   * @throws IOException if a file cannot be read or written
   */
  public static Path keep(Path checkout, Run run, PeerResults results) throws IOException {
    Path file = file(checkout, results.machine());
    KeptResults kept = read(file);
    kept.runs.put(run, results);
    kept.write(file);
    return file;
  }

  /**
   * Keeps results of decoding instead of those of the same processor.
   *
   * @param checkout its top folder
   * @param results of a whole run
   * @return the JSON file
   * @throws IOException if a file cannot be read or written
   */
  public static Path keep(Path checkout, DecodeResults results) throws IOException {
    Path file = file(checkout, results.machine());
    new KeptResults(read(file).runs, results).write(file);
    return file;
  }

  private static Path file(Path checkout, Machine machine) throws IOException {
    return Files.createDirectories(checkout.resolve("docs/benchmarks"))
        .resolve(machine.slug() + ".json");
  }

  /** What a file has, or nothing where there is none. */
  static KeptResults read(Path file) throws IOException {
    return Files.exists(file)
        ? JSON.readValue(file.toFile(), KeptResults.class)
        : new KeptResults(Map.of(), null);
  }

  private void write(Path file) throws IOException {
    // Before a file is replaced all are made: tables that cannot be leave everything as it is.
    Map<Path, String> made = made(file);
    String json = JSON.writerWithDefaultPrettyPrinter().writeValueAsString(this);
    replace(file, json + System.lineSeparator());
    for (Map.Entry<Path, String> one : made.entrySet()) {
      replace(one.getKey(), one.getValue());
    }
  }

  /** The files that are made of a JSON file's results, which stand beside it. */
  Map<Path, String> made(Path file) {
    String name = file.getFileName().toString().replace(".json", "");
    Map<Path, String> made = new LinkedHashMap<>();
    made.put(file.resolveSibling(name + ".md"), markdown(name));
    if (runs.containsKey(Run.PEERS)) {
      for (PeerChart.Theme theme : PeerChart.Theme.values()) {
        String chart = PeerChart.of(runs.get(Run.PEERS), decode, theme);
        made.put(file.resolveSibling(name + theme.ending()), chart);
      }
    }
    return made;
  }

  private String markdown(String name) {
    StringBuilder text = new StringBuilder("# Results of " + name + "\n\n");
    text.append("Raw results: [%1$s.json](%1$s.json).\n\n".formatted(name));
    if (runs.containsKey(Run.PEERS)) {
      text.append("Times of other libraries, as multiples of this library's:\n\n")
          .append(PeerChart.table(runs.get(Run.PEERS), decode))
          .append('\n');
    }
    if (decode != null) {
      text.append(DecodeTable.markdown(decode));
    }
    runs.forEach((run, results) -> text.append(run.tables(results)));
    return text.toString().stripTrailing() + "\n";
  }

  /** Whole or not at all. */
  private static void replace(Path file, String text) throws IOException {
    Path part = file.resolveSibling(file.getFileName() + ".part");
    Files.writeString(part, text);
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
