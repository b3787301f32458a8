package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NpyBadInputTest {
  @TempDir Path folder;

  private void assertRefused(byte[] content, String problem) throws IOException {
    Path path = Files.write(folder.resolve("a.npy"), content);
    assertThatThrownBy(() -> TensorFile.open(path).close())
        .isInstanceOf(FormatException.class)
        .hasMessage(path + ": " + problem);
  }

  private void assertLiteralRefused(String literal, String problem) throws IOException {
    assertRefused(TestFiles.npy(literal, 24), "the .npy header " + problem);
  }

  @Test
  void missingFile() {
    Path path = folder.resolve("none.npy");
    assertThatThrownBy(() -> TensorFile.open(path))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessage(path + ": there is no such file");
  }

  @Test
  void folderInPlaceOfAFile() {
    assertThatThrownBy(() -> TensorFile.open(folder))
        .hasMessage(
            folder
                + ": is a folder with neither model.safetensors nor model.safetensors.index.json");
  }

  @Test
  void emptyFile() throws IOException {
    assertRefused(new byte[0], "the file is empty");
  }

  @Test
  void fileOfNeitherKind() throws IOException {
    assertRefused(
        "QK\3\4 and more".getBytes(), "is neither a .npy, a .safetensors nor a GGUF file");
  }

  /** By its content, by its name, and as a folder of files. */
  @Test
  void parquet() throws IOException {
    String parquet = "is Parquet, which the command rmsnorm spark reads";
    // The ninth byte is that of a .safetensors file.
    assertRefused("PAR1\0\0\0\0{PAR1".getBytes(), parquet);
    Path named = Files.writeString(folder.resolve("out.parquet"), "PARE, as it is encrypted");
    Path parts = Files.createDirectories(folder.resolve("dataset.parquet/day=1")).getParent();
    Path table = Files.createDirectory(folder.resolve("table"));
    Files.writeString(table.resolve("part-00000.parquet"), "PAR1");
    for (Path path : List.of(named, parts, table)) {
      assertThatThrownBy(() -> TensorFile.open(path))
          .isInstanceOf(FormatException.class)
          .hasMessage(path + ": " + parquet);
    }
  }

  @Test
  void aNameAloneDoesNotMakeItParquet() throws IOException {
    Path path = Files.write(folder.resolve("a.parquet"), TestFiles.golden("f4.npy"));
    try (TensorFile file = TensorFile.open(path)) {
      assertThat(file).isInstanceOf(NpyFile.class);
    }
  }

  @Test
  void truncatedData() throws IOException {
    assertRefused(
        Arrays.copyOf(TestFiles.golden("f4.npy"), 150),
        "is truncated: f32 [2, 3] needs 24 bytes of data, the file has 22");
  }

  @Test
  void truncatedHeader() throws IOException {
    byte[] golden = TestFiles.golden("f4.npy");
    assertRefused(
        Arrays.copyOf(golden, 100),
        "has a header of 118 bytes, which is longer than the file of 100");
    for (int length = 6; length < 10; length++) {
      assertRefused(Arrays.copyOf(golden, length), "ends within the .npy header: it is truncated");
    }
  }

  @Test
  void dataAfterTheArray() throws IOException {
    assertRefused(
        Arrays.copyOf(TestFiles.golden("f4.npy"), 153), "has 1 bytes after the data of f32 [2, 3]");
  }

  @Test
  void headerOfGigabytes() throws IOException {
    byte[] content = TestFiles.golden("v2.npy");
    Arrays.fill(content, 8, 12, (byte) 0xff);
    assertRefused(content, "has a header of 4294967295 bytes, at most 1048576 are read");
  }

  @Test
  void unknownVersion() throws IOException {
    byte[] content = TestFiles.golden("f4.npy");
    content[6] = 4;
    assertRefused(content, "is .npy of version 4.0, known are 1.0, 2.0 and 3.0");
    content[6] = 1;
    content[7] = (byte) 200;
    assertRefused(content, "is .npy of version 1.200, known are 1.0, 2.0 and 3.0");
  }

  @Test
  void shapeWhoseProductOverflows() throws IOException {
    assertRefused(
        TestFiles.npy(TestFiles.literal("<f4", "(4294967296, 4294967296)"), 24),
        "has the shape [4294967296, 4294967296], whose size in bytes overflows 64 bits");
    // The product alone fits, in bytes it does not.
    assertRefused(
        TestFiles.npy(TestFiles.literal("<f4", "(4611686018427387904,)"), 24),
        "has the shape [4611686018427387904], whose size in bytes overflows 64 bits");
    // Times zero it is nothing, but part of it overflows all the same.
    assertRefused(
        TestFiles.npy(TestFiles.literal("<f4", "(0, 4294967296, 4294967296)"), 24),
        "has the shape [0, 4294967296, 4294967296], whose size in bytes overflows 64 bits");
    assertLiteralRefused(
        TestFiles.literal("<f4", "(9223372036854775808,)"),
        "has a length of 9223372036854775808, which overflows 64 bits");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "int.npy;     <i8; integers (in NumPy, x.astype(np.float32) makes float32)",
        "complex.npy; <c8; complex numbers",
        "object.npy;  |O;  pickled Python objects, which are never loaded",
      })
  void typesThatNumPyWritesAndWeDoNot(String name, String descr, String what) throws IOException {
    assertRefused(
        TestFiles.golden(name),
        "the .npy header has the type '%s', %s; supported are f2, f4 and f8 (float16, float32, float64)"
            .formatted(descr, what));
  }

  @Test
  void structuredType() throws IOException {
    assertRefused(
        TestFiles.golden("structured.npy"),
        "the .npy header describes a structured type, supported are f2, f4 and f8 (float16,"
            + " float32, float64)");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "<V2; raw bytes (bfloat16 has no type of its own here, but in .safetensors)",
        "|b1; truth values",
        "<f16; floats of that size",
        "<U5; text",
        "<M8[ns]; dates or durations",
        "nonsense; what is no known type",
        "<; what is no known type",
        "''; what is no known type",
      })
  void otherTypes(String descr, String what) throws IOException {
    assertLiteralRefused(
        TestFiles.literal(descr, "(6,)"),
        "has the type '%s', %s; supported are f2, f4 and f8 (float16, float32, float64)"
            .formatted(descr, what));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "__import__('os').system('true'); is no dictionary of descr, fortran_order and shape from"
            + " '__import__('os').system('true')' on",
        "{'descr': str(1), 'fortran_order': False, 'shape': (6,)}; is no dictionary of descr,"
            + " fortran_order and shape from ''descr': str(1), 'fortran_order': False, 'shape': (6,)}'"
            + " on",
        "{'descr': '<f4', 'shape': (6,), 'fortran_order': f()}; is no dictionary of descr,"
            + " fortran_order and shape from ' 'fortran_order': f()}' on",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} + {}; is no dictionary of descr,"
            + " fortran_order and shape from '} + {}' on",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [6]}; is no dictionary of descr,"
            + " fortran_order and shape from ' 'shape': [6]}' on",
        "{'descr': '\\x3cf4'}; is no dictionary of descr, fortran_order and shape from ''descr':"
            + " '\\x3cf4'}' on",
        "{'descr; is no dictionary of descr, fortran_order and shape from ''descr' on",
        "{'shape':(6; is no dictionary of descr, fortran_order and shape from ''shape':(6' on",
        "`                 `; is no dictionary of descr, fortran_order and shape from '"
            + "                 ' on",
        "{'descr': '<f4', 'fortran_order': 1, 'shape': (6,)};"
            + " has 1 as fortran_order, it must be True or False",
        "{'descr': False, 'fortran_order': False, 'shape': (6,)};"
            + " has False as descr, it must be a text",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2*3,)};"
            + " has '2*3' in its shape, it must be whole numbers from 0 on",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)};"
            + " has '-6' in its shape, it must be whole numbers from 0 on",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)};"
            + " has '' in its shape, it must be whole numbers from 0 on",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6)};"
            + " has (6) as its shape, a tuple such as (3,) is needed",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 6};"
            + " has 6 as its shape, a tuple such as (3,) is needed",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (06,)};"
            + " has '06' in its shape, it must be whole numbers from 0 on",
        "{'descr': '<f4', 'fortran_order': False}; lacks 'shape'",
        "{'descr': '<f4', 'shape': (6,)}; lacks 'fortran_order'",
        "{}; lacks 'descr'",
        "{'descr': '<f4', 'descr': '<f4', 'shape': (6,)}; has the key 'descr' twice",
        "{'dtype': '<f4'}; has the key 'dtype', it may have descr, fortran_order and shape",
        "{'fortran_order': False, 'fortran_order': False}; has the key 'fortran_order' twice",
        "{'shape': (6,), 'shape': (6,)}; has the key 'shape' twice",
      })
  void literalThatIsNotWhatItShouldBe(String literal, String problem) throws IOException {
    assertLiteralRefused(literal, problem);
  }

  @Test
  void lineBreaksInAString() throws IOException {
    assertLiteralRefused(
        "{'descr': '\n<f4'}",
        "is no dictionary of descr, fortran_order and shape from ''descr': '\\n<f4'}' on");
  }

  /** Version 3 brought names in UTF-8. The L behind a number is of Python 2, which is older. */
  @Test
  void versionsOfTheHeaderHaveTheirOwnSpelling() throws IOException {
    byte[] umlaut = TestFiles.npy("{'\u00f6': 1}", 0);
    assertRefused(
        umlaut, "the .npy header has the key '\u00f6', it may have descr, fortran_order and shape");
    byte[] third = ofVersion3("{'\u00f6': 1}");
    assertRefused(
        third, "the .npy header has the key '\u00f6', it may have descr, fortran_order and shape");
    assertRefused(
        ofVersion3("{'descr': 'f4', 'fortran_order': False, 'shape': (6L,)}"),
        "the .npy header has '6L' in its shape, it must be whole numbers from 0 on");
  }

  private static byte[] ofVersion3(String literal) {
    byte[] text = literal.getBytes(UTF_8);
    ByteBuffer out = ByteBuffer.allocate(12 + text.length).order(ByteOrder.LITTLE_ENDIAN);
    return out.put("\u0093NUMPY\3\0".getBytes(ISO_8859_1)).putInt(text.length).put(text).array();
  }

  @Test
  void moreAxesThanNumPyAllows() throws IOException {
    assertLiteralRefused(
        TestFiles.literal("<f4", "(" + "1, ".repeat(65) + ")"), "has a shape of more than 64 axes");
  }

  @Test
  void hostileTextIsEscapedAndShortened() throws IOException {
    assertLiteralRefused(
        "{'\u001b[31m\u0007" + "x".repeat(200) + "': 1}",
        "has the key '\\u{1b}[31m\\u{7}"
            + "x".repeat(34)
            + "..."
            + "x".repeat(40)
            + " (206 characters)', it may have descr, fortran_order and shape");
  }
}
