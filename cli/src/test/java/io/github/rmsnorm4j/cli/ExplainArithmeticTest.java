package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.cli.testing.ExplainBrowser;
import io.github.rmsnorm4j.cli.testing.PageBits;
import io.github.rmsnorm4j.report.browser.Browser;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The arithmetic of the page that explains RMSNorm is the library's, to the bit. */
@Tag("browser")
class ExplainArithmeticTest {
  private static final int ROWS = Boolean.getBoolean("tests.all") ? 1200 : 300;

  @AutoClose private static Browser browser;

  @BeforeAll
  static void open(@TempDir Path folder) throws IOException {
    browser = ExplainBrowser.open(folder);
  }

  @Test
  void everyRandomRowHasTheLibrarysBits() {
    SplittableRandom random = new SplittableRandom(15);
    List<ExplainRow> rows = new ArrayList<>();
    Set<CastOrder> orders = EnumSet.noneOf(CastOrder.class);
    Set<ElementType> types = EnumSet.noneOf(ElementType.class);
    for (int i = 0; i < ROWS; i++) {
      ExplainRow row = ExplainRow.random(random);
      rows.add(row);
      types.add(row.type());
      if (row.order() != null) {
        orders.add(row.order());
      }
    }
    assertThat(orders).containsExactlyInAnyOrder(ExplainRow.ORDERS);
    assertThat(types).hasSize(3);
    List<?> answers =
        (List<?>)
            browser.run(
                PageBits.SCRIPT
                    + """
                    return arguments[0].map((row) => {
                      const steps = arithmetic[row.norm](numbers(row.x), {
                        ...row, gain: numbers(row.gain), bias: numbers(row.bias),
                      });
                      return [steps.y, steps.normalised, steps.difference, steps.squares,
                        [steps.mean, steps.variance, steps.root, steps.rstd]].map(text);
                    });
                    """,
                rows.stream().map(ExplainRow::forPage).toList());
    assertThat(answers).hasSize(ROWS);
    for (int i = 0; i < ROWS; i++) {
      assertSame(rows.get(i), ((List<?>) answers.get(i)).stream().map(Object::toString).toList());
    }
  }

  private static void assertSame(ExplainRow row, List<String> page) {
    ExplainRow.Answer library = row.answer();
    assertThat(page.get(0)).as("y of %s", row).isEqualTo(PageBits.text(library.y()));
    if (row.order() != CastOrder.T5) { // Which rounds only where there is a gain.
      assertThat(page.get(1)).as("%s", row).isEqualTo(PageBits.text(row.normalised()));
    }
    double[] numbers = PageBits.numbers(page.get(4));
    double variance = numbers[1];
    double root = Math.sqrt(variance + row.epsilon());
    double mean = row.order() == null ? library.mean() : 0;
    assertThat(page.get(4))
        .as("mean, variance, root and rstd of %s", row)
        .isEqualTo(PageBits.text(mean, variance, root, library.rstd()));
    double[] x = row.xValues();
    double[] difference = PageBits.numbers(page.get(2));
    if (row.order() != null) {
      assertThat(page.get(2)).as("%s", row).isEqualTo(PageBits.text(x));
      assertNearExact(variance, x);
    } else if (inRange(library)) {
      assertThat(page.get(2)).as("%s", row).isEqualTo(PageBits.text(centred(x, mean)));
    }
    double[] squares = DoubleStream.of(difference).map(d -> d * d).toArray();
    assertThat(page.get(3)).as("%s", row).isEqualTo(PageBits.text(squares));
  }

  /** Whether the library computes the row in float32. */
  private static boolean inRange(ExplainRow.Answer library) {
    return library.rstd() >= Float.MIN_NORMAL
        && library.rstd() <= Float.MAX_VALUE
        && Math.abs(library.mean()) < 0x1p103;
  }

  private static double[] centred(double[] x, double mean) {
    float high = (float) mean;
    float low = (float) (mean - high);
    return DoubleStream.of(x).map(value -> ((float) value - high) - low).toArray();
  }

  /** The mean square is within the roundings of its float64 sum. */
  private static void assertNearExact(double meanSquare, double[] x) {
    if (!DoubleStream.of(x).allMatch(Double::isFinite)) {
      return;
    }
    BigDecimal sum =
        Arrays.stream(x)
            .mapToObj(v -> new BigDecimal(v).pow(2))
            .reduce(BigDecimal.ZERO, BigDecimal::add);
    double exact = sum.doubleValue() / x.length;
    assertThat(meanSquare).isCloseTo(exact, within(exact * x.length * 0x1p-52));
  }

