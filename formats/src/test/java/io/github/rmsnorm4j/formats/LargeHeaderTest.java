package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Headers of nearly 100 MB in a small heap, and names that a locale does not have. */
class LargeHeaderTest {
  @TempDir private Path folder;

  /** In MiB: four times what it takes to refuse a header. */
  private int heap = 256;

  private static String object(int entries, IntFunction<String> entry) {
    return IntStream.range(0, entries).mapToObj(entry).collect(Collectors.joining(",", "{", "}"));
  }

  private String header(String json) throws IOException {
    return OpeningProcess.open(
        Files.write(folder.resolve("x.safetensors"), TestFiles.safetensors(json, 0)), heap);
  }

  private String index(String json) throws IOException {
    return OpeningProcess.open(
        Files.writeString(folder.resolve("model.safetensors.index.json"), json), heap);
  }

  @Test
  void millionsOfEntriesOfMetadata() throws IOException {
    String metadata = object(5_000_000, i -> "\"" + i + "\":\"\"");
    assertThat(header("{\"__metadata__\":" + metadata + "}"))
        .endsWith("x.safetensors: the header has more than 10000 entries in __metadata__");
    assertThat(index("{\"metadata\":" + metadata + "}"))
        .endsWith("index.json: the index has more than 10000 entries in metadata");
  }

  @Test
  void longEntriesOfMetadata() throws IOException {
    String metadata = object(9, i -> "\"%d\":\"%s\"".formatted(i, "x".repeat(10_000_000)));
    assertThat(header("{\"__metadata__\":" + metadata + "}"))
        .endsWith("x.safetensors: the header has more than 16777216 characters in __metadata__");
  }

  @Test
  void anIndexOfMillionsOfTensors() throws IOException {
    heap = 512; // Twice what two million names take.
    String map = object(3_000_000, i -> "\"" + i + "\":\"x.safetensors\"");
    assertThat(index("{\"weight_map\":" + map + "}"))
        .endsWith("index.json: the index has more than 2000000 tensors");
  }

  /** More than the largest models have, with names as long as theirs. */
  @Tag("long")
  @Test
  void moreTensorsThanAnyModelHas() throws IOException {
    heap = 768; // Twice what the tensors of an index and of its file take.
    IntFunction<String> name =
        i -> "\"model.layers." + i + ".mlp.experts.gate_proj.weight_scale\":";
    String tensor = "{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}";
    assertThat(header(object(700_000, i -> name.apply(i) + tensor))).isEqualTo("opened");
    String map = object(700_000, i -> name.apply(i) + "\"x.safetensors\"");
    assertThat(index("{\"weight_map\":" + map + "}")).isEqualTo("opened");
  }

  @Test
  void aNameThatTheLocaleDoesNotHave() throws IOException {
    String json = "{\"weight_map\":{\"a\":\"größe.safetensors\"}}";
    assertThat(index(json))
        .endsWith(
            "index.json: names the shard größe.safetensors, a name that no file can have in this"
                + " locale");
  }
}
