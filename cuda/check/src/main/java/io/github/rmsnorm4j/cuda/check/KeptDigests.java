package io.github.rmsnorm4j.cuda.check;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;

/** The answers to all calls when this was built: the digest of each, by the name of the call. */
final class KeptDigests {
  private static final String FILE = "digests.txt";

  private KeptDigests() {}

  static Map<String, String> read() {
    try (InputStream in = KeptDigests.class.getResourceAsStream(FILE)) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return text.lines()
          .map(line -> line.split(" ", 2))
          .collect(Collectors.toMap(parts -> parts[1], parts -> parts[0]));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
