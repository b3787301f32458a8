package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * examples/tiny-gpt2 is a GPT-2 with random weights, to try {@code convert} on. It is written again
 * with {@code -Dexamples.write=true}.
 */
class ExampleModelTest {
  private static final Path EXAMPLE = Path.of("..", "examples", "tiny-gpt2");

  @TempDir private Path folder;

  @Test
  void theExampleIsTheOneOfThisTest() throws IOException {
    TinyModel model = Layouts.ALL.get("gpt2").model(StoredType.F32, 1);
    if (Boolean.getBoolean("examples.write")) {
      HuggingFaceFolder.write(model, EXAMPLE, 1);
    }
    HuggingFaceFolder.write(model, folder, 1);
    assertThat(names(EXAMPLE)).isEqualTo(names(folder));
    for (String name : names(folder)) {
      assertThat(EXAMPLE.resolve(name)).hasSameBinaryContentAs(folder.resolve(name));
    }
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }
}
