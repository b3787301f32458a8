package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.Rows;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One norm that may have made Y, and the types around it.
 *
 * @param spec its choices, with the first of the cast orders
 * @param orders the cast orders with this formula; more than one where the types make no difference
 * @param input what X was rounded to before the norm saw it
 * @param output what the result was rounded to
 * @param gain what the gain with its offset was rounded to, or null
 * @param listed whether epsilon is one of the list, not one that was solved for
 */
record Candidate(
    NormSpec spec,
    List<CastOrder> orders,
    ElementType input,
    ElementType output,
    ElementType gain,
    boolean listed) {

  /** The same formula by another name. */
  Candidate or(Candidate other) {
    List<CastOrder> all = new ArrayList<>(orders);
    other.orders.stream().filter(order -> !all.contains(order)).forEach(all::add);
    return new Candidate(spec, all, input, output, gain, listed);
  }

  static boolean isNarrow(ElementType type) {
    return type.bytes() == 2;
  }

  /** The first of the cast orders. Those of LayerNorms and L2 norms that divide have no spec. */
  CastOrder order() {
    return orders.getFirst();
  }

  double epsilon() {
    return spec.epsilon(input);
  }

  boolean divides() {
    return switch (order()) {
      case ONNX, DIVIDED, NONE_DIVIDED -> true;
      case FLOAT32, LLAMA, T5, GAIN_FIRST, ROUNDED_ROOT, NONE -> false;
    };
  }

  /** LayerNorms and L2 norms of the library multiply. */
  boolean isOfLibrary() {
    return spec.kind() == NormSpec.Kind.RMS_NORM || !divides();
  }

  /** Whether every step is rounded to the type of the row. */
  boolean roundsSteps() {
    return isNarrow(input) && (order() == CastOrder.NONE || order() == CastOrder.NONE_DIVIDED);
  }

  /** Whether the order rounds to the type of the row, so that this type matters. */
  boolean roundsToInput() {
    return switch (order()) {
      case FLOAT32, DIVIDED, GAIN_FIRST, T5 -> false;
      case LLAMA, ONNX, ROUNDED_ROOT, NONE, NONE_DIVIDED -> isNarrow(input);
    };
  }

  /** The 16-bit type that the row is rounded to before the gain, or null. */
  ElementType cast(Sample sample) {
    if (order() != CastOrder.T5) {
      return roundsToInput() ? input : null;
    }
    boolean narrow =
        sample.gain != null && input != ElementType.FLOAT64 && isNarrow(sample.gain.type());
    return narrow ? sample.gain.type() : null;
  }

  /** The norm with the parameters of a sample. */
  Norm norm(Sample sample) {
    NormBuilder<?> builder =
        (gain == null ? spec : spec.withGainOffset(0))
            .builder(sample.width())
            .threads(1)
            .backend(Backend.scalar());
    if (sample.gain != null) {
      builder.gain(gain == null ? sample.gain : gainWithOffset(sample.gain));
    }
    if (sample.bias != null && !addsBias(sample)) {
      builder.bias(sample.bias);
    }
    return builder.build();
  }

  /** Norms of this library have a bias in one order alone; in the others it is added here. */
  private boolean addsBias(Sample sample) {
    return sample.bias != null && order() != CastOrder.FLOAT32;
  }

  /**
   * The type in which the norm makes rows that become an output of a type. A product of two 16-bit
   * numbers of one type has that type in PyTorch.
   */
  ElementType made(Sample sample, ElementType type) {
    if (!addsBias(sample)) {
      return type;
    }
    ElementType cast = roundsSteps() ? input : cast(sample);
    ElementType stored = gain != null ? gain : sample.gain == null ? cast : sample.gain.type();
    return cast == null || stored != cast ? compute() : cast;
  }

  /** The output of a type: what the norm made, with the bias that it did not add. */
  Rows finished(Rows made, Sample sample, ElementType type) {
    if (!addsBias(sample)) {
      return made;
    }
    Rows bias = sample.bias;
    Rows sum = Sample.memory(type, made.rows(), made.width());
    for (int i = 0; i < made.rows() * made.width(); i++) {
      double b = compute().round(bias.type().get(bias.segment(), i % made.width()));
      double y = made.type().round(compute().round(made.type().get(made.segment(), i) + b));
      type.set(sum.segment(), i, y);
    }
    return sum;
  }

  /** What the norm makes of a sample. */
  Rows applied(Norm norm, Sample sample, ElementType type) {
    if (!isOfLibrary()) {
      return new Stepped(this, sample, norm, type).made(null);
    }
    Rows x = sample.as(sample.x, input);
    Rows made = Sample.memory(made(sample, type), x.rows(), x.width());
    if (sample.residual == null) {
      norm.apply(x, made);
    } else {
      Rows sum = Sample.memory(sumType(sample), x.rows(), x.width());
      sum.segment().copyFrom(sample.as(sample.residual, sum.type()).segment());
      norm.addAndApply(x, sum, made);
    }
    return finished(made, sample, type);
  }

  /** The type that a sum with the residual is rounded to. */
  ElementType sumType(Sample sample) {
    return input == ElementType.FLOAT64 ? input : sample.residualType();
  }

  /** The type in which elements are computed. */
  ElementType compute() {
    return input == ElementType.FLOAT64 ? input : ElementType.FLOAT32;
  }

  /** The gain as it meets the row, in the compute type or the type that it is rounded to. */
  Rows gainWithOffset(Rows stored) {
    ElementType compute = compute();
    Rows row = Sample.memory(gain == null ? compute : gain, 1, stored.width());
    for (int i = 0; i < stored.width(); i++) {
      double value = compute.round(stored.type().get(stored.segment(), i));
      row.type().set(row.segment(), i, compute.round(spec.gainOffset() + value));
    }
    return row;
  }

  /** What decides the elements for the types of a sample: two norms of equal formula are one. */
  List<Object> formula(Sample sample) {
    return formula(sample, true);
  }

  List<Object> formula(Sample sample, boolean withEpsilon) {
    boolean hasGain = sample.gain != null;
    boolean float64 = input == ElementType.FLOAT64;
    ElementType cast = cast(sample);
    // Without a gain and a bias the output comes next, and is rounded anyway.
    boolean last = !hasGain && sample.bias == null && cast == output && !roundsSteps();
    boolean rounded = isNarrow(input) && order() == CastOrder.ROUNDED_ROOT;
    boolean sums = sample.residual != null && isNarrow(sample.residualType()) && !float64;
    List<Object> formula = new ArrayList<>();
    formula.addAll(
        List.of(spec.kind(), withEpsilon ? epsilon() : "", place(), structure(sample.width())));
    formula.addAll(List.of(divides(), hasGain && order() == CastOrder.GAIN_FIRST));
    formula.addAll(List.of("" + (last ? null : cast), rounded, roundsSteps(), "" + gain));
    formula.addAll(List.of(hasGain ? spec.gainOffset() : 0, sums ? spec.residualRounding() : ""));
    formula.addAll(List.of(sample.holds(input) && !float64 ? "" : input));
    // Arithmetic in float32 makes the same numbers for wider outputs.
    formula.add(isNarrow(output) || float64 ? output : ElementType.FLOAT32);
    return formula;
  }

  EpsilonPlacement place() {
    return epsilon() == 0 ? EpsilonPlacement.INSIDE : spec.epsilonPlacement();
  }

  /** The elements of a statistic, and the groups of a row. */
  List<Object> structure(int width) {
    int groups = spec.groups().count(width);
    return List.of(spec.part().elements(width / groups), groups);
  }

  /** One value for each choice. */
  List<Object> choices(Sample sample) {
    return List.of(
        spec.kind(),
        epsilon(),
        place(),
        structure(sample.width()),
        order(),
        spec.gainOffset() + " " + gain,
        spec.residualRounding(),
        input,
        output);
  }

  /** How many choices are not the usual ones: the simpler of two names comes first. */
  int unusual() {
    boolean rootRounded = roundsSteps() || order() == CastOrder.ROUNDED_ROOT;
    return (spec.gainOffset() == 2 ? 2 : 0)
        + (gain == null ? 0 : 1)
        + (rootRounded && isNarrow(input) ? 1 : 0)
        + (spec.groups().isWhole() ? 0 : 1);
  }

  /** The text that {@code normalize --like} takes; null if files as they are stored give others. */
  String text(Sample sample) {
    boolean stored =
        isOfLibrary() && input == sample.x.type() && output == sample.y.type() && gain == null;
    boolean sums =
        sample.residual == null
            || sample.residualType() == sample.residual.type()
            || spec.residualRounding() == ResidualRounding.LAST;
    boolean ofType = epsilon() == spec.withEpsilonOfType().epsilon(input);
    return stored && sums ? (ofType ? spec.withEpsilonOfType() : spec).toString() : null;
  }

  /** In the field's words, for example "RMSNorm, llama, eps 1e-5". */
  String words(Sample sample) {
    int width = sample.width();
    int groups = spec.groups().count(width);
    StringBuilder words = new StringBuilder(kind() + ", " + name(order()));
    words.append(", eps ").append(epsilonText(epsilon()));
    if (place() != EpsilonPlacement.INSIDE) {
      words.append(" ").append(name(place()));
    }
    if (!spec.part().isWhole()) {
      words.append(", first %s of %s".formatted(spec.part().elements(width), width));
    }
    if (groups > 1) {
      words.append(", %s groups of %s".formatted(groups, width / groups));
    }
    if (spec.gainOffset() != 0) {
      words.append(String.format(Locale.ROOT, ", gain + %.0f", spec.gainOffset()));
    }
    if (gain != null) {
      words.append(spec.gainOffset() == 0 ? ", gain" : "").append(" in ").append(gain.shortName());
    }
    if (sample.residual != null && isNarrow(sample.residualType())) {
      words.append(", residual ").append(name(spec.residualRounding()));
    }
    if (input.bytes() > sample.x.type().bytes()) {
      words.append(", computed in f64");
    } else if (input != sample.x.type()) {
      words.append(", X as ").append(input.shortName());
    }
    return output == sample.y.type() ? "" + words : words + ", Y as " + output.shortName();
  }

  /** What a reader calls it. */
  String kind() {
    return switch (spec.kind()) {
      case RMS_NORM -> "RMSNorm";
      case LAYER_NORM -> "LayerNorm";
      case L2_NORM -> "L2 norm";
    };
  }

  /** The digits of epsilon. */
  int digits() {
    return BigDecimal.valueOf(epsilon()).stripTrailingZeros().precision();
  }

  /** A choice as the command line has it. */
  static String name(Enum<?> choice) {
    return choice.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Short, and those of types by their names. */
  static String epsilonText(double epsilon) {
    if (epsilon == 0x1p-23 || epsilon == 0x1p-52) {
      return "2^" + Math.getExponent(epsilon);
    }
    if (epsilon == 0) {
      return "0";
    }
    String[] parts = String.format(Locale.ROOT, "%.5e", epsilon).split("e");
    return parts[0].replaceFirst("\\.?0+$", "") + "e" + Integer.parseInt(parts[1]);
  }
}
