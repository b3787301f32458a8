package io.github.rmsnorm4j.studies.training;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.transformer.Model;
import io.github.rmsnorm4j.models.transformer.ModelConfig;
import io.github.rmsnorm4j.models.transformer.Parameter;
import io.github.rmsnorm4j.models.transformer.Placement;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Steps after the first make next to no objects, however large the model. */
@Tag("measure")
class AllocationTest {
  /**
   * Until the JIT is through with the norms' vectors and small records, which are objects before
   * that. That takes up to 60 steps, and on a busy machine up to 2,500.
   */
  private static final int MOST_ROUNDS = 500;

  private static final int STEPS = 20;

  /**
   * Thrice what the library makes for a forward and a backward call of a norm: what they are to do.
   * An object for each row is 8,192 bytes at least.
   */
  private static final long PER_NORM = 1000;

  /** Powers, by the JDK, are 192 bytes. */
  private static final long REST = 1000;

  @Tag("long")
  @ParameterizedTest
  @CsvSource({", PRE, 32, 64", "layernorm, PRE, 32, 64", "layernorm, SANDWICH, 32, 64"})
  void aStepOfALargerModelAllocatesNextToNothing(
      NormSpec norm, Placement placement, int batch, int width) {
    aStepAllocatesNextToNothing(norm, placement, batch, width);
  }

  @ParameterizedTest
  @CsvSource({
    ", PRE, 32, 16",
    "rmsnorm, PRE, 32, 16",
    "rmsnorm, SANDWICH, 32, 16",
    "layernorm, SANDWICH, 32, 16"
  })
  void aStepAllocatesNextToNothing(NormSpec norm, Placement placement, int batch, int width) {
    ModelConfig config =
        ModelConfig.of(
            32,
            width,
            2,
            2,
            o -> {
              o.norm = norm;
              o.placement = placement;
            });
    long norms = config.parameters().stream().filter(Parameter::isGain).count();
    long allowed = REST + norms * PER_NORM;
    try (Weights weights = new Weights(config).initialise(1);
        Model model = new Model(weights, batch, 16, 1, OpenBlas.ARITHMETIC);
        Trainer trainer =
            new Trainer(model, new RecallTask(32, 4, 16, 1), TrainingSettings.of(1000, 1e-3))) {
      long least = Long.MAX_VALUE;
      for (int i = 0; i < MOST_ROUNDS && least > allowed; i++) {
        least = Math.min(least, allocatedPerStep(trainer));
      }
      assertThat(least).isLessThanOrEqualTo(allowed);
    }
  }

  private static long allocatedPerStep(Trainer trainer) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < STEPS; i++) {
      trainer.takeStep();
    }
    return (threads.getCurrentThreadAllocatedBytes() - before) / STEPS;
  }
}
