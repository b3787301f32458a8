package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.models.rewrite.Goal;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code rmsnorm convert}: a stored model with RMSNorm instead of LayerNorm. {@link FoldRun} does
 * it.
 */
@Command(
    name = "convert",
    description = {
      "Convert a stored model from LayerNorm to RMSNorm, without training, equal up to"
          + " rounding.",
      "",
      "MODEL is a folder of Hugging Face (config.json and .safetensors files) whose norms are"
          + " LayerNorm, before attention and MLP, as in GPT-2 and GPT-NeoX. Gains and biases"
          + " are folded as rmsnorm fold does. Everything that is added to the residual stream is"
          + " centered: its mean becomes 0. So LayerNorm has no mean to subtract, and RMSNorm with"
          + " the same epsilon computes the same.",
      "",
      "OUT has another model_type. This project's transformer loads GPT-2 and GPT-NeoX with it;"
          + " the classes of transformers do not. A head that is tied to the embedding needs"
          + " --untie, because the embedding is centered and the head must not be. OUT is compared"
          + " with MODEL and put in place as with rmsnorm fold.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm convert pythia-160m --to rmsnorm -o converted",
      "  rmsnorm convert gpt2 --to rmsnorm --untie -o converted"
    })
final class Convert implements Callable<Integer> {
  private static final String RMSNORM = "rmsnorm";

  @Option(
      names = "--to",
      paramLabel = "NORM",
      required = true,
      description = "The norm of OUT: rmsnorm.")
  private String to;

  @Mixin private FoldRun run;

  @Override
  public Integer call() throws IOException {
    if (!to.equals(RMSNORM)) {
      throw new WrongUseException("--to is '" + to + "', it may be " + RMSNORM);
    }
    return run.run(Goal.CONVERT);
  }
}
