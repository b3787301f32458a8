package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.cuda.CudaDeviceInfo;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/**
 * What a check is asked to do.
 *
 * @param device the number of the GPU; null for the first that can be used
 * @param part the only part to be checked; null for all
 * @param json the file of the results; null for one in this folder
 * @param quick whether rounds are few
 * @param small whether shapes are so small that an interpreter can compute them
 * @param help whether only the usage is wanted
 */
record CheckOptions(
    Integer device, String part, Path json, boolean quick, boolean small, boolean help) {
  static final String USAGE =
      """
      check [--device N] [--only PART] [--json FILE.json] [--quick]
        --device N        the GPU with that number, from 0 on (default: the first that can be used)
        --only PART       only bits, errors or times
        --json FILE.json  keeps the results there (default: DATE-NAME-cuda.json in this folder)
        --quick           few rounds of few shapes; do not quote the times
        --small           small shapes and no times: for simulators of a GPU
        --help            shows this
      Exit status: 0 all is right, 1 something is not, 2 the check could not be made.
      """;

  private static final String MORE = " (check --help tells more)";

  private static final List<String> PARTS = List.of("bits", "errors", "times");

  static CheckOptions of(String... args) {
    Integer device = null;
    String part = null;
    Path json = null;
    boolean quick = false;
    boolean small = false;
    boolean help = false;
    Iterator<String> words = Arrays.asList(args).iterator();
    while (words.hasNext()) {
      String word = words.next();
      switch (word) {
        case "--device" -> device = number(value(word, words));
        case "--only" -> part = part(value(word, words));
        case "--json" -> json = file(value(word, words));
        case "--quick" -> quick = true;
        case "--small" -> small = true;
        case "--help", "-h" -> help = true;
        default -> throw new IllegalArgumentException("'%s' is no option%s".formatted(word, MORE));
      }
    }
    if (small && "times".equals(part)) {
      throw new IllegalArgumentException("--small excludes --only times: it has none");
    }
    return new CheckOptions(device, part, json, quick, small, help);
  }

  private static String value(String name, Iterator<String> words) {
    if (!words.hasNext()) {
      throw new IllegalArgumentException(name + " takes a value" + MORE);
    }
    return words.next();
  }

  private static int number(String value) {
    if (!value.matches("[0-9]{1,4}")) {
      throw new IllegalArgumentException(
          "--device is '" + value + "', it must be a number from 0 on");
    }
    return Integer.parseInt(value);
  }

  private static String part(String value) {
    if (!PARTS.contains(value)) {
      throw new IllegalArgumentException(
          "--only is '" + value + "', it may be bits, errors or times");
    }
    return value;
  }

  private static Path file(String value) {
    try {
      if (value.endsWith(".json")) {
        return Path.of(value);
      }
    } catch (InvalidPathException _) {
      // Said below.
    }
    throw new IllegalArgumentException(
        "--json is '" + value + "', it must name a file that ends in .json");
  }

  boolean wants(String which) {
    return part == null || part.equals(which);
  }

  /** Where the results go. */
  Path file(CudaDeviceInfo info) {
    return json == null ? Path.of(DeviceFile.name(LocalDate.now().toString(), info.name())) : json;
  }
}
