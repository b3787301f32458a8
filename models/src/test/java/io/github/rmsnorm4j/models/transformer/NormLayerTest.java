package io.github.rmsnorm4j.models.transformer;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.internal.Floats;
import io.github.rmsnorm4j.models.internal.SeededRandom;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A norm, the addition and the next norm at once have the bits of three steps. */
class NormLayerTest {
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
                    new Case(norm, 14_000, machine, false),
                    new Case(norm, 300, machine.withNormRows(ElementType.BFLOAT16), false)));
  }

  private static void fill(Matrix matrix, int stream) {
    SeededRandom random = new SeededRandom(SEED, stream);
    Floats values = matrix.floats();
    for (long i = 0; i < matrix.elements(); i++) {
      values.set(i, (float) random.nextGaussian());
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void hasTheBitsOfThreeSteps(Case of) {
    ModelConfig config =
        ModelConfig.builder(9, WIDTH, 1, 2)
            .norm(NormSpec.parse(of.norm))
            .placement(Placement.SANDWICH)
            .maxPositions(of.rows)
            .build();
    try (Weights weights = Configs.weights(config, SEED)) {
      byte[] atOnce = run(weights, of, true);
      assertThat(atOnce).isEqualTo(run(weights, of, false));
    }
  }

  /** The bytes of the sum and of its norm; with float32 rows of all gradients as well. */
  private static byte[] run(Weights weights, Case of, boolean join) {
    NormSpec norm = weights.config().norm();
    try (Tape tape = new Tape(weights, 1, of.rows, of.rows, false, 1, of.arithmetic)) {
      Variable x = tape.variable(WIDTH, "stream");
      Variable branch = tape.variable(WIDTH, "branch");
      NormLayer after = new NormLayer(tape, norm, WIDTH, AFTER, branch, "stream");
      Variable sum = after.addTo(x);
      NormLayer before = new NormLayer(tape, norm, WIDTH, BEFORE, sum, "branch");
      Variable y = before.add(true);
      if (join) {
        after.join(before);
        assertThat(before.joined).isEqualTo(of.joins);
      }
      fill(x.values, 0);
      fill(branch.values, 1);
      tape.forward();
      List<MemorySegment> all = new ArrayList<>(List.of(x.values.segment, sum.values.segment));
      all.add(y.values.segment);
      if (!of.arithmetic.narrowsRows()) {
        weights.zeroGradients();
        fill(y.gradient(), 2);
        fill(sum.gradient(), 3);
        tape.backward();
        all.addAll(List.of(x.gradient().segment, branch.gradient().segment));
        all.add(weights.gradients());
      }
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      all.forEach(part -> bytes.writeBytes(part.toArray(ValueLayout.JAVA_BYTE)));
      return bytes.toByteArray();
    }
  }
}
