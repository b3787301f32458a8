package io.github.rmsnorm4j.studies;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A model whose gains were folded tells the same story. */
class StoryOfFoldedModelTest {
  @TempDir private Path folder;

  /** To the last token, for each way in which the last norm can end. */
  @Test
  void theStoryStaysTheSame() {
    Path model = folder.resolve("model");
    CommandResult saved = CommandResult.of("story", "--save-model", "" + model);
    assertThat(saved.status()).isZero();
    assertThat(saved.out()).hasSizeGreaterThan(300);
    for (List<String> options : List.of(List.<String>of(), List.of("--untie"))) {
      Path out = folder.resolve("out" + options.size());
      List<String> fold = new ArrayList<>(List.of("fold", "" + model, "-o", "" + out));
      fold.addAll(options);
      assertThat(CommandResult.of(fold.toArray(String[]::new)).status()).isZero();
      assertThat(CommandResult.of("story", "--model", "" + out).out()).isEqualTo(saved.out());
    }
  }
}
