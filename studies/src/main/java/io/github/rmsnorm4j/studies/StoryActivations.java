package io.github.rmsnorm4j.studies;

import io.github.rmsnorm4j.cli.ReportOptions;
import io.github.rmsnorm4j.cli.WrongUseException;
import io.github.rmsnorm4j.models.transformer.Weights;
import io.github.rmsnorm4j.studies.story.Activations;
import io.github.rmsnorm4j.studies.story.Change;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;

/** The option that keeps activations of the model that tells stories. */
final class StoryActivations {
  private static final String ENDING = ".safetensors";

  @Option(
      names = "--activations",
      paramLabel = "FILE.safetensors",
      description =
          "Write the residual stream on three short stories to this file, with the gains of the"
              + " norms: rows for stats, normalize and gradient.")
  private Path file;

  /**
   * Begins the file.
   *
   * @return the file, null if none was asked for
   * @throws WrongUseException if it cannot be begun
   */
  Activations begin(Weights trained, Change change, List<int[]> windows, boolean force)
      throws IOException {
    if (file == null) {
      return null;
    }
    ReportOptions.requireName("--activations", file, ENDING);
    return WrongUseException.begun(
        "--activations", () -> new Activations(file, trained, change, windows, force));
  }
}
