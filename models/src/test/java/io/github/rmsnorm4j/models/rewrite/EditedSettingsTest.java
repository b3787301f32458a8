package io.github.rmsnorm4j.models.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.FormatException;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Single values change; all other characters stay. */
class EditedSettingsTest {
  private static String set(String text, String value, String... path) throws IOException {
    EditedSettings settings = new EditedSettings(Path.of("config.json"), text);
    settings.set(value, path);
    return settings.toString();
  }

  @Test
  void replacesValuesOfEveryKind() throws IOException {
    String text =
        "{ \"a\" : 1e-05,\n\t\"b\":\"x\\\"y\" , \"c\": [1, {\"a\": 2}],\"d\":{\"a\":3},\"e\":null}\n";
    assertThat(set(text, "7", "a")).isEqualTo(text.replace("1e-05", "7"));
    assertThat(set(text, "7", "b")).isEqualTo(text.replace("\"x\\\"y\"", "7"));
    assertThat(set(text, "7", "c")).isEqualTo(text.replace("[1, {\"a\": 2}]", "7"));
    assertThat(set(text, "7", "d")).isEqualTo(text.replace("{\"a\":3}", "7"));
    assertThat(set(text, "7", "d", "a")).isEqualTo(text.replace("3", "7"));
    assertThat(set(text, "7", "e")).isEqualTo(text.replace("null", "7"));
  }

  @Test
  void addsAFieldAsTheOthersAreWritten() throws IOException {
    assertThat(set("{\n  \"a\": 1\n}\n", "true", "b"))
        .isEqualTo("{\n  \"a\": 1,\n  \"b\": true\n}\n");
    assertThat(set("{\"a\":[1]}", "true", "b")).isEqualTo("{\"a\":[1],\"b\":true}");
    assertThat(set("{}", "true", "b")).isEqualTo("{\"b\":true}");
    assertThat(set("{\"m\": {\n \"x\": \"1\"\n}, \"z\": 0}", "2", "m", "y"))
        .isEqualTo("{\"m\": {\n \"x\": \"1\",\n \"y\": 2\n}, \"z\": 0}");
  }

  @Test
  void keepsCharactersThatAreNotAscii() throws IOException {
    assertThat(set("{\"\u00e9\": \"\ud83d\ude00\", \"a\": 1}", "2", "a"))
        .isEqualTo("{\"\u00e9\": \"\ud83d\ude00\", \"a\": 2}");
    assertThat(EditedSettings.quoted("a\"\u00e9\n")).isEqualTo("\"a\\\"\u00e9\\n\"");
  }

  /** As Python writes them, who knows no other way. */
  @Test
  void keepsNumbersThatAreNotFinite() throws IOException {
    String text = "{\"a\": [0.0, Infinity, -Infinity], \"b\": NaN, \"c\": {\"d\": NaN}}";
    assertThat(set(text, "2", "c", "d")).isEqualTo(text.replace("{\"d\": NaN}", "{\"d\": 2}"));
    assertThat(set(text, "2", "e")).isEqualTo(text.replace("}}", "},\"e\":2}"));
    assertThat(set(text, "2", "b")).isEqualTo(text.replace("\"b\": NaN", "\"b\": 2"));
  }

  @Test
  void refusesANameThatIsThereTwice() {
    for (String text : new String[] {"{\"a\": 1, \"a\": 2}", "{\"b\": {\"a\": 1, \"a\": 2}}"}) {
      assertThatThrownBy(() -> set(text, "3", "a"))
          .isInstanceOf(FormatException.class)
          .hasMessage("config.json: has to be changed, but: Duplicate field 'a'");
    }
  }

  @Test
  void refusesWhatIsNoObject() {
    for (String text : new String[] {"{\"a\": 1}", "{\"b\": {}}", "{\"a\": [{\"b\": 1}]}"}) {
      assertThatThrownBy(() -> set(text, "2", "a", "b"))
          .isInstanceOf(FormatException.class)
          .hasMessageStartingWith("config.json: has no object ");
    }
    assertThatThrownBy(() -> set("{\"a\": [1, 3]}", "2", "a", "1"))
        .hasMessageStartingWith("config.json: has no object ");
  }
}
