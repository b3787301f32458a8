package io.github.rmsnorm4j.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.transformer.Arithmetic;
import io.github.rmsnorm4j.models.transformer.BlockForm;
import io.github.rmsnorm4j.models.transformer.BlockForm.Biases;
import io.github.rmsnorm4j.models.transformer.MatrixProduct;
import io.github.rmsnorm4j.models.transformer.MlpKind;
import io.github.rmsnorm4j.models.transformer.Model;
import io.github.rmsnorm4j.models.transformer.ModelConfig;
import io.github.rmsnorm4j.models.transformer.Parameter;
import io.github.rmsnorm4j.models.transformer.Placement;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Loss and gradients of the whole model against libtorch's autograd, on the same weights. */
class TransformerTest {
  private static final int BATCH = 3;
  private static final int SEQUENCE = 12;

  /** Plain products, and the fastest kernels of norms. */
  private static final Arithmetic ARITHMETIC =
      new Arithmetic(MatrixProduct.PLAIN_JAVA, null, ElementType.FLOAT32);

  private static final long SEED = 20_261_121;

  @BeforeAll
  static void libtorch() {
    Libtorch.require();
  }

  static List<ModelConfig> configs() {
    List<ModelConfig> configs = new ArrayList<>();
    for (String norm :
        List.of("layernorm", "rmsnorm(eps=1e-5)", "rmsnorm(eps=1e-5, part=1/4)", "none")) {
      for (Placement placement : Placement.values()) {
        for (int i = 0; i < 8; i++) {
          int choice = i;
          configs.add(
              ModelConfig.of(
                  29,
                  24,
                  3,
                  4,
                  o -> {
                    o.headWidth = 8;
                    o.mlpWidth = 40;
                    o.norm = norm.equals("none") ? null : NormSpec.parse(norm);
                    o.placement = placement;
                    o.initialRange = 0.2;
                    o.tied = (choice & 1) != 0;
                    o.queryKeyNorm = (choice & 2) != 0;
                    o.keyValueHeads = (choice & 4) != 0 ? 2 : 4;
                  }));
        }
      }
    }
    return configs;
  }

  @ParameterizedTest
  @MethodSource("configs")
  void lossAndEveryGradient(ModelConfig config) {
    Random random = new Random(SEED);
    int[] tokens = random.ints(BATCH * SEQUENCE, 0, config.vocabulary()).toArray();
    int[] targets = random.ints(BATCH * SEQUENCE, -1, config.vocabulary()).toArray();
    try (Weights weights = weights(config, random);
        Model model = new Model(weights, BATCH, SEQUENCE, 1, ARITHMETIC);
        PointerScope _ = new PointerScope()) {
      model.forward(tokens);
      double loss = model.loss(targets);
      model.backward();

      TransformerInTorch torch = new TransformerInTorch(weights, BATCH, SEQUENCE);
      Tensor expected = torch.loss(tokens, targets);
      expected.backward();
      assertThat(loss).isCloseTo(Libtorch.values(expected)[0], within(1e-6 * loss));
      double worst = 0;
      for (Parameter parameter : weights.parameters()) {
        double error = error(weights.gradient(parameter), torch.gradient(parameter.name()));
        assertThat(error).as("%s of %s", parameter.name(), config).isLessThan(1e-4);
        worst = Math.max(worst, error);
      }
      System.out.printf("%.2e of the largest at worst: %s%n", worst, config);
    }
  }

  static List<ModelConfig> otherForms() {
    List<ModelConfig> configs = new ArrayList<>();
    for (MlpKind mlp : MlpKind.values()) {
      for (Biases biases : Biases.values()) {
        for (double share : new double[] {0, 0.25, 1}) {
          for (NormSpec norm :
              Arrays.asList(NormSpec.LAYERNORM, NormSpec.RMSNORM.withEpsilon(1e-5), null)) {
            boolean isRmsNorm = norm != null && norm.kind() == NormSpec.Kind.RMS_NORM;
            boolean parallel = configs.size() / 3 % 2 == 0;
            configs.add(
                ModelConfig.of(
                    29,
                    48,
                    2,
                    6,
                    o -> {
                      o.mlpWidth = 40;
                      o.maxPositions = SEQUENCE;
                      o.norm = norm;
                      o.initialRange = 0.2;
                      o.tied = configs.size() % 2 == 0;
                      o.form = new BlockForm(mlp, biases, share, parallel, isRmsNorm);
                    }));
          }
        }
      }
    }
    return configs;
  }

  @ParameterizedTest
  @MethodSource("otherForms")
  void logitsOfModelsThatOnlyRunForward(ModelConfig config) {
    Random random = new Random(SEED);
    int[] tokens = random.ints(BATCH * SEQUENCE, 0, config.vocabulary()).toArray();
    try (Weights weights = weights(config, random);
        Model model = new Model(weights, BATCH, SEQUENCE, 1, ARITHMETIC);
        PointerScope _ = new PointerScope()) {
      model.forward(tokens);
      double error =
          error(model.logits(), new TransformerInTorch(weights, BATCH, SEQUENCE).logits(tokens));
      assertThat(error).as(config::toString).isLessThan(1e-5);
      System.out.printf("logits differ by %.2e of the largest: %s%n", error, config);
    }
  }

  /** Gains and biases are not the ones and zeros that a training begins with. */
  private static Weights weights(ModelConfig config, Random random) {
    Weights weights = new Weights(config).initialise(SEED);
    for (Parameter parameter : weights.parameters()) {
      if (!parameter.isMatrix()) {
        perturb(weights.values(parameter), random);
      }
    }
    return weights;
  }

  private static void perturb(MemorySegment values, Random random) {
    for (long i = 0; i < values.byteSize() / Float.BYTES; i++) {
      float value = values.getAtIndex(ValueLayout.JAVA_FLOAT, i);
      float added = (float) (0.3 * random.nextGaussian());
      values.setAtIndex(ValueLayout.JAVA_FLOAT, i, value + added);
    }
  }

  /** The largest difference, as a share of the largest element. */
  private static double error(MemorySegment computed, Tensor expected) {
    double[] values = Libtorch.values(expected);
    double largest = 0;
    double difference = 0;
    for (int i = 0; i < values.length; i++) {
      double ours = computed.getAtIndex(ValueLayout.JAVA_FLOAT, i);
      assertThat(ours).isFinite();
      largest = Math.max(largest, Math.abs(values[i]));
      difference = Math.max(difference, Math.abs(ours - values[i]));
    }
    assertThat(largest).isPositive();
    return difference / largest;
  }
}
