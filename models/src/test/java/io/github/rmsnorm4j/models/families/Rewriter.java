package io.github.rmsnorm4j.models.families;

import io.github.rmsnorm4j.models.rewrite.Goal;
import io.github.rmsnorm4j.models.rewrite.Rewriting;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Wish;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Rewrites models in folders of a temporary folder. */
final class Rewriter {
  private final Path folder;
  private int count;

  Rewriter(Path folder) {
    this.folder = folder;
  }

  TinyModel fold(TinyModel model) throws IOException {
    return rewrite(model, Goal.FOLD, false);
  }

  TinyModel foldUntied(TinyModel model) throws IOException {
    return rewrite(model, Goal.FOLD, true);
  }

  /** Converts; a tied head becomes a matrix of its own. */
  TinyModel convert(TinyModel model) throws IOException {
    return rewrite(model, Goal.CONVERT, true);
  }

  TinyModel rewrite(TinyModel model, Goal goal, boolean untie) throws IOException {
    return HuggingFaceFolder.read(rewrite(write(model, 1), goal, untie));
  }

  Path write(TinyModel model, int shards) throws IOException {
    return HuggingFaceFolder.write(model, folder.resolve("in" + count++), shards);
  }

  /** Rewrites with the proof, and gives the folder of the result. */
  Path rewrite(Path in, Goal goal, boolean untie) throws IOException {
    return rewrite(in, Optional.empty(), goal, untie);
  }

  /** Rewrites by other rules than those of the family. */
  Path rewriteBy(String rules, Path in, Goal goal) throws IOException {
    Path map = Files.writeString(folder.resolve("in-rules" + count++), rules);
    return rewrite(in, Optional.of(map), goal, false);
  }

  private Path rewrite(Path in, Optional<Path> map, Goal goal, boolean untie) throws IOException {
    Path out = folder.resolve("out" + count++);
    try (Rewriting rewriting = Rewriting.open(in, new Wish(goal, map, untie, true))) {
      Rewriting.Result result = rewriting.write(out, true, _ -> {});
      if (!Files.exists(out)) {
        throw new AssertionError("the proof does not hold: " + result.findings());
      }
    }
    return out;
  }
}
