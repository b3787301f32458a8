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
import org.junit.jupiter.params.provider.ValueSource;

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
        "bool; truth values",
        "b; integers (in NumPy, x.astype(np.float32) makes float32)",
        "uint8; integers (in NumPy, x.astype(np.float32) makes float32)",
        "longlong; integers (in NumPy, x.astype(np.float32) makes float32)",
        "bfloat16; which has no type of its own here, but in .safetensors",
        "bytes; text",
        "str; text",
        "<S; text",
        "F; complex numbers",
        "complex128; complex numbers",
        "cdouble; complex numbers",
        "object; pickled Python objects, which are never loaded",
        "float128; floats of that size",
        "datetime64[ns]; dates or durations",
        "void; raw bytes (bfloat16 has no type of its own here, but in .safetensors)",
        "other; what is no known type",
        "image; what is no known type",
        "f5; what is no known type",
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

  /** From ^ on each literal is not as NumPy writes it, and no other Python is read. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "^__import__('os').system('true')",
        "^{'descr': str(1), 'fortran_order': False, 'shape': (6,)}",
        "^{'dtype': '<f4', 'fortran_order': False, 'shape': (6,)}",
        "^{'descr': False, 'fortran_order': False, 'shape': (6,)}",
        "^{'descr\": '<f4', 'fortran_order': False, 'shape': (6,)}",
        "^{'descr': '<f4\", 'fortran_order': False, 'shape': (6,)}",
        "^{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (6,)}",
        "^{'descr': '\n<f4', 'fortran_order': False, 'shape': (6,)}",
        "^{, 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<f4'^, 'fortran_order': 1, 'shape': (6,)}",
        "{'descr': '<f4'^, 'fortran_order': f(), 'shape': (6,)}",
        "{'descr': '<f4'^ 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<f4'^{'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<f4', 'fortran_order': False^, 'shape': [6]}",
        "{'descr': '<f4', 'fortran_order': False^, 'shape': 6}",
        "{'descr': '<f4', 'fortran_order': False^, 'shape': (6",
        "{'descr': '<f4', 'fortran_order': False^, 'shape': ((6,), )}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)^} + {}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)^,,}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)^, 'x': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)^",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)^\u2003}",
        "^{'descr",
        "^{}",
        "^    ",
        "^",
      })
  void literalThatIsNoneFromAPlaceOn(String marked) throws IOException {
    String wrong = marked.substring(marked.indexOf('^') + 1);
    String problem = "the .npy header is no dictionary of descr, fortran_order and shape from '";
    assertRefused(
        ofVersion3(marked.replace("^", "")), problem + Printable.shortened(wrong) + "' on");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "(2*3,); '2*3'",
        "(-6,); '-6'",
        "(,); ''",
        "(1,,2); ''",
        "(06,); '06'",
        "(0x6,); '0x6'",
        "(6 L,); '6 L'",
        "(6\u2003,); '6\u2003'",
        "(6,\u2003); '\u2003'",
      })
  void shapeOfSomethingElseThanNumbers(String shape, String length) throws IOException {
    assertRefused(
        ofVersion3(TestFiles.literal("<f4", shape)),
        "the .npy header has %s in its shape, it must be whole numbers from 0 on"
            .formatted(length));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6)};"
            + " has (6) as its shape, a tuple such as (3,) is needed",
        "{'descr': '<f4', 'fortran_order': False}; lacks 'shape'",
        "{'descr': '<f4', 'shape': (6,)}; lacks 'fortran_order'",
        "{'shape': (6,)}; lacks 'descr'",
        "{'descr': '<f4', 'descr': '<f4', 'shape': (6,)}; has the key 'descr' twice",
        "{'fortran_order': False, 'fortran_order': False}; has the key 'fortran_order' twice",
        "{'shape': (6,), 'shape': (6,)}; has the key 'shape' twice",
      })
  void literalThatIsNotWhatItShouldBe(String literal, String problem) throws IOException {
    assertLiteralRefused(literal, problem);
  }

  /** Version 3 is in UTF-8. The L behind a number is of Python 2, which is older. */
  @Test
  void versionsOfTheHeaderHaveTheirOwnSpelling() throws IOException {
    String problem = "has the type '\u00f6', what is no known type; supported are";
    String literal = TestFiles.literal("\u00f6", "(6,)");
    for (byte[] content : List.of(TestFiles.npy(literal, 0), ofVersion3(literal))) {
      assertThatThrownBy(() -> TensorFile.of(Path.of("x"), content)).hasMessageContaining(problem);
    }
    assertRefused(
        ofVersion3(TestFiles.literal("<f4", "(6L,)")),
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
        "is no dictionary of descr, fortran_order and shape from '{'\\u{1b}[31m\\u{7}"
            + "x".repeat(32)
            + "..."
            + "x".repeat(35)
            + "': 1} (213 characters)' on");
  }
}
