package io.github.rmsnorm4j.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.oracle.CaseGenerator.Distribution;
import io.github.rmsnorm4j.oracle.CaseGenerator.Parameters;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** RMSNorm and LayerNorm against libtorch's operators and against the formulas run on it. */
class AgreementTest {
  private static final int[] WIDTHS = {
    1, 2, 3, 7, 8, 31, 32, 33, 64, 100, 255, 1000, 1024, 1025, 4096, 65535, 65536
  };
  private static final double[] EPSILONS = {1e-6, 1e-5, 0.1, 1e-12, 0};

  @BeforeAll
  static void requireLibtorch() {
    Libtorch.require();
  }

  static Stream<Arguments> norms() {
    return Stream.of(ElementType.values())
        .flatMap(
            type ->
                Stream.of(false, true)
                    .flatMap(
                        centred ->
                            Stream.of(Parameters.values())
                                .map(parameters -> Arguments.of(type, centred, parameters))));
  }

  static Stream<Arguments> wideRangeNorms() {
    List<ElementType> types = List.of(ElementType.FLOAT32, ElementType.BFLOAT16);
    return norms().filter(norm -> types.contains(norm.get()[0]));
  }

  @ParameterizedTest(name = "{0}, centred {1}, {2}")
  @MethodSource("norms")
  void asNearTheExactResultAsPromisedAndNeverFartherThanLibtorch(
      ElementType type, boolean centred, Parameters parameters) {
    Errors ours = new Errors();
    Errors theirs = new Errors();
    int seed = 0;
    for (int width : WIDTHS) {
      int rows = Math.clamp(4096 / width, 2, 64);
      for (Distribution of : distributions(type, width)) {
        double epsilon = EPSILONS[(seed + width) % EPSILONS.length];
        if (centred && of.offset() >= 1000 && epsilon < 1e-6) {
          // Rows that 16 bits make constant have no answer without epsilon.
          epsilon = 1e-6;
        }
        NormCase norm =
            new CaseGenerator(seed++).draw(centred, type, parameters, rows, width, epsilon, of);
        Comparison comparison = new Comparison(norm);
        if (type != ElementType.FLOAT64) {
          comparison.assertWithinContract();
        }
        if (isInLibtorchsRange(norm)) {
          double[] libtorch = Libtorch.norm(norm, type);
          comparison.assertNear("libtorch", libtorch);
          comparison.assertNear("the formula run on libtorch", Libtorch.formula(norm, type));
          ours.add(comparison, comparison.ours);
          theirs.add(comparison, libtorch);
        }
      }
    }
    String name = type + (centred ? " LayerNorm " : " RMSNorm ") + parameters;
    if (type == ElementType.FLOAT64) {
      System.out.println(name + ", distance from libtorch: " + ours);
    } else {
      System.out.println(name + ", errors here: " + ours + "; libtorch: " + theirs);
      // 16-bit types: both are the rounding of nearly the same numbers, so they come out level.
      assertThat(ours.rms()).as("root mean square error").isLessThan(theirs.rms() * 1.001);
      assertThat(ours.worst).as("worst error").isLessThan(theirs.worst * 1.01);
    }
  }

  /** libtorch squares in float32: larger and smaller rows are beyond it, not beyond float64. */
  @ParameterizedTest(name = "{0}, centred {1}, {2}")
  @MethodSource("wideRangeNorms")
  void rightWhereSquaresLeaveFloat32(ElementType type, boolean centred, Parameters parameters) {
    int seed = 5000;
    for (int width : new int[] {1, 2, 3, 33, 64, 1000, 4096}) {
      for (double scale : new double[] {centred ? 1e-30 : 1e-38, 1e-26, 1e-22, 1e19, 1e30, 5e37}) {
        for (double epsilon : new double[] {0, 1e-6}) {
          Distribution of = new Distribution(scale, centred ? 1 : 0);
          new Comparison(
                  new CaseGenerator(seed++).draw(centred, type, parameters, 4, width, epsilon, of))
              .assertWithinContract();
        }
      }
    }
  }

  private static List<Distribution> distributions(ElementType type, int width) {
    double[] scales =
        switch (type) {
          case FLOAT64 -> new double[] {1, 1e-3, 1e-20, 1e-140, 1e100};
          case FLOAT32, BFLOAT16 -> new double[] {1, 1e-3, 1e4, 1e-20, 1e15, 1e18};
          case FLOAT16 -> new double[] {1, 1e-3, 1e3};
        };
    Stream<Distribution> centred = Stream.of(0.0, 1.0, 1000.0).map(o -> new Distribution(1, o));
    Stream<Distribution> scaled =
        Arrays.stream(scales).skip(1).mapToObj(s -> new Distribution(s, 0.5));
    return Stream.concat(centred, scaled).limit(width > 4096 ? 4 : Long.MAX_VALUE).toList();
  }

  private static boolean isInLibtorchsRange(NormCase norm) {
    double largest = 0;
    for (double x : norm.x()) {
      largest = Math.max(largest, Math.abs(x));
    }
    return norm.type() == ElementType.FLOAT64
        || (largest * largest * norm.width() < 0x1p126
            && (norm.epsilon() > 0 || largest > 0x1p-50));
  }

  /** Errors in units of the type at the element. */
  private static final class Errors {
    private double worst;
    private double squares;
    private long count;

    void add(Comparison comparison, double[] answer) {
      for (int i = 0; i < answer.length; i++) {
        double error = comparison.error(answer, i);
        if (!Double.isNaN(error)) {
          worst = Math.max(worst, error);
          squares += error * error;
          count++;
        }
      }
    }

    double rms() {
      return Math.sqrt(squares / count);
    }

    @Override
    public String toString() {
      return String.format("worst %.3f, rms %.4f", worst, rms());
    }
  }
}
