package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SafetensorsFileTest {
  @TempDir Path folder;

  private TensorFile open(byte[] content) throws IOException {
    return TensorFile.open(Files.write(folder.resolve("a.safetensors"), content));
  }

  @Test
  void readsWhatTheReferenceWrites() throws IOException {
    try (TensorFile file = open(TestFiles.golden("mixed.safetensors"))) {
      assertThat(file.tensors())
          .extracting(Tensor::toString)
          .containsExactly(
              "ids i64 [2, 1]",
              "wide f64 [2]",
              "hidden f32 [2, 3]",
              "nothing f32 [0, 4]",
              "scalar f32 []",
              "model.norm.weight bf16 [8]",
              "half f16 [3]",
              "größe \"1\"\\n u8 [1]",
              "mask bool [3]");
      assertThat(file.metadata())
          .containsOnly(entry("format", "pt"), entry("note", "é \"quoted\" \\ and\ttabbed"));
      for (Tensor tensor : file.tensors()) {
        if (tensor.dtype().elementType().isPresent()) {
          assertThat(Values.all(file, tensor)).isEqualTo(Values.ramp((int) tensor.elements()));
        }
      }
      byte[] mask = new byte[2];
      file.readBytes(file.tensor("mask"), 1, MemorySegment.ofArray(mask));
      assertThat(mask).containsExactly(0, 1);
    }
  }

  @Test
  void bytesInMemoryAreReadAsAFileIs() throws IOException {
    byte[] content = TestFiles.golden("mixed.safetensors");
    Path name = Path.of("inside", "mixed.safetensors");
    try (TensorFile file = TensorFile.of(name, content);
        TensorFile same = open(content)) {
      assertThat(file.path()).isEqualTo(name);
      assertThat(file.tensors()).isEqualTo(same.tensors());
      assertThat(file.metadata()).isEqualTo(same.metadata());
      for (Tensor tensor : file.tensors()) {
        byte[] bytes = new byte[(int) tensor.bytes()];
        byte[] expected = new byte[bytes.length];
        file.readBytes(tensor, 0, MemorySegment.ofArray(bytes));
        same.readBytes(tensor, 0, MemorySegment.ofArray(expected));
        assertThat(bytes).isEqualTo(expected);
      }
    }
    byte[] cut = Arrays.copyOf(content, content.length - 1);
    assertThatThrownBy(() -> TensorFile.of(name, cut))
        .isInstanceOf(FormatException.class)
        .hasMessageStartingWith(name + ": is truncated");
    assertThatThrownBy(() -> TensorFile.of(Path.of("x"), new byte[0]))
        .hasMessage("x: the file is empty");
  }

  @Test
  void readsAFileWithoutTensors() throws IOException {
    try (TensorFile file = open(TestFiles.golden("nothing.safetensors"))) {
      assertThat(file.tensors()).isEmpty();
      assertThat(file.metadata()).isEmpty();
    }
  }

  @Test
  void keepsTheOrderOfTheHeaderWhateverTheOrderOfTheData() throws IOException {
    String header =
        "{%s,%s,%s}  "
            .formatted(
                TestFiles.entry("z", "F32", "[1]", 4, 8),
                TestFiles.entry("a", "F32", "[]", 0, 4),
                "\"__metadata__\":{\"z\":\"1\",\"a\":\"2\"}");
    byte[] content = TestFiles.safetensors(header, 8);
    content[content.length - 8 + 3] = 0x40; // 2.0, the first in the data
    try (TensorFile file = open(content)) {
      assertThat(file.tensors()).extracting(Tensor::name).containsExactly("z", "a");
      assertThat(file.metadata()).containsExactly(entry("z", "1"), entry("a", "2"));
      assertThat(Values.all(file, file.tensor("a"))).containsExactly(2.0);
      assertThat(Values.all(file, file.tensor("z"))).containsExactly(0.0);
    }
  }

  /** The reference implementation passes over other fields, and takes null for no metadata. */
  @Test
  void readsWhatTheReferenceReads() throws IOException {
    String deep = "[".repeat(120) + "]".repeat(120);
    String t = TestFiles.entry("t", "F32", "[1]", 0, 4).replace("}", ",\"x\":%s}".formatted(deep));
    String u =
        TestFiles.entry("u", "F32", "[1]", 4, 8).replace("{", "{\"y\":{\"shape\":1},\"y\":0,");
    String header = "{\"__metadata__\":null,%s,%s}".formatted(t, u);
    try (TensorFile file = open(TestFiles.safetensors(header, 8))) {
      assertThat(file.metadata()).isEmpty();
      assertThat(file.tensors())
          .extracting(Tensor::toString)
          .containsExactly("t f32 [1]", "u f32 [1]");
    }
  }

  @ParameterizedTest
  @EnumSource
  void knowsEveryTypeByItsSize(Dtype dtype) throws IOException {
    if (dtype.isBlock()) {
      byte[] content =
          TestFiles.safetensors("{" + TestFiles.entry("t", dtype.name(), "[0]", 0, 0) + "}", 0);
      assertThatThrownBy(() -> open(content))
          .hasMessageEndingWith("tensor 't' has the unknown dtype '" + dtype + "'");
      return;
    }
    String header = "{" + TestFiles.entry("t", dtype.name(), "[3, 4]", 0, dtype.bits() * 12 / 8);
    try (TensorFile file = open(TestFiles.safetensors(header + "}", dtype.bits() * 12 / 8))) {
      assertThat(file.tensor("t").dtype()).isEqualTo(dtype);
      assertThat(file.tensor("t").bytes()).isEqualTo(dtype.bits() * 12 / 8);
    }
  }

  @Test
  void anExtensionIsNotNeeded() throws IOException {
    Path path = TestFiles.golden("mixed.safetensors", folder);
    Path other = Files.move(path, folder.resolve("weights.bin"));
    try (TensorFile file = TensorFile.open(other)) {
      assertThat(file).isInstanceOf(SafetensorsFile.class);
    }
  }
}
