package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.ForwardFormula;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Norms with drawn choices. */
final class NormStages {
  private final SplittableRandom random;
  private final boolean float64;
  private final Set<ElementType> narrow;
  private final List<ElementType> types;

  NormStages(SplittableRandom random, boolean float64, Set<ElementType> narrow, boolean paired) {
    this.random = random;
    List<ElementType> ofFloat32 = List.of(ElementType.values());
    ElementType only = float64 ? ElementType.FLOAT64 : ElementType.BFLOAT16;
    types = float64 || paired ? List.of(only) : ofFloat32;
    this.float64 = float64;
    this.narrow = narrow;
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
    NormSpec any = NormSpec.RMSNORM.withCastOrder(one(List.of(CastOrder.values())));
    NormSpec usual = one(List.of(NormSpec.RMSNORM, any, NormSpec.LAYERNORM, NormSpec.L2));
    return usual
        .withEpsilonPlacement(one(List.of(EpsilonPlacement.values())))
        .withResidualRounding(one(List.of(ResidualRounding.values())));
  }

  private Storage storage(List<Tensor> rows) {
    Map<Tensor, ElementType> types = new TreeMap<>();
    for (Tensor tensor : rows) {
      if (!tensor.equals(Forward.RESIDUAL) || maybe()) {
        types.put(tensor, type());
      }
    }
    return new Storage(float64, narrow, types);
  }

  Forward forward() {
    ForwardFormula formula = new ForwardFormula(spec(), maybe() ? type() : null, maybe(), maybe());
    Storage storage = storage(formula.rows());
    return new Forward(storage, formula, storage.has(Forward.RESIDUAL) && maybe());
  }

  Backward backward() {
    BackwardFormula formula =
        new BackwardFormula(spec(), maybe(), maybe(), maybe(), maybe(), true, maybe());
    return new Backward(storage(formula.rows()), formula, false);
  }
}
