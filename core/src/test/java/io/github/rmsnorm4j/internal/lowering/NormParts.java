package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Storage;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** RMSNorm and LayerNorm with drawn choices. */
final class NormParts {
  private final SplittableRandom random;
  private final Storage storage;
  private final List<ElementType> types;

  NormParts(SplittableRandom random, boolean float64, Set<ElementType> narrow, boolean paired) {
    this.random = random;
    List<ElementType> ofFloat32 = List.of(ElementType.values());
    ElementType only = float64 ? ElementType.FLOAT64 : ElementType.BFLOAT16;
    types = float64 || paired ? List.of(only) : ofFloat32;
    storage = new Storage(float64, narrow);
  }

  private <T> T one(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }

  private ElementType type() {
    return one(types);
  }

  private boolean maybe() {
    return random.nextBoolean();
  }

  private NormSpec spec() {
    NormSpec usual = one(List.of(NormSpec.RMSNORM, NormSpec.ONNX, NormSpec.LAYERNORM));
    return usual
        .withEpsilonPlacement(one(List.of(EpsilonPlacement.values())))
        .withResidualRounding(one(List.of(ResidualRounding.values())));
  }

  Forward forward() {
    ElementType residual = maybe() ? type() : null;
    return new Forward(
        storage,
        spec(),
        type(),
        residual,
        residual != null && maybe(),
        type(),
        maybe() ? type() : null,
        maybe(),
        maybe());
  }

  Backward backward() {
    return new Backward(
        storage,
        spec(),
        type(),
        maybe(),
        type(),
        maybe() ? type() : null,
        type(),
        maybe(),
        maybe(),
        true,
        maybe(),
        false);
  }
}
