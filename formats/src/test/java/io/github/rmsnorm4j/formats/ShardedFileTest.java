package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.github.rmsnorm4j.formats.testing.Allocated;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShardedFileTest {
  private static final String FIRST = "model-00001-of-00002.safetensors";
  private static final String SECOND = "model-00002-of-00002.safetensors";

  @TempDir Path temporary;

  private Path folder;
  private Path index;

  @BeforeEach
  void makeFolder() throws IOException {
    folder = Files.createDirectory(temporary.resolve("model"));
    index = folder.resolve("model.safetensors.index.json");
  }

  /** Tensors of one float32, each with the number of its place in all of them. */
  private void shard(String name, int first, String... tensors) throws IOException {
    List<Tensor> all = new ArrayList<>();
    for (String tensor : tensors) {
      all.add(new Tensor(tensor, Dtype.F32, List.of(1L)));
    }
    Map<String, String> metadata = Map.of("format", "pt", "shard", name);
    try (TensorWriter writer = TensorWriter.create(folder.resolve(name), all, metadata, true)) {
      for (int i = 0; i < tensors.length; i++) {
        writer.write(MemorySegment.ofArray(littleEndian(first + i)));
      }
      writer.commit();
    }
  }

  private static byte[] littleEndian(float value) {
    int bits = Float.floatToIntBits(value);
    return new byte[] {(byte) bits, (byte) (bits >> 8), (byte) (bits >> 16), (byte) (bits >> 24)};
  }

  private void index(String weightMap) throws IOException {
    indexOf("{'metadata':{'total_size':8,'by':'x','odd':[1,{}]},'weight_map':{" + weightMap + "}}");
  }

  private void indexOf(String json) throws IOException {
    Files.writeString(index, json.replace('\'', '"'));
  }

  /** Three tensors in two shards. The index names them in an order of its own. */
  private void model() throws IOException {
    shard(FIRST, 0, "z", "a");
    shard(SECOND, 2, "m");
    index("'a':'%1$s','m':'%2$s','z':'%1$s'".formatted(FIRST, SECOND));
  }

  private void assertRefused(String problem) {
    assertThatThrownBy(() -> TensorFile.open(folder).close())
        .isInstanceOf(FormatException.class)
        .hasMessage(index + ": " + problem);
  }

  private void assertReads(TensorFile file) throws IOException {
    assertThat(file).isInstanceOf(ShardedFile.class);
    assertThat(file.tensors()).extracting(Tensor::name).containsExactly("z", "a", "m");
    for (int i = 0; i < 3; i++) {
      Tensor tensor = file.tensors().get(i);
      assertThat(Values.all(file, tensor)).containsExactly(i);
      byte[] bytes = new byte[4];
      file.readBytes(tensor, 0, MemorySegment.ofArray(bytes));
      assertThat(bytes).isEqualTo(littleEndian(i));
    }
  }

  @Test
  void readsAFolderAndItsIndexAlike() throws IOException {
    model();
    for (Path path : List.of(folder, index)) {
      try (TensorFile file = TensorFile.open(path)) {
        assertThat(file.path()).isEqualTo(index);
        assertReads(file);
        assertThat(file.metadata()).containsExactly(entry("format", "pt"));
        ShardedFile sharded = (ShardedFile) file;
        assertThat(sharded.indexMetadata())
            .containsExactly(entry("total_size", "8"), entry("by", "x"));
        assertThat(sharded.shards())
            .extracting(shard -> shard.path().getFileName().toString())
            .containsExactly(FIRST, SECOND);
        assertThatThrownBy(() -> file.tensor("b"))
            .isInstanceOf(FormatException.class)
            .hasMessage(index + ": has no tensor 'b'");
        Tensor stranger = new Tensor("a", Dtype.F32, List.of(2L));
        assertThatThrownBy(() -> file.readBytes(stranger, 0, MemorySegment.ofArray(new byte[1])))
            .isInstanceOf(IllegalArgumentException.class);
      }
    }
  }

  @Test
  void aFolderWithOneFileIsThatFile() throws IOException {
    model();
    shard("model.safetensors", 7, "whole");
    try (TensorFile file = TensorFile.open(folder)) {
      assertThat(file).isInstanceOf(SafetensorsFile.class);
      assertThat(file.path()).isEqualTo(folder.resolve("model.safetensors"));
      assertThat(Values.all(file, file.tensor("whole"))).containsExactly(7);
    }
  }

  @Test
  void aFolderWhoseModelIsOfAnotherKindIsRefused() throws IOException {
    Path model = Files.write(folder.resolve("model.safetensors"), TestFiles.golden("f4.npy"));
    assertThatThrownBy(() -> TensorFile.open(folder).close())
        .isInstanceOf(FormatException.class)
        .hasMessage(model + ": is a .npy file, not .safetensors: rename it");
  }

  @Test
  void aFolderWithoutAModelIsRefused() throws IOException {
    assertThatThrownBy(() -> TensorFile.open(folder).close())
        .hasMessage(
            folder
                + ": is a folder with neither model.safetensors nor model.safetensors.index.json");
    Path config = Files.writeString(folder.resolve("config.json"), "{\"hidden_size\": [64]}");
    assertThatThrownBy(() -> TensorFile.open(config).close())
        .hasMessage(
            config
                + ": has no tensors; config.json alone is not enough: give the folder with the weights (docs/choose.md reads a config.json by hand)");
    assertThatThrownBy(() -> TensorFile.open(folder).close())
        .hasMessageEndingWith(
            "index.json; config.json alone is not enough: give the folder with the weights (docs/choose.md reads a config.json by hand)");
    Path other = Files.writeString(folder.resolve("other.json"), "{\"hidden_size\": [64]}");
    assertThatThrownBy(() -> TensorFile.open(other).close())
        .hasMessage(other + ": the index lacks weight_map, so it is no index of a sharded model");
  }

  /** Hugging Face's cache: a snapshot's files are links to blobs that are named by their hash. */
  @Test
  void linksToBlobsAreFollowed() throws IOException {
    model();
    Path blobs = Files.createDirectory(temporary.resolve("blobs"));
    for (Path file : List.of(index, folder.resolve(FIRST), folder.resolve(SECOND))) {
      Path blob = blobs.resolve(Integer.toHexString(file.getFileName().hashCode()));
      Files.move(file, blob);
      Files.createSymbolicLink(file, Path.of("..", "blobs", blob.getFileName().toString()));
    }
    try (TensorFile file = TensorFile.open(folder)) {
      assertReads(file);
    }
  }

  @Test
  void aWrongTotalSizeIsNotRefused() throws IOException {
    model();
    Files.writeString(index, Files.readString(index).replace(":8", ":-1e99"));
    try (TensorFile file = TensorFile.open(index)) {
      assertThat(((ShardedFile) file).indexMetadata()).containsEntry("total_size", "-1e99");
    }
  }

  @Test
  void closingClosesTheShards() throws IOException {
    model();
    TensorFile file = TensorFile.open(folder);
    Tensor tensor = file.tensor("m");
    file.close();
    assertThatThrownBy(() -> Values.all(file, tensor)).isInstanceOf(IOException.class);
  }

  @Test
  void aRefusedSetIsClosed() throws IOException {
    model();
    Files.write(folder.resolve(SECOND), new byte[8]);
    OpenFiles.assertNoneIsLeftBy(
        () ->
            assertThatThrownBy(() -> TensorFile.open(folder).close())
                .isInstanceOf(FormatException.class));
  }

  @Test
  void indexAndShardsMustAgree() throws IOException {
    model();
    index("'a':'%1$s','m':'%2$s'".formatted(FIRST, SECOND));
    assertRefused("the shard " + FIRST + " has the tensor 'z', which is not in the index");
    index("'a':'%1$s','m':'%2$s','z':'%2$s'".formatted(FIRST, SECOND));
    assertRefused(
        "the shard %s has the tensor 'z', which the index says is in %s".formatted(FIRST, SECOND));
    index("'a':'%1$s','m':'%2$s','z':'%1$s','y':'%2$s'".formatted(FIRST, SECOND));
    assertRefused("the shard " + SECOND + " lacks the tensor 'y', which the index says is there");
  }

  @Test
  void aShardThatIsMissingOrBrokenIsNamed() throws IOException {
    model();
    Path second = folder.resolve(SECOND);
    Files.write(second, new byte[3]);
    assertThatThrownBy(() -> TensorFile.open(folder).close())
        .isInstanceOf(FormatException.class)
        .hasMessage(second + ": has 3 bytes, a .safetensors file has at least 8");
    Files.delete(second);
    assertRefused("names the shard " + SECOND + ", which is missing");
    Files.createSymbolicLink(second, second);
    assertThatThrownBy(() -> TensorFile.open(folder).close()).isInstanceOf(IOException.class);
    Files.delete(second);
    Files.createDirectory(second);
    assertThatThrownBy(() -> TensorFile.open(folder).close())
        .isInstanceOf(FormatException.class)
        .hasMessage(second + ": is a folder, not a file");
  }

  /** An index is no shard, so that a set cannot hold itself. */
  @Test
  void anIndexIsNoShard() throws IOException {
    model();
    Files.copy(index, folder.resolve("again.safetensors"));
    index("'a':'again.safetensors'");
    assertThatThrownBy(() -> TensorFile.open(folder).close())
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("again.safetensors: is text that begins with '{");
  }

  /** The second name has the tensors of the first, which the index cannot name twice. */
  @Test
  void oneFileUnderTwoNamesIsRefused() throws IOException {
    shard("a.safetensors", 0, "t", "u");
    Files.createSymbolicLink(folder.resolve("b.safetensors"), Path.of("a.safetensors"));
    index("'t':'a.safetensors','u':'b.safetensors'");
    assertRefused(
        "the shard a.safetensors has the tensor 'u', which the index says is in b.safetensors");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../x.safetensors",
        "/x.safetensors",
        "a/x.safetensors",
        "..\\\\x.safetensors",
        "C:x.safetensors",
        "..",
        ".",
        "",
        "config.json",
        "x.safetensors/",
        "\\u0000.safetensors",
        "\\u202ex.safetensors",
        "\\n.safetensors"
      })
  void shardsAreFilesInTheSameFolder(String name) throws IOException {
    Files.copy(
        TestFiles.golden("mixed.safetensors", temporary), temporary.resolve("x.safetensors"));
    index("'t':'" + name + "'");
    assertThatThrownBy(() -> TensorFile.open(folder).close())
        .isInstanceOf(FormatException.class)
        .hasMessageStartingWith(index + ": the index names the shard '")
        .hasMessageEndingWith("', allowed are plain names of .safetensors files next to the index");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "[]; the index has something else where it should have an object",
        "``; the file is empty",
        "{'weight_map':[]}; the index has something else where it should have an object as"
            + " weight_map",
        "{'weight_map':{'a':1}}; the index has something else where it should have only names of"
            + " files in weight_map",
        "{'weight_map':{'a':{}}}; the index has something else where it should have only names of"
            + " files in weight_map",
        "{'weight_map':{'a':'x.safetensors','\\u0061':'x.safetensors'}}; the index has 'a' twice in"
            + " weight_map",
        "{'weight_map':{},'weight_map':{}}; the index has weight_map twice",
        "{'metadata':{},'metadata':{}}; the index has metadata twice",
        "{'metadata':{'a':1,'a':1}}; the index has 'a' twice in metadata",
        "{'metadata':null}; the index has something else where it should have an object as"
            + " metadata",
        "{'metadata':{}}; the index lacks weight_map, so it is no index of a sharded model",
        "{'weight_map':{'a':'x.safetensors'; the index ends before its JSON does",
        "{'weight_map':{}} {}; the index continues after its end",
        "{'weight_map':{'\\ud800':'x.safetensors'}}; the index has half a character in"
            + " '\\u{d800}'",
      })
  void indexThatIsNotWhatItShouldBe(String json, String problem) throws IOException {
    indexOf(json);
    assertRefused(problem);
  }

  private void assertRefusedInLittleMemory(String problem) {
    long before = Allocated.bytes();
    assertRefused(problem);
    assertThat(Allocated.bytes() - before).isLessThan(1 << 20);
  }

  @Tag("measure")
  @Test
  void anIndexIsShorterThanAHundredMegabytes() throws IOException {
    String noJson = "the index is not JSON at character 0";
    byte[] most = new byte[100_000_000];
    Arrays.fill(most, (byte) ']');
    Files.write(index, Arrays.copyOf(most, 100));
    assertRefused(noJson); // The first loads classes, which allocates nearly as much as any may.
    Files.write(index, most);
    assertRefusedInLittleMemory(noJson);
    Files.write(index, new byte[100_000_001]);
    assertRefusedInLittleMemory("is an index of 100000001 bytes, at most 100000000 are read");
  }

  @Test
  void thereAreAtMostAThousandShards() throws IOException {
    StringBuilder map = new StringBuilder("'t':'0.safetensors'");
    for (int i = 1; i <= 1000; i++) {
      map.append(",'t%d':'%d.safetensors'".formatted(i, i));
    }
    index(map.toString());
    assertRefused("the index has more than 1000 shards");
    index(map.substring(0, map.lastIndexOf(",")));
    assertRefused("names the shard 0.safetensors, which is missing");
  }

  @Test
  void aNameMayBeAsLongAsFileSystemsAllow() throws IOException {
    String longest = "x".repeat(255 - ".safetensors".length()) + ".safetensors";
    shard("short.safetensors", 5, "t");
    Files.move(folder.resolve("short.safetensors"), folder.resolve(longest));
    index("'t':'" + longest + "'");
    try (TensorFile file = TensorFile.open(index)) {
      assertThat(Values.all(file, file.tensor("t"))).containsExactly(5);
    }
    index("'t':'x" + longest + "'");
    assertThatThrownBy(() -> TensorFile.open(index).close())
        .isInstanceOf(FormatException.class)
        .hasMessageStartingWith(index + ": the index names the shard 'x")
        .hasMessageEndingWith("', allowed are plain names of .safetensors files next to the index");
  }

  @Test
  void anIndexThatIsNotUtf8IsRefused() throws IOException {
    indexOf("{'weight_map':{'??':'x.safetensors'}}");
    String text = Files.readString(index, StandardCharsets.ISO_8859_1);
    Files.writeString(index, text.replace("??", "\u00c0\u00af"), StandardCharsets.ISO_8859_1);
    assertRefused("the index is not UTF-8");
  }
}
