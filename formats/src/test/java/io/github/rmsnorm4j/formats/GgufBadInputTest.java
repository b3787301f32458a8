package io.github.rmsnorm4j.formats;

import static io.github.rmsnorm4j.formats.testing.GgufBytes.ARRAY;
import static io.github.rmsnorm4j.formats.testing.GgufBytes.F32;
import static io.github.rmsnorm4j.formats.testing.GgufBytes.Q4_0;
import static io.github.rmsnorm4j.formats.testing.GgufBytes.STRING;
import static io.github.rmsnorm4j.formats.testing.GgufBytes.UINT32;
import static io.github.rmsnorm4j.formats.testing.GgufBytes.floats;
import static io.github.rmsnorm4j.formats.testing.GgufBytes.int32;
import static io.github.rmsnorm4j.formats.testing.GgufBytes.int64;
import static io.github.rmsnorm4j.formats.testing.GgufBytes.join;
import static io.github.rmsnorm4j.formats.testing.GgufBytes.string;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.testing.GgufBytes;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GgufBadInputTest {

  @TempDir Path folder;

  private void assertRefused(GgufBytes content, String problem) throws IOException {
    assertRefused(content.toBytes(), problem);
  }

  private void assertRefused(byte[] content, String problem) throws IOException {
    assertRefused(Files.write(folder.resolve("a.gguf"), content), problem);
  }

  void assertRefused(Path path, String problem) {
    assertThatThrownBy(() -> TensorFile.open(path).close())
        .isInstanceOf(FormatException.class)
        .hasMessage(path + ": " + problem);
  }

  @Test
  void versionsThatAreNotRead() throws IOException {
    assertRefused(new GgufBytes().version(1), "is GGUF of version 1, known are 2 and 3");
    assertRefused(new GgufBytes().version(4), "is GGUF of version 4, known are 2 and 3");
    assertRefused(new GgufBytes().version(0), "is GGUF of version 0, known are 2 and 3");
    assertRefused(new GgufBytes().version(-1), "is GGUF of version 4294967295, known are 2 and 3");
    assertRefused(
        new GgufBytes().version(0x03000000),
        "is a big-endian GGUF file, only little-endian ones are read");
  }

  @Test
  void truncatedFile() throws IOException {
    byte[] whole = new GgufBytes().text("key", "value").tensor("t", F32, floats(1, 2), 2).toBytes();
    assertRefused(Arrays.copyOf(whole, 4), "ends within the GGUF header: it is truncated");
    assertRefused(Arrays.copyOf(whole, 15), "ends within the GGUF header: it is truncated");
    for (int length = 24; length < whole.length - 24; length++) {
      Path path = Files.write(folder.resolve("a.gguf"), Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> TensorFile.open(path).close()).isInstanceOf(FormatException.class);
    }
    assertRefused(
        Arrays.copyOf(whole, whole.length - 25),
        "tensor 't' needs 8 bytes from byte 0 of the data on, and there are 7: the file is"
            + " truncated");
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 32, 40})
  void countsAboveWhatTheFileHolds(long count) throws IOException {
    String text = Long.toUnsignedString(count);
    assertRefused(
        new GgufBytes().fieldCount(count).text("k", "v"),
        "has a count of "
            + text
            + " entries of metadata, and 40 bytes left for them: it is truncated or damaged");
    assertRefused(
        new GgufBytes().tensorCount(count).text("k", "v"),
        "has a count of "
            + text
            + " tensors, and 48 bytes left for them: it is truncated or damaged");
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 31, 8})
  void lengthsAboveWhatTheFileHolds(long length) throws IOException {
    String characters =
        "has a count of %s characters, and 7 bytes left for them: it is truncated or damaged"
            .formatted(Long.toUnsignedString(length));
    byte[] end = join(int64(length), new byte[7]);
    assertRefused(aligned().field("k", STRING, end), characters);
    assertRefused(aligned().field("k", ARRAY, join(int32(STRING), int64(1), end)), characters);
    assertRefused(
        aligned().field("k", ARRAY, join(int32(0), end)),
        "has a count of %s elements of 'k', and 7 bytes left for them: it is truncated or damaged"
            .formatted(Long.toUnsignedString(length)));
  }

  /** With nothing behind the metadata. */
  private static GgufBytes aligned() {
    return new GgufBytes().alignment(1);
  }

  @Test
  void countsTimesSizesThatOverflow() throws IOException {
    for (int type : new int[] {UINT32, 10, STRING, ARRAY}) {
      byte[] end = join(int32(type), int64(1L << 62), new byte[8]);
      assertRefused(
          aligned().field("k", ARRAY, end),
          "has a count of 4611686018427387904 elements of 'k', and 8 bytes left for them: it is truncated or damaged");
    }
  }

  /** Each of them is in the file, and still there are more than any model has. */
  @Test
  void aMillionEntriesOfMetadata() throws IOException {
    byte[] fields = new byte[16 * 1_000_000];
    assertRefused(
        join(new GgufBytes().fieldCount(1_000_000).alignment(0).toBytes(), fields),
        "has 1000000 entries of metadata, at most 10000 are read");
  }

  @Test
  void moreTensorsThanAnyModelHas() throws IOException {
    Path path = folder.resolve("a.gguf");
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.write(new GgufBytes().tensorCount(2_000_001).toBytes());
      file.setLength(1L << 32);
    }
    assertRefused(path, "has 2000001 tensors, at most 2000000 are read");
  }

  /** A list of empty texts in a sparse file: the time to pass over it is limited too. */
  @Test
  void aListWithoutEnd() throws IOException {
    Path path = folder.resolve("a.gguf");
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.write(new GgufBytes().field("k", ARRAY, join(int32(STRING), int64(1L << 36))).toBytes());
      file.setLength(1L << 40);
    }
    assertRefused(path, "has a GGUF header of more than 100000000 bytes");
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.write(new GgufBytes().field("k", ARRAY, join(int32(0), int64(1L << 36))).toBytes());
    }
    assertRefused(path, "has a GGUF header of more than 100000000 bytes");
  }

  @Test
  void listsWithinLists() throws IOException {
    byte[] nested = join(int32(0), int64(0));
    for (int depth = 1; depth < 4; depth++) {
      nested = join(int32(ARRAY), int64(1), nested);
    }
    byte[] deep = new GgufBytes().field("k", ARRAY, nested).toBytes();
    TensorFile.of(Path.of("x"), deep).close();
    String tooDeep = "the metadata 'k' has lists within lists, at most 4 deep are read";
    assertRefused(new GgufBytes().field("k", ARRAY, join(int32(ARRAY), int64(1), nested)), tooDeep);
    byte[][] endless = new byte[100_000][];
    Arrays.fill(endless, join(int32(ARRAY), int64(1)));
    assertRefused(new GgufBytes().field("k", ARRAY, join(endless)), tooDeep);
  }

  @Test
  void duplicateNames() throws IOException {
    assertRefused(new GgufBytes().text("k", "v").uint32("k", 1), "the metadata 'k' is there twice");
    assertRefused(
        new GgufBytes().tensor("t", F32, floats(1), 1).tensor("t", F32, floats(1), 1),
        "has two tensors named 't'");
  }

  @Test
  void valuesThatAreNotWhatTheyShouldBe() throws IOException {
    assertRefused(
        new GgufBytes().field("k", 13, new byte[0]),
        "the metadata 'k' has a value of the unknown type 13, known are 0 to 12");
    assertRefused(
        new GgufBytes().field("k", ARRAY, join(int32(-1), int64(0))),
        "the metadata 'k' has a value of the unknown type 4294967295, known are 0 to 12");
    assertRefused(
        new GgufBytes().field("k", GgufBytes.BOOL, new byte[] {2}),
        "the metadata 'k' is the truth value 2, it must be 0 or 1");
    assertRefused(
        new GgufBytes().text("k".repeat(65_536), ""),
        "has a text of 65536 bytes at byte 24, at most 65535 are read");
    assertRefused(
        new GgufBytes().field("k", STRING, join(int64((16 << 20) + 1), new byte[(16 << 20) + 1])),
        "has a text of 16777217 bytes at byte 37, at most 16777216 are read");
  }

  @Test
  void alignmentsThatAreNone() throws IOException {
    for (int alignment : new int[] {0, 3, 48, -1}) {
      assertRefused(
          new GgufBytes().uint32("general.alignment", alignment),
          "the metadata 'general.alignment' is %s of type uint32, it must be a power of two of type"
                  .formatted(Integer.toUnsignedString(alignment))
              + " uint32");
    }
    assertRefused(
        new GgufBytes().text("general.alignment", "32"),
        "the metadata 'general.alignment' is 32 of type string, it must be a power of two of type"
            + " uint32");
    assertRefused(
        new GgufBytes().uint32("general.alignment", 1 << 31).tensor("t", F32, floats(1), 1),
        "tensor 't' needs 4 bytes from byte 0 of the data on, and there are 0: the file is"
            + " truncated");
  }

  @Test
  void tensorsThatAreNotWhatTheyShouldBe() throws IOException {
    assertRefused(new GgufBytes().tensor("t", 4, new byte[0]), "tensor 't' has the unknown type 4");
    assertRefused(
        new GgufBytes().tensor("t", -1, new byte[0]), "tensor 't' has the unknown type 4294967295");
    assertRefused(
        new GgufBytes().tensor("t", F32, new byte[0], 0, 0, 0, 0, 0),
        "tensor 't' has 5 axes, GGUF allows 4");
    assertRefused(
        new GgufBytes().tensor("t", F32, new byte[0], 0, -1),
        "tensor 't' has a negative length in its shape [0, -1]");
    assertRefused(
        new GgufBytes().tensor("t", F32, new byte[0], 1L << 32, 1L << 32, 0),
        "tensor 't' has the shape [4294967296, 4294967296, 0], whose size in bytes overflows 64"
            + " bits");
    assertRefused(
        new GgufBytes().tensor("t", Q4_0, new byte[18], 2, 16),
        "tensor 't' has rows of 16 elements, Q4_0 has blocks of 32");
    assertRefused(
        new GgufBytes().tensor("t", Q4_0, new byte[18]),
        "tensor 't' has rows of 1 elements, Q4_0 has blocks of 32");
  }

  @Test
  void placesThatAreWrong() throws IOException {
    for (long offset : new long[] {-32, Long.MIN_VALUE, Long.MAX_VALUE - 31, 64}) {
      assertRefused(
          new GgufBytes().tensorAt(offset, "t", F32, floats(1), 1),
          "tensor 't' needs 4 bytes from byte %s of the data on, and there are 32: the file is"
                  .formatted(Long.toUnsignedString(offset))
              + " truncated");
    }
    assertRefused(
        new GgufBytes().tensorAt(8L, "t", F32, floats(1), 1),
        "tensor 't' begins at byte 8, which is no multiple of the alignment 32");
    GgufBytes two = new GgufBytes().tensor("t", F32, new byte[40], 10);
    assertRefused(
        two.tensorAt(32L, "u", F32, floats(1), 1),
        "tensor 'u' begins at byte 32, which overlaps the tensor before it that ends at 40");
    assertRefused(
        new GgufBytes().tensor("t", F32, floats(1), 1).tensor("u", F32, floats(2), 9),
        "tensor 'u' needs 36 bytes from byte 32 of the data on, and there are 64: the file is"
            + " truncated");
    assertRefused(
        new GgufBytes().tensor("t", F32, new byte[0], 1L << 40).tensor("u", F32, floats(1), 1),
        "tensor 't' needs 4398046511104 bytes from byte 0 of the data on, and there are 32: the"
            + " file is truncated");
  }

  /** The format does not forbid bytes that belong to no tensor, nor another order. */
  @Test
  void gapsAndOrderAreFree() throws IOException {
    byte[] content =
        new GgufBytes()
            .tensorAt(64L, "t", F32, floats(1), 1)
            .tensorAt(0L, "u", F32, floats(2), 9)
            .tensorAt(32L, "empty", F32, floats(3), 0)
            .tensorAt(96L, "end", F32, new byte[0], 0)
            .toBytes();
    try (TensorFile file = TensorFile.of(Path.of("x"), content)) {
      assertThat(file.tensors()).extracting(Tensor::name).containsExactly("t", "u", "empty", "end");
      assertThat(Values.all(file, file.tensor("t"))).containsExactly(3);
      assertThat(Values.range(file, file.tensor("u"), 0, 1)).containsExactly(1);
    }
  }

  @Test
  void hostileNamesAreEscaped() throws IOException {
    assertRefused(
        new GgufBytes().tensor("\u001b[2J\n", 99, new byte[0]),
        "tensor '\\u{1b}[2J\\n' has the unknown type 99");
    assertRefused(
        new GgufBytes().field("\u202e\n", 99, string("")),
        "the metadata '\\u{202e}\\n' has a value of the unknown type 99, known are 0 to 12");
  }
}
