package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nobody can close a file that was refused, so it closes itself. */
class OpenFilesTest {
  @TempDir Path folder;

  private static void assertRefusedAndClosed(Path path) throws IOException {
    OpenFiles.assertNoneIsLeftBy(
        () -> assertThatThrownBy(() -> TensorFile.open(path)).isInstanceOf(FormatException.class));
  }

  @ParameterizedTest
  @ValueSource(strings = {"f4.npy", "mixed.safetensors", "mixed.gguf"})
  void aTruncatedFile(String name) throws IOException {
    byte[] golden = TestFiles.golden(name);
    Path path = folder.resolve(name);
    Files.write(path, Arrays.copyOf(golden, golden.length - 40));
    assertRefusedAndClosed(path);
  }

  @Test
  void aFolderWhoseModelIsOfAnotherKind() throws IOException {
    Files.write(folder.resolve("model.safetensors"), TestFiles.golden("mixed.gguf"));
    assertRefusedAndClosed(folder);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFileThatWasWritten(boolean replace) throws IOException {
    Path target = folder.resolve("out");
    OpenFiles.assertNoneIsLeftBy(
        () -> {
          try (ReplacingFile file = ReplacingFile.create(target, replace)) {
            file.commit();
          }
          Files.delete(target);
        });
  }

  @Test
  void aFileThatWasGivenUp() throws IOException {
    OpenFiles.assertNoneIsLeftBy(() -> ReplacingFile.create(folder.resolve("out"), true).close());
  }
}
