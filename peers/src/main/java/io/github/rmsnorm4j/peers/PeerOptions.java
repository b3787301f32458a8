package io.github.rmsnorm4j.peers;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a run is asked for; {@code rmsnorm bench --help} explains it.
 *
 * @param checkout its top folder
 * @param quick short rounds of few contests
 * @param only a part of the titles of contests
 * @param threads how many, one run each
 * @param polluted whether to leave out what is measured alone
 * @param jvms in how many JVMs each contest is measured
 * @param write whether to keep the results
 * @param check whether a missed target is a failure
 * @param traps whether to run only the traps
 * @param json where to write the results as well, or null
 */
record PeerOptions(
    Path checkout,
    boolean quick,
    String only,
    List<Integer> threads,
    boolean polluted,
    int jvms,
    boolean write,
    boolean check,
    boolean traps,
    Path json) {

  PeerOptions {
    if (write && (quick || traps || polluted || !only.isEmpty())) {
      throw new IllegalArgumentException(
          "--write takes a whole run: no --quick, --only, --polluted or --traps");
    }
    if (check && traps) {
      throw new IllegalArgumentException(
          "--check and --traps exclude each other: traps have no targets");
    }
  }

  static PeerOptions of(String... args) {
    Path checkout = Path.of("");
    String only = "";
    Path json = null;
    int jvms = 1;
    List<Integer> threads = List.of();
    List<String> flags = new ArrayList<>();
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "--quick", "--polluted", "--write", "--check", "--traps" -> flags.add(args[i]);
        case "--checkout" -> checkout = Path.of(value(args, ++i));
        case "--only" -> only = value(args, ++i);
        case "--json" -> json = Path.of(value(args, ++i));
        case "--jvms" -> jvms = count("--jvms", value(args, ++i), 100);
        case "--threads" -> threads = threads(value(args, ++i));
        default -> throw new IllegalArgumentException("unknown: " + args[i]);
      }
    }
    return new PeerOptions(
        checkout,
        flags.contains("--quick"),
        only,
        threads.isEmpty() ? oneAndAll() : threads,
        flags.contains("--polluted"),
        jvms,
        flags.contains("--write"),
        flags.contains("--check"),
        flags.contains("--traps"),
        json);
  }

  private static String value(String[] args, int i) {
    if (i == args.length) {
      throw new IllegalArgumentException(args[i - 1] + " takes a value");
    }
    return args[i];
  }

  private static List<Integer> threads(String value) {
    return Stream.of(value.split(",")).map(v -> count("--threads", v, 1024)).distinct().toList();
  }

  private static int count(String option, String value, int most) {
    try {
      int count = Integer.parseInt(value);
      if (count >= 1 && count <= most) {
        return count;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new IllegalArgumentException(
        "%s has '%s', it may be 1 to %s".formatted(option, value, most));
  }

  private static List<Integer> oneAndAll() {
    return Stream.of(1, Runtime.getRuntime().availableProcessors()).distinct().toList();
  }
}
