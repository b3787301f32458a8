package io.github.rmsnorm4j.bench;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.rmsnorm4j.cli.ReportOptions;
import io.github.rmsnorm4j.cuda.check.DeviceFile;
import io.github.rmsnorm4j.cuda.check.DeviceResults;
import io.github.rmsnorm4j.cuda.check.Json;
import io.github.rmsnorm4j.cuda.check.ResultText;
import io.github.rmsnorm4j.formats.ReplacingFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The results of GPUs in docs/benchmarks, and docs/gpu.md, whose tables are made from them. */
final class GpuDocs {
  private static final String BEGIN = "<!-- begin check -->\n";
  private static final String END = "<!-- end -->";
  private static final String NONE =
      "\nNothing was measured on a GPU: docs/benchmarks has no results of one.\n\n";
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
          .build();

  private final Path page;
  private final Path folder;

  /** Of a checkout, by its top folder. */
  GpuDocs(Path checkout) {
    page = checkout.resolve("docs/gpu.md");
    folder = checkout.resolve("docs/benchmarks");
  }

  /** Keeps results, instead of those of the same day and device, and makes the page again. */
  Path keep(DeviceResults results) throws IOException {
    Files.createDirectories(folder);
    Path file = folder.resolve(DeviceFile.name(results.date(), results.device().name()));
    replace(file, Json.text(results));
    refresh();
    return file;
  }

  /**
   * Makes the page again from the results that are kept.
   *
   * @return their files
   */
  List<Path> refresh() throws IOException {
    replace(page, rendered());
    return files();
  }

  /** The page as it must be: its own text, and between the markers a section for each file. */
  String rendered() throws IOException {
    String text = Files.readString(page);
    int from = text.indexOf(BEGIN);
    int end = text.indexOf(END, from);
    if (from < 0 || end < 0) {
      throw new IOException(page + " lacks the lines " + BEGIN.strip() + " and " + END);
    }
    StringBuilder tables = new StringBuilder(files().isEmpty() ? NONE : "\n");
    for (Path file : files()) {
      tables.append(text(file));
      tables.append("All results: [%1$s](benchmarks/%1$s).\n\n".formatted(file.getFileName()));
    }
    return text.substring(0, from + BEGIN.length()) + tables + text.substring(end);
  }

  private static String text(Path file) throws IOException {
    try {
      return ResultText.of(JSON.readValue(Files.readString(file), DeviceResults.class));
    } catch (JacksonException e) {
      throw new IOException(
          file + " is damaged, or not a file of results of this version's cuda/check", e);
    }
  }

  /** Newest first. */
  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.toString().endsWith(DeviceFile.ENDING))
          .sorted(Comparator.reverseOrder())
          .toList();
    }
  }

  private static void replace(Path file, String text) throws IOException {
    try (ReplacingFile out = ReplacingFile.create(file, true)) {
      ReportOptions.write(out, text);
    }
  }
}
