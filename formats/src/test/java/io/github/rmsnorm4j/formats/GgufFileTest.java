package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.formats.testing.Allocated;
import io.github.rmsnorm4j.formats.testing.GgufBytes;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GgufFileTest {
  @TempDir Path folder;

  private GgufFile open(GgufBytes content) throws IOException {
    Path path = Files.write(folder.resolve("a.bin"), content.toBytes());
    TensorFile file = TensorFile.open(path);
    assertThat(file).isInstanceOf(GgufFile.class);
    return (GgufFile) file;
  }

  @Test
  void readsWhatGgmlWrites() throws IOException {
    try (TensorFile file = TensorFile.open(TestFiles.golden("mixed.gguf", folder))) {
      assertThat(file.tensors())
          .extracting(Tensor::toString)
          .containsExactly(
              "output_norm.weight f32 [8]",
              "half f16 [2, 3]",
              "brain bf16 [4, 2]",
              "wide f64 [2, 1, 2]",
              "ids i32 [3]",
              "blk.0.q8_0 q8_0 [2, 64]",
              "blk.0.q4_0 q4_0 [2, 64]");
      for (Tensor tensor : file.tensors()) {
        if (tensor.dtype().elementType().isPresent()) {
          assertThat(Values.all(file, tensor)).isEqualTo(Values.ramp((int) tensor.elements()));
        }
      }
      byte[] ids = new byte[12];
      file.readBytes(file.tensor("ids"), 0, MemorySegment.ofArray(ids));
      assertThat(ids).containsExactly(0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0);
      assertThat(file.metadata())
          .containsExactly(
              entry("general.architecture", "llama"),
              entry("llama.block_count", "1"),
              entry("llama.attention.layer_norm_rms_epsilon", "1.0E-5"),
              entry("general.name", "größe \"1\"\n"),
              entry("tokenizer.ggml.add_bos_token", "true"),
              entry("u64", "18446744073709551615"),
              entry("i8", "-5"),
              entry("f64", "0.1"));
      assertThat(((GgufFile) file).fields())
          .containsEntry("tokenizer.ggml.tokens", new GgufValue.Array("string", 3))
          .containsEntry("tokenizer.ggml.scores", new GgufValue.Array("float32", 2));
      assertIsRampOfBlocks(file);
    }
  }

  /**
   * A block of Q8_0 is a float16 and 32 numbers of 8 bits to multiply it with. They are rounded to
   * the nearest multiple of the scale before the scale, of 11 bits, is rounded itself.
   */
  private static void assertIsRampOfBlocks(TensorFile file) throws IOException {
    Tensor tensor = file.tensor("blk.0.q8_0");
    ByteBuffer blocks = ByteBuffer.allocate((int) tensor.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    file.readBytes(tensor, 0, MemorySegment.ofArray(blocks.array()));
    double[] ramp = Values.ramp(128);
    for (int block = 0; block < 4; block++) {
      double scale = Float.float16ToFloat(blocks.getShort());
      for (int i = 0; i < 32; i++) {
        assertThat(scale * blocks.get())
            .isCloseTo(ramp[32 * block + i], within((0.5 + 127 / 2048.0) * scale));
      }
    }
    assertThat(blocks.hasRemaining()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void readsTensorsOfEachFloatingType(int version) throws IOException {
    GgufBytes content =
        new GgufBytes()
            .version(version)
            .tensor("output_norm.weight", GgufBytes.F32, GgufBytes.floats(1, -2.5f, 3), 3)
            .tensor("half", GgufBytes.F16, GgufBytes.halves(0, 1, 2, 3, 4, 5), 2, 3)
            .tensor("brain", GgufBytes.BF16, GgufBytes.bfloats(8, -9), 1, 2)
            .tensor("scalar", GgufBytes.F32, GgufBytes.floats(7));
    try (GgufFile file = open(content)) {
      assertThat(file.tensors())
          .extracting(Tensor::toString)
          .containsExactly(
              "output_norm.weight f32 [3]",
              "half f16 [2, 3]",
              "brain bf16 [1, 2]",
              "scalar f32 []");
      assertThat(Values.all(file, file.tensor("output_norm.weight"))).containsExactly(1, -2.5, 3);
      assertThat(Values.range(file, file.tensor("half"), 3, 3)).containsExactly(3, 4, 5);
      assertThat(Values.all(file, file.tensor("brain"))).containsExactly(8, -9);
      assertThat(Values.all(file, file.tensor("scalar"))).containsExactly(7);
      assertThatThrownBy(() -> file.tensor("x")).hasMessageEndingWith("has no tensor 'x'");
      Tensor stranger = new Tensor("half", Dtype.F16, List.of(6L));
      assertThatThrownBy(() -> Values.all(file, stranger))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void readsMetadataOfEachType() throws IOException {
    GgufBytes content =
        new GgufBytes()
            .text("general.architecture", "llama")
            .uint32("llama.block_count", -1)
            .float32("llama.attention.layer_norm_rms_epsilon", 1e-5f)
            .bool("tokenizer.ggml.add_bos_token", true)
            .bool("tokenizer.ggml.add_eos_token", false)
            .texts("tokenizer.ggml.tokens", "<s>", "", "ü")
            .field("u8", 0, new byte[] {-1})
            .field("i8", 1, new byte[] {-1})
            .field("u16", 2, new byte[] {-1, -1})
            .field("i16", 3, new byte[] {-2, -1})
            .field("i32", 5, GgufBytes.int32(-3))
            .field("u64", 10, GgufBytes.int64(-1))
            .field("i64", 11, GgufBytes.int64(-1))
            .field("f64", 12, GgufBytes.int64(Double.doubleToLongBits(0.1)))
            .field(
                "nested",
                GgufBytes.ARRAY,
                GgufBytes.join(
                    GgufBytes.int32(GgufBytes.ARRAY),
                    GgufBytes.int64(1),
                    GgufBytes.int32(GgufBytes.UINT32),
                    GgufBytes.int64(2),
                    new byte[8]))
            .text("last", "größe\n");
    try (GgufFile file = open(content)) {
      assertThat(file.metadata())
          .containsExactly(
              entry("general.architecture", "llama"),
              entry("llama.block_count", "4294967295"),
              entry("llama.attention.layer_norm_rms_epsilon", "1.0E-5"),
              entry("tokenizer.ggml.add_bos_token", "true"),
              entry("tokenizer.ggml.add_eos_token", "false"),
              entry("u8", "255"),
              entry("i8", "-1"),
              entry("u16", "65535"),
              entry("i16", "-2"),
              entry("i32", "-3"),
              entry("u64", "18446744073709551615"),
              entry("i64", "-1"),
              entry("f64", "0.1"),
              entry("last", "größe\n"));
      Map<String, GgufValue> fields = file.fields();
      assertThat(fields).hasSize(16);
      assertThat(fields.get("tokenizer.ggml.tokens"))
          .isEqualTo(new GgufValue.Array("string", 3))
          .extracting(GgufValue::text)
          .isEqualTo("3 of string");
      assertThat(fields.get("nested")).isEqualTo(new GgufValue.Array("array", 1));
      assertThat(fields.get("llama.attention.layer_norm_rms_epsilon"))
          .isEqualTo(new GgufValue.Real(1e-5f, "1.0E-5"));
      assertThat(fields.get("llama.block_count"))
          .isEqualTo(new GgufValue.Whole(BigInteger.valueOf(0xffffffffL)));
      assertThat(fields.get("tokenizer.ggml.add_bos_token")).isEqualTo(new GgufValue.Truth(true));
      assertThat(fields.get("last")).isEqualTo(new GgufValue.Text("größe\n"));
    }
  }

  /** A tokenizer's template may be longer than what is read of the file at once. */
  @Test
  void readsTextsOfAnyLength() throws IOException {
    String template = "{{ messages }} \u00f6".repeat(5_000);
    String longestKey = "k".repeat(65_535);
    GgufBytes content =
        new GgufBytes().text("tokenizer.chat_template", template).text(longestKey, "next");
    try (GgufFile file = open(content)) {
      assertThat(file.metadata())
          .containsExactly(entry("tokenizer.chat_template", template), entry(longestKey, "next"));
    }
  }

  /** llama.cpp does not look at the bytes; a name that is cut may end within a character. */
  @Test
  void bytesThatAreNotUtf8AreReplaced() throws IOException {
    byte[] overlong = {'a', (byte) 0xc0, (byte) 0xaf};
    GgufBytes content =
        new GgufBytes()
            .field("general.name", GgufBytes.STRING, GgufBytes.join(GgufBytes.int64(3), overlong))
            .text("next", "v");
    try (GgufFile file = open(content)) {
      assertThat(file.metadata())
          .containsExactly(entry("general.name", "a\ufffd\ufffd"), entry("next", "v"));
    }
  }

  @Test
  void labelsAreOneLineOfEachEntry() throws IOException {
    GgufBytes content =
        new GgufBytes()
            .text("general.name", "a\u001b[31m\nb")
            .uint32("k\n", 7)
            .texts("words", "x", "y")
            .text("whole", "x".repeat(80))
            .text("long", "x".repeat(200));
    try (GgufFile file = open(content)) {
      assertThat(file.fieldLabels())
          .containsExactly(
              "general.name: a\\u{1b}[31m\\nb",
              "k\\n: 7",
              "words: 2 of string",
              "whole: " + "x".repeat(80),
              "long: " + "x".repeat(40) + "..." + "x".repeat(40) + " (200 characters)");
    }
  }

  @Test
  void readsAsManyAxesAndEntriesAsAreAllowed() throws IOException {
    GgufBytes content =
        new GgufBytes().tensor("t", GgufBytes.F32, GgufBytes.floats(1, 2), 1, 2, 1, 1);
    for (int i = 0; i < 10_000; i++) {
      content.uint32("key" + i, i);
    }
    try (GgufFile file = open(content)) {
      assertThat(file.metadata()).hasSize(10_000);
      assertThat(file.tensor("t").shape()).containsExactly(1L, 2L, 1L, 1L);
      assertThat(Values.all(file, file.tensor("t"))).containsExactly(1, 2);
    }
  }

  /** Numbers and sizes as ggml has them. */
  @ParameterizedTest
  @CsvSource({
    "0,F32,256,1024",
    "1,F16,256,512",
    "2,Q4_0,32,18",
    "3,Q4_1,32,20",
    "6,Q5_0,32,22",
    "7,Q5_1,32,24",
    "8,Q8_0,32,34",
    "9,Q8_1,32,36",
    "10,Q2_K,256,84",
    "11,Q3_K,256,110",
    "12,Q4_K,256,144",
    "13,Q5_K,256,176",
    "14,Q6_K,256,210",
    "15,Q8_K,256,292",
    "16,IQ2_XXS,256,66",
    "17,IQ2_XS,256,74",
    "18,IQ3_XXS,256,98",
    "19,IQ1_S,256,50",
    "20,IQ4_NL,32,18",
    "21,IQ3_S,256,110",
    "22,IQ2_S,256,82",
    "23,IQ4_XS,256,136",
    "24,I8,256,256",
    "25,I16,256,512",
    "26,I32,256,1024",
    "27,I64,256,2048",
    "28,F64,256,2048",
    "29,IQ1_M,256,56",
    "30,BF16,256,512",
    "34,TQ1_0,256,54",
    "35,TQ2_0,256,66",
    "39,MXFP4,32,17",
    "40,NVFP4,64,36",
    "41,Q1_0,128,18",
    "42,Q2_0,64,18",
  })
  void knowsEveryTypeByItsNumberAndSize(int number, Dtype dtype, long elements, int bytes)
      throws IOException {
    byte[] data = new byte[3 * bytes];
    data[3 * bytes - 1] = 1;
    try (GgufFile file = open(new GgufBytes().tensor("t", number, data, 3, elements))) {
      Tensor tensor = file.tensor("t");
      assertThat(tensor.dtype()).isEqualTo(dtype);
      assertThat(tensor.bytes()).isEqualTo(3L * bytes);
      byte[] read = new byte[bytes];
      file.readBytes(tensor, 2 * bytes, MemorySegment.ofArray(read));
      assertThat(read[bytes - 1]).isOne();
      if (dtype.isBlock()) {
        assertThat(dtype.elementType()).isEmpty();
        assertThatThrownBy(() -> file.read(tensor, 0, 1, MemorySegment.ofArray(new byte[64])))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageEndingWith("is not of a type that is read as elements");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8, 64, 4096})
  void keepsToTheAlignmentOfTheFile(int alignment) throws IOException {
    GgufBytes content =
        new GgufBytes()
            .alignment(alignment)
            .tensor("a", GgufBytes.F16, GgufBytes.halves(1), 1)
            .tensor("b", GgufBytes.F32, GgufBytes.floats(2), 1);
    try (GgufFile file = open(content)) {
      assertThat(Values.all(file, file.tensor("a"))).containsExactly(1);
      assertThat(Values.all(file, file.tensor("b"))).containsExactly(2);
    }
  }

  /** Tokenizers of a quarter of a million words: their texts are passed over, not read. */
  @Tag("measure")
  @Test
  void longListsTakeNoMemory() throws IOException {
    String[] words = new String[100_000];
    Arrays.setAll(words, i -> "word" + i);
    Path path = folder.resolve("a.gguf");
    Files.write(path, new GgufBytes().texts("tokenizer.ggml.tokens", words).toBytes());
    TensorFile.open(path).close();
    long before = Allocated.bytes();
    try (GgufFile file = (GgufFile) TensorFile.open(path)) {
      assertThat(Allocated.bytes() - before).isLessThan(1 << 20);
      assertThat(file.fields().get("tokenizer.ggml.tokens"))
          .isEqualTo(new GgufValue.Array("string", 100_000));
    }
  }

  /** Of a vocabulary alone: no data, and no padding in front of it. */
  @Test
  void aFileWithoutTensorsNeedsNoPadding() throws IOException {
    byte[] content = new GgufBytes().text("a", "b").alignment(1).toBytes();
    try (TensorFile file = TensorFile.of(Path.of("x"), content)) {
      assertThat(file.tensors()).isEmpty();
    }
    byte[] padded = new GgufBytes().text("a", "b").toBytes();
    byte[] cut = Arrays.copyOf(padded, 24 + 9 + 4 + 9);
    try (TensorFile file = TensorFile.of(Path.of("x"), cut)) {
      assertThat(file.metadata()).containsExactly(entry("a", "b"));
    }
  }

  @Test
  void readsTheEndOfALargeFile() throws IOException {
    long rows = (1L << 31) + 5;
    Path path = folder.resolve("a.gguf");
    byte[] header = new GgufBytes().tensor("t", GgufBytes.F32, new byte[0], rows, 1).toBytes();
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.write(header);
      file.setLength(header.length + rows * 4);
      file.seek(header.length + rows * 4 - 4);
      file.write(GgufBytes.floats(5));
    }
    try (TensorFile file = TensorFile.open(path)) {
      assertThat(Values.range(file, file.tensor("t"), rows - 2, 2)).containsExactly(0, 5);
    }
  }
}
