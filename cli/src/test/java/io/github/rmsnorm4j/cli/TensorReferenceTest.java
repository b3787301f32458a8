package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TensorReferenceTest {
  @TempDir Path folder;

  private void assertParsed(String text, Path file, String name) {
    assertThat(TensorReference.parse("FILE", text)).isEqualTo(new TensorReference(file, name));
  }

  @Test
  void splitsBehindTheFile() throws IOException {
    Path file = Files.createFile(folder.resolve("m.safetensors"));
    Path odd = Files.createFile(folder.resolve("a:b.bin"));
    assertParsed(file.toString(), file, null);
    assertParsed(file + ":a", file, "a");
    assertParsed(file + ":a:b.safetensors:c", file, "a:b.safetensors:c");
    assertParsed(file + ":", file, "");
    assertParsed(odd.toString(), odd, null);
    assertParsed(odd + ":a", odd, "a");
  }

  @Test
  void splitsBehindAFolder() throws IOException {
    Path model = Files.createDirectory(folder.resolve("model"));
    assertParsed(model.toString(), model, null);
    assertParsed(model + ":model.norm.weight", model, "model.norm.weight");
    Path index = model.resolve("model.safetensors.index.json");
    assertParsed(index + ":a", index, "a");
  }

  @Test
  void guessesWhereThereIsNoFile() {
    assertParsed("none.npy", Path.of("none.npy"), null);
    assertParsed("none.safetensors:a:b", Path.of("none.safetensors"), "a:b");
    assertParsed("none.gguf:a.safetensors:b", Path.of("none.gguf"), "a.safetensors:b");
    assertParsed("none:a", Path.of("none:a"), null);
  }
}
