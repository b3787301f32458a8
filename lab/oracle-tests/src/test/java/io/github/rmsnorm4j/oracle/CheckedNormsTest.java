package io.github.rmsnorm4j.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.models.check.CheckReport;
import io.github.rmsnorm4j.models.check.Finding;
import io.github.rmsnorm4j.models.check.NormCheck;
import io.github.rmsnorm4j.models.check.Sample;
import io.github.rmsnorm4j.oracle.PublishedNorm.Learned;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.ScalarTypeOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What libtorch computes, with its own sums, is recognised to the bit. */
class CheckedNormsTest {
  private static final int[] WIDTHS = {24, 320, 2048};

  @BeforeAll
  static void loads() {
    Libtorch.require();
  }

  @ParameterizedTest
  @EnumSource(PublishedNorm.class)
  void recognisesPublishedNorms(PublishedNorm norm) {
    List<String> missed = new ArrayList<>();
    int checked = 0;
    for (ElementType type : ElementType.values()) {
      for (ElementType weight : ElementType.values()) {
        for (int width : norm.takes(type, weight) ? WIDTHS : new int[0]) {
          for (double scale : new double[] {0.004, 1}) {
            Random random = new Random(width);
            CheckReport report = report(norm, type, weight, width, scale, random);
            checked++;
            // libtorch shifts rows in LayerNorm, x * rstd - mean * rstd, which is only near.
            List<Finding> findings = norm.centred() ? report.others() : report.named();
            if (Stream.concat(findings.stream(), report.named().stream())
                .noneMatch(found -> expected(norm, width, found))) {
              missed.add(
                  "%s of %s, weight %s, width %d, scale %s: %s"
                      .formatted(norm, type, weight, width, scale, report.verdict()));
            }
          }
        }
      }
    }
    assertThat(checked).isGreaterThan(8);
    assertThat(missed).isEmpty();
  }

  private static CheckReport report(
      PublishedNorm norm, ElementType type, ElementType weight, int width, double scale, Random r) {
    int rows = rows(width);
    double[] x = numbers(r, rows * width, 0.2, scale);
    double[] residual = norm.adds() ? numbers(r, rows * width, 0.2, scale) : null;
    double[] gain = numbers(r, width, 1, 0.5);
    double[] bias = norm.hasBias() ? numbers(r, width, 0, 0.3) : null;
    try (PointerScope _ = new PointerScope()) {
      Tensor in = Libtorch.tensor(x, type, width);
      Tensor added = residual == null ? null : Libtorch.tensor(residual, type, width);
      Tensor w = Libtorch.parameter(gain, weight);
      Tensor b = bias == null ? null : Libtorch.parameter(bias, weight);
      Tensor y = norm.apply(in, added, new Learned(w, b, norm.epsilon())).y();
      Sample sample =
          Sample.of(
              rows(in, type, width),
              added == null ? null : rows(added, type, width),
              rows(y, Libtorch.elementType(y), width),
              rows(w, weight, width),
              b == null ? null : rows(b, weight, width),
              LongStream.range(0, rows).toArray());
      return new NormCheck(sample, List.of(PublishedNorm.P)).run();
    }
  }

  private static int rows(int width) {
    return width > 1000 ? 4 : 18;
  }

  private static Rows rows(Tensor tensor, ElementType type, int width) {
    double[] values = Libtorch.values(tensor);
    MemorySegment elements = MemorySegment.ofArray(new byte[values.length * type.bytes()]);
    for (int i = 0; i < values.length; i++) {
      type.set(elements, i, values[i]);
    }
    return Rows.of(elements, type, values.length / width, width);
  }

  private static double[] numbers(Random random, int count, double mean, double scale) {
    double[] numbers = new double[count];
    Arrays.setAll(numbers, i -> mean * scale + scale * random.nextGaussian());
    return numbers;
  }

  private static boolean expected(PublishedNorm norm, int width, Finding found) {
    String order =
        switch (norm) {
          case LLAMA, ADDED_FIRST -> "llama";
          case T5 -> "t5";
          case PAPER, PARTIAL -> "divided";
          default -> "float32";
        };
    String residual =
        switch (norm) {
          case ADDED_FIRST, ADDED_LAYER_NORM -> "first";
          case ADDED_BETWEEN -> "between";
          case ADDED_LAST -> "last";
          default -> null;
        };
    return found.kind().startsWith(norm.centred() ? "LayerNorm" : "RMSNorm")
        && found.castOrders().contains(order)
        && found.epsilon() == norm.epsilon()
        && found.epsilonAt().equals(norm.placement().name().toLowerCase(Locale.ROOT))
        && found.part() == norm.part(width)
        && found.gainOffset() == (norm == PublishedNorm.GEMMA ? 1 : 0)
        && (found.residualRounding() == null || found.residualRounding().equals(residual));
  }

  /** Norms that this library does not make, as their Python code has them. */
  @ParameterizedTest
  @CsvSource({
    "rounded-root, false, 1e-6",
    "none, true, 1e-5",
    "none-divided, true, 1e-6",
    "gain-first, true, 1e-6",
    "loaded gain, true, 1e-6"
  })
  void recognisesOtherOrders(String order, boolean hasGain, double epsilon) {
    for (ElementType type : new ElementType[] {ElementType.FLOAT16, ElementType.BFLOAT16}) {
      for (int width : WIDTHS) {
        Random random = new Random(width);
        double[] gain = numbers(random, width, 0, 0.5);
        int rows = rows(width);
        double[] x = numbers(random, rows * width, 0, 0.05);
        try (PointerScope _ = new PointerScope()) {
          Tensor in = Libtorch.tensor(x, type, width);
          Tensor w = Libtorch.parameter(gain, type);
          Tensor y = inOrder(order, in, w, epsilon);
          Sample sample =
              Sample.of(
                  rows(in, type, width),
                  null,
                  rows(y, type, width),
                  hasGain ? rows(w, type, width) : null,
                  null,
                  LongStream.range(0, rows).toArray());
          CheckReport report = new NormCheck(sample, List.of()).run();
          assertThat(report.named())
              .describedAs("%s, %s, %d: %s", order, type, width, report.verdict())
              .anyMatch(found -> found.epsilon() == epsilon && is(order, found));
        }
      }
    }
  }

  private static boolean is(String order, Finding found) {
    return order.equals("loaded gain")
        ? found.castOrders().contains("float32")
            && found.gainOffset() == 1
            && found.gainType() != null
        : found.castOrders().contains(order) && found.gainType() == null;
  }

  private static Tensor inOrder(String order, Tensor x, Tensor w, double epsilon) {
    Tensor wide = x.to(ScalarType.Float);
    Tensor rstd = meanSquare(wide).add(new Scalar(epsilon)).rsqrt();
    return switch (order) {
      case "rounded-root" -> x.mul(rstd.to(x.scalar_type()));
      case "none" -> x.mul(meanSquare(x).add(new Scalar(epsilon)).rsqrt()).mul(w);
      case "none-divided" -> x.div(meanSquare(x).add(new Scalar(epsilon)).sqrt()).mul(w);
      case "gain-first" -> wide.mul(rstd.mul(w.to(ScalarType.Float))).to(x.scalar_type());
      case "loaded gain" ->
          wide.mul(rstd).mul(w.add(new Scalar(1.0)).to(ScalarType.Float)).to(x.scalar_type());
      default -> throw new AssertionError(order);
    };
  }

  private static Tensor meanSquare(Tensor x) {
    return x.mul(x).mean(new long[] {-1}, true, new ScalarTypeOptional());
  }
}
