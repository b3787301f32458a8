package io.github.rmsnorm4j.studies;

import io.github.rmsnorm4j.cli.WrongUseException;
import io.github.rmsnorm4j.models.transformer.ModelFolder;
import io.github.rmsnorm4j.models.transformer.Stories260K;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The options for the model that tells stories: its own, or one that was made of it. */
final class StoryModel {
  @Option(
      names = "--model",
      paramLabel = "FOLDER",
      description =
          "Tell with the model in this folder, which must have the vocabulary of stories260K, such"
              + " as one that fold wrote (default: stories260K itself).")
  private Path model;

  @Option(
      names = "--save-model",
      paramLabel = "FOLDER",
      description =
          "Write the model to this folder, as Hugging Face stores models: something to try inspect"
              + " and fold on.")
  private Path saved;

  /** The model's name, as the closing lines show it. */
  String name() {
    return model == null ? "stories260K" : model.toString();
  }

  /**
   * Loads the model and, if that was asked for, saves it.
   *
   * @param vocabulary tokens of the tokenizer
   * @throws WrongUseException if the model has another vocabulary, or cannot be saved
   */
  Weights load(int vocabulary) throws IOException {
    WrongUseException.requireName("--model", model, "a folder");
    WrongUseException.requireName("--save-model", saved, "a folder");
    Weights weights = model == null ? Stories260K.weights() : ModelFolder.load(model);
    try {
      if (weights.config().vocabulary() != vocabulary) {
        throw new WrongUseException(
            "--model %s has %s tokens, it must have the %s of stories260K"
                .formatted(model, weights.config().vocabulary(), vocabulary));
      }
      if (saved != null) {
        ModelFolder.save(saved, weights);
      }
      return weights;
    } catch (FileAlreadyExistsException | IllegalArgumentException e) {
      weights.close();
      throw new WrongUseException("--save-model " + e.getMessage());
    } catch (Throwable e) {
      weights.close();
      throw e;
    }
  }
}
