package io.github.rmsnorm4j.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecordsTest {
  enum Colour {
    RED,
    BLUE
  }

  record Part(int count, double size) {}

  record Whole(
      String name, long bytes, boolean good, Colour colour, List<Double> sizes, List<Part> parts) {}

  private static final Whole WHOLE =
      new Whole(
          "a \"b\" ü\n",
          Long.MAX_VALUE,
          true,
          Colour.BLUE,
          List.of(0.1, 1e-300, -0.0),
          List.of(new Part(1, 2.5), new Part(-7, 1 / 3.0)));

  @Test
  void whatWasWrittenIsReadBack() throws IOException {
    assertThat(Records.read(Whole.class, Records.write(WHOLE))).isEqualTo(WHOLE);
  }

  @Test
  void whatIsNoFiniteNumberIsNullAndComesBackAsNaN() throws IOException {
    String text = Records.write(new Part(1, Double.POSITIVE_INFINITY));
    assertThat(text).contains("\"size\" : null");
    assertThat(Records.read(Part.class, text).size()).isNaN();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "[]|'Part' is of another kind",
        "{\"count\":1}|'size' is missing",
        "{\"count\":1.5,\"size\":1}|'count' is missing, or of another kind",
        "{\"count\":\"1\",\"size\":1}|'count' is missing, or of another kind",
        "{\"count\":99999999999,\"size\":1}|out of range of int",
        "{\"count\":1,\"size\":1,\"more\":1}|'more' is an unknown field",
        "{\"count\":1,\"size\":1} 2|there is something after its end",
        "{\"count\":1,\"size\":|Unexpected end-of-input",
        "{\"count\":1,\"size\":\"NaN\"}|'size' is missing, or of another kind",
        "{\"count\":null,\"size\":1}|'count' is missing, or of another kind",
        "null|it is null"
      })
  void whatIsSomethingElseIsRefused(String text, String message) {
    assertThatThrownBy(() -> Records.read(Part.class, text))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(message);
  }

  @Test
  void aDeepTextIsRefusedAtItsFirstBracket() {
    String deep = "[".repeat(100_000);
    assertThatThrownBy(() -> Records.read(Whole.class, deep)).hasMessageContaining("another kind");
  }
}
