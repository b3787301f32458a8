package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.benchmarks.peers.Run;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** What a run is asked for; {@code rmsnorm bench --help} explains it. */
final class PeerOptions {
  @Option(names = "--checkout")
  Path checkout = Path.of("");

  @Option(names = "--quick")
  boolean quick;

  @Option(names = "--only")
  String only = "";

  @Option(names = "--threads", split = ",")
  List<Integer> threads =
      Stream.of(1, Runtime.getRuntime().availableProcessors()).distinct().toList();

  @Option(names = "--polluted")
  boolean polluted;

  @Option(names = "--jvms")
  int jvms = 1;

  @Option(names = "--write")
  boolean write;

  @Option(names = "--check")
  boolean check;

  @Option(names = "--traps")
  boolean traps;

  @Option(names = "--loops")
  boolean loops;

  @Option(names = "--variants")
  boolean variants;

  /** Where to write the results as well, or null. */
  @Option(names = "--json")
  Path json;

  private PeerOptions() {}

  /**
   * Reads the words of a command.
   *
   * @throws CommandLine.ParameterException if they make no sense
   */
  static PeerOptions of(String... args) {
    PeerOptions options = new PeerOptions();
    CommandLine command = new CommandLine(options);
    command.parseArgs(args);
    String wrong = options.wrong();
    if (wrong != null) {
      throw new CommandLine.ParameterException(command, wrong);
    }
    options.threads = options.threads.stream().distinct().toList();
    return options;
  }

  /** What is measured, unless it is only traps. */
  Run run() {
    return loops ? Run.LOOPS : variants ? Run.VARIANTS : Run.PEERS;
  }

  /** Whether no contest and no trap is left out, unless the run is a quick one. */
  boolean measuresAll() {
    return !traps && run() == Run.PEERS && only.isEmpty();
  }

  private String wrong() {
    if (write && (quick || traps || !only.isEmpty())) {
      return "--write excludes --quick, --only and --traps: only runs of all shapes are kept";
    }
    if (check && traps) {
      return "--check and --traps exclude each other: traps have no targets";
    }
    if (Stream.of(loops, variants, traps).filter(given -> given).count() > 1) {
      return "--loops, --variants and --traps exclude each other: each leaves out what the others"
          + " measure";
    }
    if (jvms < 1 || jvms > 100) {
      return "--jvms has '" + jvms + "', it may be 1 to 100";
    }
    return threads.stream()
        .filter(count -> count < 1 || count > 1024)
        .map(count -> "--threads has '" + count + "', it may be 1 to 1024")
        .findFirst()
        .orElse(null);
  }
}
