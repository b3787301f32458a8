package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.models.rewrite.Goal;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code rmsnorm fold}: a stored model whose norms have no gain. {@link FoldRun} does it. */
@Command(
    name = "fold",
    description = {
      "Fold the gains of a stored model's norms into the matrices that take their outputs.",
      "",
      "MODEL is a folder of Hugging Face (config.json and .safetensors files). It is never written"
          + " to. In OUT every folded gain is 1 (0 where it is stored as g - 1), and the model"
          + " computes the same logits up to rounding. Norms whose outputs go elsewhere keep their"
          + " gains, and the command says why. A LayerNorm's bias is folded into the biases of the"
          + " matrices. Numbers are computed in float64 and rounded once to their stored type. All"
          + " other tensors and files are copied. Folders and a second set of the same weights are"
          + " not. Links to files of MODEL become files. A link to a file elsewhere is refused,"
          + " except to a blob in the cache of Hugging Face.",
      "",
      "Then OUT is compared with MODEL, as both are stored. If a difference is larger than its"
          + " bound, nothing is put in place. OUT grows in the folder OUT.partial, which a killed"
          + " command leaves behind: delete it then.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm fold Llama-3.2-1B -o folded",
      "  rmsnorm fold Llama-3.2-1B -o folded --untie",
      "  rmsnorm fold my-model -o folded --map rules.json"
    })
final class Fold implements Callable<Integer> {
  @Mixin private FoldRun run;

  @Override
  public Integer call() throws IOException {
    return run.run(Goal.FOLD);
  }
}
