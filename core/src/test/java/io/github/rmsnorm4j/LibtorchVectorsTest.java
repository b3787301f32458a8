package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The library against answers that libtorch gave, kept in {@code libtorch/TYPE.txt}. The module
 * lab/oracle-tests wrote them, checks that libtorch still gives them, and compares far more, live.
 */
class LibtorchVectorsTest {
  /** One row: its first line, and the numbers of the lines below by their key. */
  private record Vector(String title, Map<String, double[]> lines) {
    boolean centred() {
      return title.startsWith("LayerNorm");
    }

    double epsilon() {
      return Double.parseDouble(title.substring(title.lastIndexOf(' ') + 1));
    }

    double[] x() {
      return lines.get("x");
    }

    double[] exact() {
      return lines.get("libtorch-float64");
    }

    double gain(int i) {
      return lines.containsKey("gain") ? lines.get("gain")[i] : 1;
    }

    double bias(int i) {
      return lines.containsKey("bias") ? lines.get("bias")[i] : 0;
    }

    /** |normalised * gain| + |bias|, which an element's errors are in proportion to. */
    double magnitude(int i) {
      return Math.abs(exact()[i] - bias(i)) + Math.abs(bias(i));
    }

    /** The row of a line; null where there is no such line. */
    Block block(Arena arena, ElementType type, String key) {
      double[] values = lines.get(key);
      if (values == null) {
        return null;
      }
      Block block = new Block(arena, Place.NATIVE, type, 1, values.length, values.length);
      block.put(0, values);
      return block;
    }

    /** How far a LayerNorm's mean is from zero, in deviations. */
    double displacement() {
      if (!centred()) {
        return 0;
      }
      double mean = Arrays.stream(x()).average().orElseThrow();
      double variance =
          Arrays.stream(x()).map(v -> (v - mean) * (v - mean)).average().orElseThrow();
      return Math.abs(mean) / Math.sqrt(variance + epsilon());
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyBackendIsWithinTheContract(ElementType type) throws IOException {
    for (Vector vector : read(type)) {
      for (Backend backend : List.of(Backend.scalar(), Backend.best())) {
        double[] y = normalise(vector, type, backend);
        for (int i = 0; i < y.length; i++) {
          assertThat(y[i])
              .as("element %d of %s, %s", i, vector.title(), backend.describe())
              .isCloseTo(vector.exact()[i], within(bound(vector, type, i)));
        }
      }
    }
  }

  /** Both sides have fixed bits here, so this cannot depend on the machine. */
  @ParameterizedTest
  @EnumSource(names = "FLOAT64", mode = EnumSource.Mode.EXCLUDE)
  void errorsAreNoLargerThanLibtorchs(ElementType type) throws IOException {
    double ours = 0;
    double theirs = 0;
    for (Vector vector : read(type)) {
      double[] y = normalise(vector, type, Backend.best());
      double[] libtorch = vector.lines().get("libtorch-" + type);
      for (int i = 0; i < y.length; i++) {
        if (vector.magnitude(i) > 0) {
          ours += square((y[i] - vector.exact()[i]) / vector.magnitude(i));
          theirs += square((libtorch[i] - vector.exact()[i]) / vector.magnitude(i));
        }
      }
    }
    assertThat(ours).as("sum of the squared errors").isPositive().isLessThanOrEqualTo(theirs);
  }

  private static double square(double v) {
    return v * v;
  }

  /**
   * Three roundings of the arithmetic, five for LayerNorm, one more to add a bias; then one to a
   * 16-bit type. In float64 libtorch's own roundings count too, those of its mean in proportion to
   * the mean.
   */
  private static double bound(Vector vector, ElementType type, int i) {
    double gain = Math.abs(vector.gain(i));
    double magnitude = vector.magnitude(i);
    if (type == ElementType.FLOAT64) {
      double largest = 0;
      for (int j = 0; j < vector.x().length; j++) {
        largest = Math.max(largest, vector.magnitude(j));
      }
      return type.unitRoundoff() * (16 * largest + 4 * vector.displacement() * (largest + gain));
    }
    double roundings =
        (vector.centred() ? 5 : 3) + (vector.lines().containsKey("bias") ? 1 : 0) + 0.01;
    double bound =
        roundings * ElementType.FLOAT32.unitRoundoff() * magnitude
            + Float.MIN_VALUE * (1 + gain)
            + 0x1p-47 * vector.displacement() * gain;
    double size = Math.abs(vector.exact()[i]) + bound;
    return switch (type) {
      case FLOAT16, BFLOAT16 -> bound + Math.max(type.unitRoundoff() * size, type.minValue() / 2);
      case FLOAT32, FLOAT64 -> bound;
    };
  }

  private static double[] normalise(Vector vector, ElementType type, Backend backend) {
    NormSpec spec = vector.centred() ? NormSpec.LAYERNORM : NormSpec.RMSNORM;
    Norm norm =
        spec.withEpsilon(vector.epsilon()).builder(vector.x().length).backend(backend).build();
    try (Arena arena = Arena.ofShared()) {
      Block y = vector.block(arena, type, "x");
      Block gain = vector.block(arena, type, "gain");
      Block bias = vector.block(arena, type, "bias");
      norm.withParameters(gain == null ? null : gain.rows, bias == null ? null : bias.rows)
          .apply(y.rows, y.rows);
      return y.values(0);
    }
  }

  private static List<Vector> read(ElementType type) throws IOException {
    List<Vector> vectors = LibtorchAnswer.read(type + ".txt", Vector::new);
    assertThat(vectors).as("rows of %s", type).hasSizeGreaterThan(20);
    return vectors;
  }
}
