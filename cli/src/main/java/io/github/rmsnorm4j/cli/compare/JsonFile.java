package io.github.rmsnorm4j.cli.compare;

import io.github.rmsnorm4j.cli.json.Records;
import java.util.List;

/** Results for machines: records become objects whose fields are named as their components. */
public final class JsonFile {
  private JsonFile() {}

  /**
   * What is in the file.
   *
   * @param results all that was measured
   * @param rows what follows from it, a row for each subject and variant, as on the page
   * @param verdicts the sentences
   */
  record Document(Results results, List<Row> rows, Sentences verdicts) {}

  /** The sentences, each answer a list. */
  record Sentences(
      List<String> headline,
      List<String> fusion,
      List<String> overhead,
      List<String> layerNormFused,
      List<String> howKernelsFuse) {
    static Sentences of(Verdicts verdicts) {
      return new Sentences(
          verdicts.headline(),
          verdicts.fusion(),
          verdicts.overhead(),
          verdicts.layerNormFused(),
          verdicts.howKernelsFuse());
    }
  }

  /** The text of the file: JSON, indented. */
  public static String text(Results results) {
    return Records.write(
        new Document(results, Row.all(results), Sentences.of(new Verdicts(results))));
  }
}
