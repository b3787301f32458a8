package io.github.rmsnorm4j.studies.story;

import io.github.rmsnorm4j.models.transformer.Tokenizer;
import io.github.rmsnorm4j.models.transformer.Weights;
import io.github.rmsnorm4j.report.Records;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What a page and a file of figures hold.
 *
 * @param version of the program
 * @param command that was given
 * @param streams the residual stream of the trained model and, if it was changed, of the other
 * @param comparisons without {@code --compare} none
 */
public record Results(
    String version, String command, List<Stream> streams, List<Comparison> comparisons) {

  /**
   * A value of the rows of one depth.
   *
   * @param low a twentieth of the rows have less
   * @param median half of the rows have less
   * @param high a twentieth of the rows have more
   */
  public record Spread(double low, double median, double high) {}

  /**
   * The residual stream between two blocks.
   *
   * @param depth blocks before it
   * @param rms root mean square of a row
   * @param rho mean^2 / mean square of a row
   */
  public record Depth(int depth, Spread rms, Spread rho) {}

  /**
   * The residual stream of a model on the sample text.
   *
   * @param change of its norms
   * @param loss in nats
   * @param depths from before the first block to after the last
   */
  public record Stream(String change, double loss, List<Depth> depths) {}

  /** Measures the stream of each change. */
  public static List<Stream> streams(Weights trained, Tokenizer tokenizer, List<Change> changes)
      throws IOException {
    List<int[]> windows = SampleText.windows(tokenizer);
    List<Stream> streams = new ArrayList<>();
    for (Change change : changes) {
      StreamProbe probe = new StreamProbe(trained.config().width());
      try (Storyteller teller = new Storyteller(trained, change)) {
        double loss = teller.loss(windows, probe);
        streams.add(new Stream(change.toString(), loss, probe.depths()));
      }
    }
    return streams;
  }

  /** For programs. */
  public String json() {
    return Records.write(this);
  }
}
