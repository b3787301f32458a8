package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.testing.GgufBytes;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.StoredModel;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The norms of GGUF files are those that llama.cpp computes. */
class PublishedGgufNormsTest {
  @TempDir private Path folder;

  static Stream<String> architectures() throws IOException {
    try (InputStream in =
        PublishedGgufNormsTest.class.getResourceAsStream("published-gguf-norms.txt")) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return Arrays.stream(text.strip().split("\n\n")).filter(block -> !block.startsWith("#"));
    }
  }

  @ParameterizedTest
  @MethodSource("architectures")
  void aFileHasTheNorms(String block) throws IOException {
    List<String> lines = block.lines().toList();
    String architecture = lines.getFirst();
    GgufBytes gguf =
        new GgufBytes()
            .text("general.architecture", architecture)
            .uint32(architecture + ".block_count", 1)
            .uint32(architecture + ".embedding_length", 4)
            .float32(architecture + ".attention.layer_norm_rms_epsilon", 1e-3f)
            .float32(architecture + ".attention.layer_norm_epsilon", 1e-3f)
            .tensor("token_embd.weight", GgufBytes.F32, new byte[32], 2, 4);
    Map<String, NormSpec> expected = new TreeMap<>();
    for (String line : lines.subList(1, lines.size())) {
      int colon = line.indexOf(": ");
      for (String word : line.substring(colon < 0 ? 0 : colon + 2).split(" ")) {
        String name = word.replace("/2", "");
        name = name.startsWith(".") ? name.substring(1) : "blk.0." + name;
        boolean vector = colon >= 0 && !word.endsWith("/2");
        long[] shape = {word.endsWith("_exps") ? 2 : 1, vector ? 1 : 4, 4};
        int axes = vector ? 1 : word.endsWith("_exps") ? 3 : 2;
        gguf.tensor(
            name + ".weight",
            GgufBytes.F32,
            new byte[(int) (4 * shape[0] * shape[1] * shape[2])],
            Arrays.copyOfRange(shape, 3 - axes, 3));
        if (colon >= 0) {
          assertThat(expected.put(name, NormSpec.parse(line.substring(0, colon)))).isNull();
        }
      }
    }
    Path file = Files.write(folder.resolve("model.gguf"), gguf.toBytes());
    try (StoredModel stored = StoredModel.open(file)) {
      Inspection found = Inspection.of(stored, Optional.empty());
      assertThat(found.model().unknown()).isEmpty();
      assertThat(found.remarks()).isEmpty();
      Map<String, NormSpec> norms = new TreeMap<>();
      found.norms().forEach(norm -> norms.put(norm.site().name(), norm.site().spec()));
      assertThat(norms).isEqualTo(expected);
      assertThat(found.norms()).hasSameSizeAs(norms.keySet());
    }
  }
}
