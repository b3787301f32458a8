package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The norms that are tried: formulas with every place at which they may round. */
final class Candidates {
  private final Sample sample;
  private final Map<List<Object>, Candidate> byFormula = new LinkedHashMap<>();

  private Candidates(Sample sample) {
    this.sample = sample;
  }

  /** All that round one of these formulas, each formula once. */
  static Collection<Candidate> of(
      Sample sample, Stream<NormSpec> specs, boolean listed, Set<ElementType> inputs) {
    Candidates candidates = new Candidates(sample);
    specs.forEach(spec -> inputs.forEach(input -> candidates.add(spec, listed, input)));
    return candidates.byFormula.values();
  }

  private void add(NormSpec spec, boolean listed, ElementType input) {
    boolean wide = input == ElementType.FLOAT64;
    if (sample.residual != null && !wide && sample.residualType() == ElementType.FLOAT64) {
      return;
    }
    for (ElementType output : sample.outputs()) {
      for (CastOrder order : orders(spec)) {
        for (ResidualRounding rounding : roundings()) {
          NormSpec each = inOrder(spec, order).withResidualRounding(rounding);
          for (ElementType gain : gains(each, input)) {
            Candidate next = new Candidate(each, List.of(order), input, output, gain, listed);
            byFormula.merge(next.formula(sample), next, Candidate::or);
          }
        }
      }
    }
  }

  private ResidualRounding[] roundings() {
    return sample.residual == null
        ? new ResidualRounding[] {ResidualRounding.FIRST}
        : ResidualRounding.values();
  }

  /** Those of this kind and offset. */
  private List<CastOrder> orders(NormSpec spec) {
    if (spec.kind() != NormSpec.Kind.RMS_NORM) {
      return List.of(CastOrder.FLOAT32, CastOrder.DIVIDED);
    }
    return Stream.of(CastOrder.values())
        .filter(order -> order != CastOrder.T5 || spec.gainOffset() == 0)
        .toList();
  }

  /** What the gain with its offset may be rounded to when it is loaded; null for nothing. */
  private List<ElementType> gains(NormSpec spec, ElementType input) {
    List<ElementType> gains = new ArrayList<>();
    gains.add(null);
    boolean rounds =
        switch (spec.castOrder()) {
          case T5, NONE, NONE_DIVIDED -> false;
          case FLOAT32, LLAMA, ONNX, DIVIDED, GAIN_FIRST, ROUNDED_ROOT ->
              sample.gain != null && input != ElementType.FLOAT64;
        };
    if (rounds) {
      ElementType stored = sample.gain.type();
      Stream.of(input, stored)
          .filter(type -> Candidate.isNarrow(type) && !gains.contains(type))
          .filter(type -> spec.gainOffset() != 0 || type != stored)
          .forEach(gains::add);
    }
    return gains;
  }

  /** Those that differ from one in one choice, by choice. */
  static Collection<List<Candidate>> around(
      Candidate one, Sample sample, List<Double> shares, Set<ElementType> inputs) {
    List<Object> choices = one.choices(sample);
    Stream<NormSpec> specs =
        Shapes.bases(sample.width(), shares).stream()
            .flatMap(base -> Shapes.of(base, sample.gain != null).stream())
            .filter(spec -> differing(choices, shape(spec, one).choices(sample)).length <= 1);
    Map<Integer, List<Candidate>> around = new LinkedHashMap<>();
    of(sample, Stream.concat(Stream.of(one.spec()), specs), true, inputs)
        .forEach(
            other -> {
              int[] differing = differing(choices, other.choices(sample));
              if (differing.length == 1 && !other.formula(sample).equals(one.formula(sample))) {
                around.computeIfAbsent(differing[0], _ -> new ArrayList<>()).add(other);
              }
            });
    return around.values();
  }

  /** A formula with the roundings of another norm, where its kind has them. */
  private static Candidate shape(NormSpec spec, Candidate like) {
    boolean all = spec.kind() == NormSpec.Kind.RMS_NORM || like.order() == CastOrder.DIVIDED;
    CastOrder order = all ? like.order() : CastOrder.FLOAT32;
    NormSpec each = inOrder(spec, order).withResidualRounding(like.spec().residualRounding());
    return new Candidate(each, List.of(order), like.input(), like.output(), like.gain(), true);
  }

  private static NormSpec inOrder(NormSpec spec, CastOrder order) {
    return spec.kind() == NormSpec.Kind.RMS_NORM ? spec.withCastOrder(order) : spec;
  }

  private static int[] differing(List<Object> a, List<Object> b) {
    return IntStream.range(0, a.size()).filter(i -> !a.get(i).equals(b.get(i))).toArray();
  }
}