  /** The table of cast orders is of whole random rows. */
  @Test
  void theCastOrdersOfThePageAreTheLibrarys() {
    for (String type : List.of("bfloat16", "float16")) {
      for (String gainType : List.of("bfloat16", "float16", "float32")) {
        List<?> answer =
            (List<?>)
                browser.run(
                    PageBits.SCRIPT
                        + """
                        const orders = castOrders(3, arguments[0], arguments[1]);
                        return [orders.x, orders.gain, ...orders.y, orders.differing].map(text);
                        """,
                    type,
                    gainType);
        double[] x = PageBits.numbers(answer.get(0).toString());
        double[] gain = PageBits.numbers(answer.get(1).toString());
        double[] differing = PageBits.numbers(answer.getLast().toString());
        double[] float32 = null;
        for (CastOrder order : ExplainRow.ORDERS) {
          ExplainRow row =
              ExplainRow.of(
                  order, ElementType.ofName(type), x, 1e-6, ElementType.ofName(gainType), gain);
          double[] y = row.answer().y();
          float32 = order == CastOrder.FLOAT32 ? y : float32;
          assertThat(answer.get(2 + order.ordinal()).toString()).isEqualTo(PageBits.text(y));
          assertThat(differing[order.ordinal()]).isEqualTo(differences(y, float32));
        }
      }
    }
  }

  private static double differences(double[] a, double[] b) {
    double differences = 0;
    for (int i = 0; i < a.length; i++) {
      differences += a[i] == b[i] ? 0 : 1;
    }
    return differences;
  }

  @Test
  void sizesByDepthAreThoseOfTheLibrarysRows() {
    for (double factor : new double[] {0.75, 1, 1.2, 1.35}) {
      List<?> page =
          (List<?>)
              browser.run(
                  PageBits.SCRIPT
                      + """
                      const sizes = arithmetic.sizesByDepth([1, -1, 1, -1], arguments[0], 48, 1e-6);
                      return [sizes.plain, sizes.normed].map(text);
                      """,
                  factor);
      RmsNorm norm = RmsNorm.builder(4).epsilon(1e-6).backend(Backend.scalar()).build();
      float[] x = {1, -1, 1, -1};
      float[] h = x.clone();
      double[] plain = new double[48];
      double[] normed = new double[48];
      for (int layer = 0; layer < 48; layer++) {
        float[] input = new float[4];
        norm.apply(h, input);
        plain[layer] = size(x);
        normed[layer] = size(input);
        for (int i = 0; i < 4; i++) {
          x[i] = (float) (x[i] * factor);
          h[i] = (float) (input[i] * factor);
        }
      }
      assertThat(page.getFirst()).isEqualTo(PageBits.text(plain));
      assertThat(page.getLast()).isEqualTo(PageBits.text(normed));
    }
  }

  /** Of four equal squares, whose sum is exact in any order. */
  private static double size(float[] x) {
    return Math.sqrt(4 * ((double) x[0] * x[0]) / 4);
  }

  /** A row that is scaled and shifted takes two roundings to float32. */
  @Test
  void theMovedRowIsFloat32() {
    SplittableRandom random = new SplittableRandom(3);
    for (int n = 0; n < 200; n++) {
      double[] row = new double[1 + n % 8];
      double[] moved = new double[row.length];
      double shift = Math.rint(random.nextDouble(-40, 40)) / 2;
      double scale = Math.pow(10, random.nextInt(-5, 6));
      for (int i = 0; i < row.length; i++) {
        row[i] = (float) random.nextDouble(-10, 10);
        moved[i] = (float) (row[i] * scale) + (float) shift;
      }
      Object page =
          browser.run(
              PageBits.SCRIPT
                  + """
                  Object.assign(state, { row: numbers(arguments[0]), shift: arguments[1], scale: arguments[2] });
                  return text(moved());
                  """,
              PageBits.text(row),
              shift,
              scale);
      assertThat(page).isEqualTo(PageBits.text(moved));
    }
  }

  /** The angle that rho tells is the one between the library's outputs. */
  @Test
  void rhoIsTheSquaredSineBetweenTheTwoNorms() {
    SplittableRandom random = new SplittableRandom(9);
    for (int n = 0; n < 100; n++) {
      double[] x = random.doubles(2 + n % 7, -1, 3).map(v -> (float) v).toArray();
      double rho =
          PageBits.numbers(
              browser
                  .run(
                      PageBits.SCRIPT + "return text([arithmetic.rho(numbers(arguments[0]))])",
                      PageBits.text(x))
                  .toString())[0];
      double[] rms = new double[x.length];
      double[] layer = new double[x.length];
      Rows row = Rows.of(x, x.length);
      RmsNorm.Builder ofRms = RmsNorm.builder(x.length).epsilon(0).backend(Backend.scalar());
      ofRms.build().apply(row, Rows.of(rms, x.length));
      LayerNorm.Builder ofLayer = LayerNorm.builder(x.length).epsilon(0).backend(Backend.scalar());
      ofLayer.build().apply(row, Rows.of(layer, x.length));
      double cosine = 0;
      for (int i = 0; i < x.length; i++) {
        cosine += rms[i] * layer[i] / x.length;
      }
      assertThat(1 - rho).isCloseTo(cosine * cosine, within(1e-9));
    }
  }
}
