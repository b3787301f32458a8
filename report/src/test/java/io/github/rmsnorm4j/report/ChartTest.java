package io.github.rmsnorm4j.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a chart takes, what it says of what it does not draw, and the numbers behind it. */
class ChartTest {
  private static final double NAN = Double.NaN;
  private static final Axis SHAPES = Axis.categories("shape", List.of("wide", "tall"));
  private static final Axis TIME = Axis.linear("time (ms)");

  private static double[] values(double... values) {
    return values;
  }

  private static List<List<String>> rows(Chart chart) {
    return Numbers.of(chart).rows.stream()
        .map(row -> row.stream().map(Cell::text).toList())
        .toList();
  }

  @Test
  void itsNumbersAreARowForEachX() {
    Chart chart =
        Chart.titled("t")
            .over(Axis.logarithmic("width"), TIME)
            .with(Series.line("a", values(4096, 64), values(2.5, 1)))
            .with(
                Series.line("b", values(64, 128), values(3, NAN))
                    .spread(values(2, NAN), values(4, NAN)));
    assertThat(rows(chart))
        .containsExactly(
            List.of("64", "1", "3 (2 to 4)"), List.of("128", "", "–"), List.of("4,096", "2.5", ""));
    assertThat(Numbers.of(chart).title).isEqualTo("time (ms)");
  }

  @Test
  void itsNumbersAreARowForEachPointWhereAnXComesBack() {
    Chart chart = Chart.titled("t").over(Axis.linear("x"), TIME);
    Series twice = Series.points("a", values(1, 1), values(2, 3));
    assertThat(rows(chart.with(twice)))
        .containsExactly(List.of("a", "1", "2"), List.of("a", "1", "3"));
  }

  @Test
  void categoriesAreNamedInItsNumbers() {
    Chart chart = Chart.titled("t").over(SHAPES, TIME).with(Series.bars("a", 1, NAN));
    assertThat(rows(chart)).containsExactly(List.of("wide", "1"), List.of("tall", "–"));
  }

  @Test
  void itSaysHowManyValuesHaveNoPlace() {
    Chart chart =
        Chart.titled("t")
            .over(Axis.linear("x"), Axis.logarithmic("y"))
            .with(Series.line("a", values(1, 2, 3, 4), values(0, 1, NAN, -1)));
    assertThat(Page.titled("p").chart(chart.caption("Falling.")).html())
        .contains("Falling. 2 values have no place on these axes and are only among the numbers.")
        .contains("{\"x\":1.0,\"y\":null,", "\"text\":\"0\"", "\"text\":\"\\u22121\"");
    Chart one = Chart.titled("t").with(Series.line("a", values(1), values(1 / 0.0)));
    assertThat(Page.titled("p").chart(one).html())
        .contains(">1 value has no place on these axes and is only among the numbers.");
  }

  @Test
  void aNumberIsInTheDataAsItIs() {
    Chart chart = Chart.titled("t").with(Series.line("a", values(0.1), values(1.2345678901234567)));
    assertThat(ChartJson.of(chart)).contains("\"x\":0.1,\"y\":1.2345678901234567,");
  }

  @Test
  void whatDoesNotFitIsRefusedInALine() {
    Chart chart = Chart.titled("c");
    assertRefused(
        () -> chart.with(Series.bars("s", 1)),
        "chart 'c', series 's': bars stand over categories, and the x axis has numbers");
    assertRefused(
        () -> chart.over(SHAPES, TIME).with(Series.bars("s\n", 1)),
        "chart 'c', series 's?': there are 1 bars for 2 categories, as many are needed");
    assertRefused(
        () -> chart.over(SHAPES, TIME).with(Series.line("s", values(2), values(1))),
        "chart 'c', series 's': x is 2.0, allowed are the categories 0 to 1");
    assertRefused(() -> chart.over(TIME, SHAPES), "chart 'c': categories are for the x axis only");
    assertRefused(
        () -> Series.line("s", values(1, 2), values(1)),
        "series 's': there are 2 x values for 1 values, as many are needed");
    assertRefused(
        () -> Series.bars("s", 1).spread(values(2), values(1)),
        "series 's': the lower end 2.0 of value 0 is above its upper end 1.0");
    assertRefused(
        () -> Axis.logarithmic("a").from(0), "axis 'a': from is 0.0, allowed are positive numbers");
    assertRefused(
        () -> TIME.ticks(1, NAN), "axis 'time (ms)': ticks is NaN, allowed are finite numbers");
    assertRefused(() -> SHAPES.to(1), "axis 'shape': to is for numbers, not categories");
    assertRefused(
        () -> Axis.categories("a", List.of()),
        "axis 'a': there are no categories, at least one is needed");
    assertRefused(
        () -> Table.titled("t").text("a").row("1", "2"),
        "table 't': row 0 has 2 cells for 1 columns, as many are needed");
    assertThatThrownBy(() -> Table.titled("t").text("a").row("1").text("b"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("table 't': the column 'b' comes after the first row");
    assertThatThrownBy(() -> chart.with(Series.line("s", values(1), values(1))).over(TIME, TIME))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("chart 'c': its axes are set after its series");
  }

  private static void assertRefused(ThrowingCallable call, String message) {
    assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessage(message);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "-0.0, 0",
    "65536, '65,536'",
    "1234.56, '1,235'",
    "0.62, 0.62",
    "-0.001234567, −0.001235",
    "99.996, 100",
    "1e-5, 1e−5",
    "1.23456e20, 1.235e20",
    "NaN, –",
    "Infinity, ∞",
    "-Infinity, −∞",
    "4.9e-324, 4.941e−324"
  })
  void numbersAreShownToFourDigits(double value, String text) {
    assertThat(Printed.number(value)).isEqualTo(text);
  }
}
