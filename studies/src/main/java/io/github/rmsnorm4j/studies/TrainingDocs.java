package io.github.rmsnorm4j.studies;

import io.github.rmsnorm4j.cli.ReportOptions;
import io.github.rmsnorm4j.formats.ReplacingFile;
import io.github.rmsnorm4j.measure.MarkedFigures;
import io.github.rmsnorm4j.studies.train.KeptTrainings;
import io.github.rmsnorm4j.studies.train.Plan;
import io.github.rmsnorm4j.studies.train.ReportPage;
import io.github.rmsnorm4j.studies.train.Results;
import io.github.rmsnorm4j.studies.train.TrainingPage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The results in docs/training, and the pages that are made from them. */
final class TrainingDocs {
  private final Path checkout;
  private final Path docs;

  /** Of a checkout, by its top folder. */
  TrainingDocs(Path checkout) {
    this.checkout = checkout;
    docs = checkout.resolve("docs");
  }

  /** Keeps results instead of those of the same plan, and makes the pages again. */
  void keep(Results results) throws IOException {
    Files.createDirectories(docs.resolve("training"));
    replace(file(results.plan().kind(), ".json"), results.json());
    refresh();
  }

  /**
   * Makes the pages again from the results that are kept. The sentences in their JSON are made
   * again too.
   *
   * @return the plans that there are results of
   */
  List<Plan.Kind> refresh() throws IOException {
    Path page = docs.resolve("training.md");
    List<Plan.Kind> made = new ArrayList<>();
    for (Plan.Kind kind : Plan.Kind.values()) {
      Path json = file(kind, ".json");
      if (Files.exists(json)) {
        Results results = Results.parse(Files.readString(json));
        replace(json, results.json());
        replace(file(kind, ".html"), new ReportPage(results).page().html());
        replace(page, TrainingPage.with(Files.readString(page), results));
        made.add(kind);
      }
    }
    KeptTrainings figures = new KeptTrainings(docs);
    for (Path marked : MarkedFigures.pages(checkout)) {
      replace(marked, MarkedFigures.with(Files.readString(marked), figures));
    }
    return made;
  }

  private Path file(Plan.Kind kind, String ending) {
    return docs.resolve("training").resolve(TrainingPage.name(kind) + ending);
  }

  private static void replace(Path file, String text) throws IOException {
    try (ReplacingFile out = ReplacingFile.create(file, true)) {
      ReportOptions.write(out, text);
    }
  }
}
