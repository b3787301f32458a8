package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.RowPart;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * One norm that may have made Y.
 *
 * @param form how elements follow
 * @param orders the cast orders that give this form; more than one where the types make no
 *     difference between them
 * @param statistic what rstd is made of
 */
record Hypothesis(Form form, List<CastForm> orders, Statistic statistic) {
  Hypothesis with(Statistic other) {
    return new Hypothesis(form, orders, other);
  }

  /** RMSNorm or LayerNorm, and how its mean and variance are taken. */
  String kind() {
    return form.centring() + (statistic.sample() ? " with sample variance" : "");
  }

  /** The norm of this library that makes this form of these types, if there is one. */
  Optional<NormSpec> spec(Types types, int width) {
    return Stream.of(CastOrder.values())
        .filter(order -> orders.contains(CastForm.valueOf(order.name())))
        .filter(order -> isBuilt(order, types) && types.taken())
        .map(order -> spec(order, width))
        .filter(spec -> Choices.of(spec, types).form(types).equals(form) && !statistic.sample())
        .findFirst();
  }

  /** Whether builders take this order together with the kind, the bias and the offset. */
  private boolean isBuilt(CastOrder order, Types types) {
    boolean offset = order == CastOrder.T5 && form.offset() != 0;
    return order == CastOrder.FLOAT32 || !(form.layer() || types.bias() || offset);
  }

  private NormSpec spec(CastOrder order, int width) {
    return new NormSpec(
        form.layer() ? NormSpec.Kind.LAYER_NORM : NormSpec.Kind.RMS_NORM,
        OptionalDouble.of(statistic.epsilon()),
        statistic.place(),
        order,
        form.offset(),
        RowPart.of(statistic.part(), width),
        form.residual() == null ? ResidualRounding.FIRST : form.residual(),
        Gate.NONE,
        RowGroups.WHOLE);
  }

  /** In the field's words, for example "RMSNorm, llama, eps 1e-5". */
  String words(Types types, int width) {
    return kind() + ", " + orders.getFirst() + ", " + statistic.words(width) + form.words(types);
  }
}
