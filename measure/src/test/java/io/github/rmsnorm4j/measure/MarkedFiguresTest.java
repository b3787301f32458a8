package io.github.rmsnorm4j.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MarkedFiguresTest {
  private static final String MARK = "<!-- figure a-file: a row; x / y -->";

  /** Of one file and rule. */
  private static MarkedFigures.Source always(double value) {
    return (results, rule) -> {
      if (!results.equals("a-file")) {
        return OptionalDouble.empty();
      }
      if (!rule.equals("a row; x / y")) {
        throw new IllegalArgumentException("there is no " + rule);
      }
      return OptionalDouble.of(value);
    };
  }

  @Test
  void aFigureIsMadeAgainAndKeepsItsForm() throws IOException {
    assertThat(MarkedFigures.with("took 1.70" + MARK + " times, not 9.", always(1.2345)))
        .isEqualTo("took 1.23" + MARK + " times, not 9.");
    assertThat(MarkedFigures.with("(12" + MARK + ")", always(1234.5678)))
        .isEqualTo("(1,235" + MARK + ")");
    assertThat(MarkedFigures.with("+0.0010" + MARK, always(-0.02))).isEqualTo("-0.0200" + MARK);
    assertThat(MarkedFigures.with("-1" + MARK, always(2))).isEqualTo("+2" + MARK);
    assertThat(MarkedFigures.with("300,000" + MARK + MARK, always(7))).isEqualTo("7" + MARK + MARK);
  }

  @Test
  void figuresOfOtherSourcesAreLeftAlone() throws IOException {
    String page = "1.70<!-- figure other: a row --> and 3 <!-- figure a-file: far from it -->";
    assertThat(MarkedFigures.with(page, always(1))).isEqualTo(page);
  }

  @Test
  void aRuleWithoutAFigureIsNamed() {
    assertThatThrownBy(() -> MarkedFigures.with("1<!-- figure a-file: another row -->", always(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("<!-- figure a-file: another row -->: there is no another row");
  }

  @Test
  void pagesAreReadmeAndThoseOfDocs(@TempDir Path checkout) throws IOException {
    Path docs = Files.createDirectory(checkout.resolve("docs"));
    Files.createFile(docs.resolve("b.md"));
    Files.createFile(docs.resolve("a.md"));
    Files.createFile(docs.resolve("a.json"));
    assertThat(MarkedFigures.pages(checkout))
        .containsExactly(docs.resolve("a.md"), docs.resolve("b.md"));
    Path readme = Files.createFile(checkout.resolve("README.md"));
    assertThat(MarkedFigures.pages(checkout)).startsWith(readme).hasSize(3);
  }
}
