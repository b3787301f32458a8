package io.github.rmsnorm4j.models.families;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests that rewrite models in a folder that is deleted afterwards. */
abstract class WithRewriter {
  @TempDir Path folder;
  Rewriter rewriter;

  @BeforeEach
  final void newRewriter() {
    rewriter = new Rewriter(folder);
  }
}
