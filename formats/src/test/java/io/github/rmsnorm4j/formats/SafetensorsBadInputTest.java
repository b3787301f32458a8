package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.testing.Allocated;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SafetensorsBadInputTest {
  @TempDir Path folder;

  private void assertRefused(byte[] content, String problem) throws IOException {
    Path path = Files.write(folder.resolve("a.safetensors"), content);
    assertThatThrownBy(() -> TensorFile.open(path).close())
        .isInstanceOf(FormatException.class)
        .hasMessage(path + ": " + problem);
  }

  private void assertHeaderRefused(String header, int dataBytes, String problem)
      throws IOException {
    assertRefused(TestFiles.safetensors(header, dataBytes), problem);
  }

  /** One tensor of six float32, with something wrong in it. */
  private void assertEntryRefused(String entry, String problem) throws IOException {
    assertHeaderRefused("{\"t\":" + entry + "}", 24, "tensor 't' " + problem);
  }

  @Test
  void truncatedFile() throws IOException {
    byte[] golden = TestFiles.golden("mixed.safetensors");
    assertRefused(Arrays.copyOf(golden, 5), "has 5 bytes, a .safetensors file has at least 8");
    assertRefused(
        Arrays.copyOf(golden, 100),
        "has a header of 632 bytes, which is longer than the file of 100");
    assertRefused(
        Arrays.copyOf(golden, golden.length - 1),
        "is truncated: its tensors need 86 bytes of data, the file has 85");
  }

  @Test
  void headerLongerThanTheFile() throws IOException {
    byte[] content = TestFiles.golden("nothing.safetensors");
    content[0] = 9;
    assertRefused(content, "has a header of 9 bytes, which is longer than the file of 16");
  }

  @ParameterizedTest
  @ValueSource(longs = {100_000_001, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE, -1})
  void headerOfGigabytes(long length) throws IOException {
    ByteBuffer content = ByteBuffer.wrap(TestFiles.golden("mixed.safetensors"));
    content.order(ByteOrder.LITTLE_ENDIAN).putLong(0, length);
    assertRefused(
        content.array(),
        "has a header of %s bytes, at most 100000000 are allowed (or this is no .safetensors file)"
            .formatted(Long.toUnsignedString(length)));
  }

  private static void assertRefusedInLittleMemory(Path path) {
    allocatedToRefuse(path); // The first loads classes, which allocates as much as any may.
    assertThat(allocatedToRefuse(path)).isLessThan(1 << 20);
  }

  private static long allocatedToRefuse(Path path) {
    long before = Allocated.bytes();
    assertThatThrownBy(() -> TensorFile.open(path).close()).isInstanceOf(FormatException.class);
    return Allocated.bytes() - before;
  }

  /** A header as long as allowed, in a sparse file: read as a stream, it ends at its first byte. */
  @Tag("measure")
  @Test
  void headerOfAHundredMegabytesOfNothing() throws IOException {
    Path path = folder.resolve("a.safetensors");
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.write(new byte[] {0, (byte) 0xe1, (byte) 0xf5, 5, 0, 0, 0, 0}); // 100,000,000
      file.setLength(8 + 100_000_000);
    }
    assertThatThrownBy(() -> TensorFile.open(path).close())
        .isInstanceOf(FormatException.class)
        .hasMessage(path + ": the header is not JSON at character 1");
    assertRefusedInLittleMemory(path);
  }

  @Test
  void dataThatNoTensorCovers() throws IOException {
    String t = TestFiles.entry("t", "U8", "[2]", 0, 2);
    assertHeaderRefused("{" + t + "}", 3, "has 1 bytes after its last tensor");
    assertHeaderRefused(
        "{" + t + "," + TestFiles.entry("u", "U8", "[2]", 3, 5) + "}",
        5,
        "tensor 'u' begins at byte 3, and bytes 2 on belong to no tensor");
    assertHeaderRefused(
        "{" + TestFiles.entry("u", "U8", "[2]", 3, 5) + "}",
        5,
        "tensor 'u' begins at byte 3, and bytes 0 on belong to no tensor");
  }

  @Test
  void tensorsThatOverlap() throws IOException {
    String t = TestFiles.entry("t", "U8", "[3]", 0, 3);
    assertHeaderRefused(
        "{" + TestFiles.entry("u", "U8", "[2]", 2, 4) + "," + t + "}",
        4,
        "tensor 'u' begins at byte 2, which overlaps the tensor before it that ends at 3");
    assertHeaderRefused(
        "{" + t + "," + TestFiles.entry("u", "U8", "[3]", 0, 3) + "}",
        3,
        "tensor 'u' begins at byte 0, which overlaps the tensor before it that ends at 3");
  }

  @Test
  void offsetsOutOfRange() throws IOException {
    assertHeaderRefused(
        "{" + TestFiles.entry("t", "U8", "[5]", 0, 5) + "}",
        3,
        "is truncated: its tensors need 5 bytes of data, the file has 3");
    assertEntryRefused(
        "{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[400000,400024]}",
        "has data_offsets [400000, 400024], beyond the file's 98 bytes");
    assertEntryRefused(
        "{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[24,0]}",
        "has data_offsets [24, 0], which end before they begin");
    assertEntryRefused(
        "{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[400000,400000]}",
        "has data_offsets [400000, 400000], beyond the file's 96 bytes");
    assertEntryRefused(
        "{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[-24,0]}",
        "has something else than whole numbers from 0 on in its data_offsets");
    assertEntryRefused(
        "{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,18446744073709551615]}",
        "has 18446744073709551615 in its data_offsets, which overflows 64 bits");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "'F32','shape':[2,3],'data_offsets':[0,20]; has data_offsets [0, 20], 20 bytes, but F32"
            + " [2, 3] needs 24",
        "'F32','shape':[2,3],'data_offsets':[4,24]; has data_offsets [4, 24], 20 bytes, but F32"
            + " [2, 3] needs 24",
        "'F32','shape':[2,3],'data_offsets':[0]; has data_offsets [0], two are needed",
        "'F32','shape':[2,3],'data_offsets':[0,24,24]; has more than 2 numbers in its data_offsets",
        "'F32','shape':[2,3],'data_offsets':24; has something else than a list as its data_offsets",
        "'F32','shape':[2,3]; lacks the field 'data_offsets'",
        "'F32','data_offsets':[0,24]; lacks the field 'shape'",
        "'F32','shape':[2,3.0],'data_offsets':[0,24]; has something else than whole numbers from 0"
            + " on in its shape",
        "'F32','shape':[2,1e3],'data_offsets':[0,24]; has something else than whole numbers from 0"
            + " on in its shape",
        "'F32','shape':[2,'3'],'data_offsets':[0,24]; has something else than whole numbers from 0"
            + " on in its shape",
        "'F32','shape':[-2,-3],'data_offsets':[0,24]; has something else than whole numbers from 0"
            + " on in its shape",
        "'F32','shape':[[2,3]],'data_offsets':[0,24]; has something else than whole numbers from 0"
            + " on in its shape",
        "'F32','shape':null,'data_offsets':[0,24]; has something else than a list as its shape",
        "'F33','shape':[2,3],'data_offsets':[0,24]; has the unknown dtype 'F33'",
        "'f32','shape':[2,3],'data_offsets':[0,24]; has the unknown dtype 'f32'",
        "32,'shape':[2,3],'data_offsets':[0,24]; has a dtype that is no text",
        "'F32','dtype':'F32','shape':[2,3],'data_offsets':[0,24]; has the field 'dtype' twice",
        "'F32','strides':[2,3],'data_offsets':[0,24]; lacks the field 'shape'",
        "'F4','shape':[3],'data_offsets':[0,1]; has 3 elements of 4 bits: no whole bytes",
      })
  void entryThatIsNotWhatItShouldBe(String rest, String problem) throws IOException {
    assertEntryRefused("{'dtype':".replace('\'', '"') + rest.replace('\'', '"') + "}", problem);
  }

  @Test
  void shapeWhoseProductOverflows() throws IOException {
    assertEntryRefused(
        "{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}",
        "has the shape [4294967296, 4294967296], whose size in bytes overflows 64 bits");
    assertEntryRefused(
        "{\"dtype\":\"F32\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}",
        "has the shape [4611686018427387904], whose size in bytes overflows 64 bits");
    assertHeaderRefused(
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[" + "9".repeat(50) + "]}}",
        0,
        "the header has a number, name or text longer than any should be");
    assertEntryRefused(
        "{\"dtype\":\"F32\",\"shape\":[123456789012345678901234567890],\"data_offsets\":[0,0]}",
        "has 123456789012345678901234567890 in its shape, which overflows 64 bits");
  }

  @Test
  void moreAxesThanAnyTensorHas() throws IOException {
    String shape = "[" + "1,".repeat(100_000) + "1]";
    assertEntryRefused(
        "{\"dtype\":\"F32\",\"shape\":" + shape + ",\"data_offsets\":[0,4]}",
        "has more than 64 numbers in its shape");
  }

  @Test
  void duplicateNames() throws IOException {
    String t = TestFiles.entry("t", "U8", "[2]", 0, 2);
    String again = TestFiles.entry("\\u0074", "U8", "[2]", 2, 4);
    assertHeaderRefused("{" + t + "," + again + "}", 4, "has two tensors named 't'");
    for (String metadata : List.of("{}", "null")) {
      String twice = "{\"__metadata__\":%s,\"__metadata__\":{}}".formatted(metadata);
      assertHeaderRefused(twice, 0, "has __metadata__ twice");
    }
    assertHeaderRefused(
        "{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}",
        0,
        "the header has 'a' twice in __metadata__");
  }

  @Tag("measure")
  @ParameterizedTest
  @ValueSource(strings = {"[", "{\"a\":", "{\"__metadata__\":{\"a\":", "{\"t\":{\"shape\":["})
  void jsonNestedWithoutEnd(String start) throws IOException {
    for (String nest : new String[] {"[", "{\"a\":"}) {
      byte[] content = TestFiles.safetensors(start + nest.repeat(1_000_000), 0);
      Path path = Files.write(folder.resolve("a.safetensors"), content);
      assertRefusedInLittleMemory(path);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "[]; the header has something else where it should have an object",
        "{\"t\":1}; the header has something else where it should have an object for each tensor",
        "{\"__metadata__\":1}; the header has something else where it should have an object as"
            + " __metadata__",
        "{\"__metadata__\":{\"a\":\"\",\"b\":1.50}}; the header has 1.50 as 'b' in __metadata__,"
            + " where only texts are allowed",
        "{\"__metadata__\":{\"a\":[1]}}; the header has a list or an object as 'a' in __metadata__,"
            + " where only texts are allowed",
        "{} {}; the header continues after its end",
        "{\"\\ud800\":1}; the header has half a character in '\\u{d800}'",
        "{\"__metadata__\":{\"a\":\"\\udc00\"}}; the header has half a character in '\\u{dc00}'",
      })
  void headerThatIsNotWhatItShouldBe(String header, String problem) throws IOException {
    assertHeaderRefused(header, 0, problem);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "{; the header ends before its JSON does",
        "{\"t\":{\"shape\":[2; the header ends before its JSON does",
        "{'t':{}}; the header is not JSON at character 1",
        "{,}; the header is not JSON at character 1",
        "{\"t\":NaN}; the header is not JSON at character 8",
        "{\"t\":{\"shape\":[01]}}; the header is not JSON at character 16",
        "{} x; the header is not JSON at character 4",
        "`  `; the header has something else where it should have an object",
      })
  void headerThatIsNoJson(String header, String problem) throws IOException {
    assertHeaderRefused(header, 0, problem);
  }

  @Test
  void headerThatIsNotUtf8() throws IOException {
    byte[] content = TestFiles.safetensors("{\"__metadata__\":{\"a\":\"??\"}}", 0);
    int at = 8 + "{\"__metadata__\":{\"a\":\"".length();
    content[at] = (byte) 0xc0; // an overlong '/', which is how filters are got round
    content[at + 1] = (byte) 0xaf;
    assertRefused(content, "the header is not UTF-8");
  }

  @Test
  void hostileNamesAreEscapedAndShortened() throws IOException {
    String name = "\\u001b[2J\\n\u202e" + "x".repeat(1000);
    assertHeaderRefused(
        "{" + TestFiles.entry(name, "F99", "[2]", 0, 2) + "}",
        2,
        "tensor '\\u{1b}[2J\\n\\u{202e}"
            + "x".repeat(34)
            + "..."
            + "x".repeat(40)
            + " (1006 characters)' has the unknown dtype 'F99'");
  }
}
