package io.github.rmsnorm4j.bench;

import io.github.rmsnorm4j.cli.ReportOptions;
import io.github.rmsnorm4j.cuda.check.DeviceFile;
import io.github.rmsnorm4j.cuda.check.DeviceResults;
import io.github.rmsnorm4j.cuda.check.Json;
import io.github.rmsnorm4j.cuda.check.ResultText;
import io.github.rmsnorm4j.formats.ReplacingFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What is kept in docs/benchmarks of one GPU: its newest results as JSON, and their tables. */
final class KeptDevice {
  private KeptDevice() {}

  /** Keeps results instead of those of the same device. Returns the JSON file. */
  static Path keep(Path checkout, DeviceResults results) throws IOException {
    Path folder = Files.createDirectories(checkout.resolve("docs/benchmarks"));
    String name = DeviceFile.slug(results.device().name());
    Path file = folder.resolve(name + ".json");
    replace(file, Json.text(results));
    replace(
        folder.resolve(name + ".md"),
        ResultText.of(results).replaceFirst("^### ", "# ")
            + "Raw results: [%1$s.json](%1$s.json).\n".formatted(name));
    return file;
  }

  private static void replace(Path file, String text) throws IOException {
    try (ReplacingFile out = ReplacingFile.create(file, true)) {
      ReportOptions.write(out, text);
    }
  }
}
