package io.github.rmsnorm4j.models.transformer;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.internal.Floats;
import io.github.rmsnorm4j.models.internal.SeededRandom;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A norm, the addition and the next norm at once have the bits of three steps. */
class NormedInputTest {
  private static final long SEED = 20_261_125;
  private static final int WIDTH = 40;
  private static final String AFTER = "model.layers.0.post_attention_layernorm";
  private static final String BEFORE = "model.layers.0.pre_feedforward_layernorm";

  record Case(String norm, int rows, Arithmetic arithmetic, boolean joins) {}

  static Stream<Case> cases() {
    Arithmetic machine =
        new Arithmetic(MatrixProduct.PLAIN_JAVA, Backend.best(), ElementType.FLOAT32);
    return Stream.of("rmsnorm", "layernorm", "gemma(eps=1e-5)", "rmsnorm(part=1/8)")
        .flatMap(
            norm ->
                Stream.of(
                    new Case(norm, 300, Arithmetic.PLAIN, true),
                    new Case(norm, 300, machine, true),
                    new Case(norm, 14_000, machine, true),
                    new Case(norm, 300, machine.withNormRows(ElementType.BFLOAT16), false)));
  }

  private static Matrix random(Setup setup, int stream) {
    Matrix matrix = setup.allocate(setup.rows(), WIDTH);
    SeededRandom random = new SeededRandom(SEED, stream);
    Floats values = matrix.floats();
    for (long i = 0; i < matrix.elements(); i++) {
      values.set(i, (float) random.nextGaussian());
    }
    return matrix;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void hasTheBitsOfThreeSteps(Case of) {
    ModelConfig config =
        ModelConfig.builder(9, WIDTH, 1, 2)
            .norm(NormSpec.parse(of.norm))
            .placement(Placement.SANDWICH)
            .build();
    try (Weights weights = Configs.weights(config, SEED);
        Arena arena = Arena.ofShared()) {
      Positions positions = new Positions(of.rows, false);
      Setup setup =
          new Setup(weights, 1, of.rows, positions, 1, of.arithmetic, arena, new StepTimes());
      Matrix x = random(setup, 0);
      Matrix branch = random(setup, 1);

      NormLayer after = NormLayer.of(setup, AFTER);
      NormedInput input = NormedInput.of(setup, BEFORE);
      assertThat(after.joins(input.norm)).isEqualTo(of.joins);
      Matrix sum = setup.allocate(of.rows, WIDTH);
      input.takeSum(x, after, branch, sum);

      NormLayer after3 = NormLayer.of(setup, AFTER);
      NormLayer before3 = NormLayer.of(setup, BEFORE);
      Matrix sum3 = setup.allocate(of.rows, WIDTH);
      Matrix normed3 = setup.allocate(of.rows, WIDTH);
      after3.forward(branch, sum3);
      sum3.add(x);
      before3.forward(sum3, normed3);
      requireSame(sum, sum3);
      requireSame(input.get(), normed3);
      assertThat(x.segment.mismatch(random(setup, 0).segment)).isEqualTo(-1);

      if (!of.arithmetic.narrowsRows()) {
        assertThat(gradients(setup, weights, input.norm, after))
            .isEqualTo(gradients(setup, weights, before3, after3));
      }
    }
  }

  private static void requireSame(Matrix actual, Matrix wanted) {
    assertThat(actual.segment.mismatch(wanted.segment)).isEqualTo(-1);
  }

  /** The bytes of dx, and of all gradients of parameters. */
  private static byte[] gradients(Setup setup, Weights weights, NormLayer before, NormLayer after) {
    weights.zeroGradients();
    Matrix d = random(setup, 2);
    Matrix stream = random(setup, 3);
    before.backward(d, stream, stream);
    after.backward(stream, d);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (MemorySegment of : List.of(stream.segment, d.segment, weights.gradients())) {
      bytes.writeBytes(of.toArray(ValueLayout.JAVA_BYTE));
    }
    return bytes.toByteArray();
  }
}
