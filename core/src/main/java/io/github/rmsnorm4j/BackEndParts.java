package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.backend.NormColumns;
import io.github.rmsnorm4j.internal.first.Advice;
import io.github.rmsnorm4j.internal.formula.Formula;
import io.github.rmsnorm4j.internal.formula.ForwardFormula;
import io.github.rmsnorm4j.internal.norm.Payoff;
import io.github.rmsnorm4j.internal.norm.Plans;
import org.jspecify.annotations.Nullable;

/** What a norm's calls of back ends need. It is made at the first one, as many norms have none. */
final class BackEndParts {
  private static final int TYPES = ElementType.values().length;

  final CallMemory memory;

  /** The kernels of the last calls, which the next call will most often need. */
  final Plans plans;

  final Plans backwardPlans;

  /** The choices for float64 rows, and for all others; they differ where epsilon is by the type. */
  private final NormChoices float64Choices;

  private final NormChoices choices;

  /** Gain and bias for float64 rows, and for all others. */
  private final NormColumns float64Columns = new NormColumns();

  private final NormColumns columns = new NormColumns();

  /** Those of the calls so far: by the type of x, that of the gain, and whether there is a bias. */
  private final @Nullable Formula[] formulas = new Formula[TYPES * (TYPES + 1) * 2];

  /**
   * The parts of a norm.
   *
   * @param part the number of elements of the statistic of a row
   */
  BackEndParts(NormSpec spec, int width, int part, Backend backend, boolean safe) {
    memory = new CallMemory(backend.nativeAccess() && !safe);
    plans = plans(backend, Payoff.forward(spec.kind()));
    backwardPlans = plans(backend, Payoff.backward(spec.kind()));
    choices = new NormChoices(spec, width, part, spec.epsilon(ElementType.FLOAT32));
    float64Choices =
        spec.epsilon().isPresent()
            ? choices
            : new NormChoices(spec, width, part, spec.epsilon(ElementType.FLOAT64));
  }

  private static Plans plans(Backend backend, Payoff payoff) {
    if (!backend.startsPlain()) {
      return new Plans(backend::machineBits, backend::kernelBits, backend.hasLoops(), null);
    }
    // Plans ask when a kernel pays, so this is the time to say what would be faster.
    return new Plans(
        () -> {
          if (backend == Backend.best()) {
            Advice.give();
          }
          return backend.machineBits();
        },
        backend::kernelBits,
        backend.hasLoops(),
        payoff);
  }

  /** A forward pass; here, because the JVM loads all formulas to verify a method that makes one. */
  Formula forward(ElementType x, @Nullable ElementType gain, boolean bias) {
    int ofGain = gain == null ? 0 : gain.ordinal() + 1;
    int i = (x.ordinal() * (TYPES + 1) + ofGain) * 2 + (bias ? 1 : 0);
    Formula formula = formulas[i];
    if (formula == null) {
      formula = ForwardFormula.of(choices.spec(), x, gain, bias);
      formulas[i] = formula;
    }
    return formula;
  }

  /** The choices for rows of a type. */
  NormChoices choices(ElementType rows) {
    return rows == ElementType.FLOAT64 ? float64Choices : choices;
  }

  NormColumns columns(boolean float64) {
    return float64 ? float64Columns : columns;
  }
}
