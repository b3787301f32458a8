package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonFileTest {
  private static final int LONGEST = 8 << 20;

  @TempDir Path folder;

  private Path json(String text) throws IOException {
    return Files.writeString(folder.resolve("config.json"), text.replace('\'', '"'));
  }

  @Test
  void readsValuesOfEachType() throws IOException {
    Path file =
        json(
            """
            {'text': 'größe', 'whole': 4096, 'negative': -9223372036854775808,
             'beyond 64 bits': 9223372036854775808, 'real': 1e-05,
             'yes': true, 'no': false, 'nothing': null,
             'list': [1, null, 'a', [2.5], {}], 'object': {'inner': {'x': 1}}}
            """);
    Map<String, Object> expected = new LinkedHashMap<>();
    expected.put("text", "größe");
    expected.put("whole", 4096L);
    expected.put("negative", Long.MIN_VALUE);
    expected.put("beyond 64 bits", 0x1p63);
    expected.put("real", 1e-5);
    expected.put("yes", true);
    expected.put("no", false);
    expected.put("list", List.of(1L, "a", List.of(2.5), Map.of()));
    expected.put("object", Map.of("inner", Map.of("x", 1L)));
    assertThat(JsonFile.read(file)).containsExactlyEntriesOf(expected);
  }

  @Test
  void theLastOfTwoFieldsOfOneNameCounts() throws IOException {
    Path file = json("{'a': 1, 'b': 3, 'a': 2, 'c': {'d': 4, 'd': 5}, 'b': null}");
    assertThat(JsonFile.read(file)).isEqualTo(Map.of("a", 2L, "c", Map.of("d", 5L)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "[1]; is no JSON object",
        "``; the file is empty",
        "{'error':'Repository not found'}; is the error message of a server, in place of the file:"
            + " download the file again",
        "{} {}; continues after its end",
      })
  void aFileThatHoldsNoObjectIsRefused(String text, String problem) throws IOException {
    Path file = json(text);
    assertThatThrownBy(() -> JsonFile.read(file))
        .isInstanceOf(FormatException.class)
        .hasMessage(file + ": " + problem);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {"{'a': 1", "{'a': [1", "{'a'}", "{'a': x}"})
  void whatIsNoJsonIsRefused(String text) throws IOException {
    Path file = json(text);
    assertThatThrownBy(() -> JsonFile.read(file))
        .isInstanceOf(FormatException.class)
        .hasMessageStartingWith(file + ": is no JSON: ");
  }

  /** Python's json writes these words and reads no others. */
  @Test
  void numbersThatAreNotFinite() throws IOException {
    Path file = json("{'a': NaN, 'b': [0.0, Infinity, {'c': -Infinity}], 'd': 'NaN', 'e': 1e999}");
    Map<String, Object> expected = new LinkedHashMap<>();
    expected.put("a", Double.NaN);
    expected.put(
        "b", List.of(0.0, Double.POSITIVE_INFINITY, Map.of("c", Double.NEGATIVE_INFINITY)));
    expected.put("d", "NaN");
    expected.put("e", Double.POSITIVE_INFINITY);
    assertThat(JsonFile.read(file)).containsExactlyEntriesOf(expected);
    for (String other : List.of("INF", "-INF", "+INF", "+Infinity", "-NaN", "nan", "infinity")) {
      json("{'a': " + other + "}");
      assertThatThrownBy(() -> JsonFile.read(file))
          .isInstanceOf(FormatException.class)
          .hasMessageStartingWith(file + ": is no JSON: ");
    }
    json("{'a': x}");
    assertThatThrownBy(() -> JsonFile.read(file))
        .hasMessageContaining("Number (or 'NaN'/'Infinity'/'-Infinity')");
  }

  @Test
  void nestingIsLimited() throws IOException {
    Path file = json("{'a': " + "[".repeat(31) + "]".repeat(31) + "}");
    assertThat(JsonFile.read(file)).containsOnlyKeys("a");
    json("{'a': " + "[".repeat(100_000) + "}");
    assertThatThrownBy(() -> JsonFile.read(file))
        .isInstanceOf(FormatException.class)
        .hasMessageStartingWith(file + ": is no JSON: ");
  }

  @Test
  void anotherEncodingThanUtf8IsRefused() {
    byte[] content = "{\"a\": \"??\"}".getBytes(UTF_8);
    content[7] = (byte) 0xc0; // an overlong '/', which is how filters are got round
    content[8] = (byte) 0xaf;
    assertThatThrownBy(() -> JsonFile.read(Path.of("x"), content))
        .isInstanceOf(FormatException.class)
        .hasMessage("x: is no JSON: it is not UTF-8");
  }

  @Test
  void onlyAFileOf8MebibytesAtMostIsRead() throws IOException {
    Path file = json("{'a': 1}" + " ".repeat(LONGEST - 8));
    assertThat(JsonFile.read(file)).containsExactly(Map.entry("a", 1L));
    json("{'a': 1}" + " ".repeat(LONGEST - 7));
    assertThatThrownBy(() -> JsonFile.read(file))
        .isInstanceOf(FormatException.class)
        .hasMessage(file + ": has 8388609 bytes, at most 8388608 are read");
    assertThatThrownBy(() -> JsonFile.read(folder))
        .isInstanceOf(FileSystemException.class)
        .hasMessage(folder + ": is not a regular file");
    Path missing = folder.resolve("none.json");
    assertThatThrownBy(() -> JsonFile.read(missing))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessage(missing + ": there is no such file");
  }
}
