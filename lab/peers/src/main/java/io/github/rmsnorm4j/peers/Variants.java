package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.KernelKind;
import io.github.rmsnorm4j.benchmarks.peers.Variant;
import io.github.rmsnorm4j.peers.Definition.Output;
import io.github.rmsnorm4j.peers.Entrant.Entry;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * This library's variants, and the plain norms that they are compared with, on one thread.
 *
 * @param contest where they meet
 * @param kind the kernels of this JVM
 */
record Variants(Contest contest, KernelKind kind) {
  private static final int GROUPS = 8;
  private static final int HEAD = 128;

  /** Of a sample, as the tokens of an image are. */
  private static final int ROWS_OF_SAMPLE = 64;

  /**
   * A gate takes this many float32 roundings; one before the norm as many in the statistic, too.
   */
  private static final double ROUNDINGS_OF_GATE = 24;

  /** All that are measured with the norm and the type of a contest. */
  static List<Entrant> in(Contest contest, KernelKind kind) {
    Variants variants = new Variants(contest, kind);
    if (contest.kernel() == Kernel.LAYER_NORM) {
      return List.of(variants.norm(), variants.modulated());
    }
    if (contest.type() != ElementType.FLOAT32) {
      return List.of(variants.withoutGain(), variants.roundedRoot());
    }
    return Stream.of(
            Stream.of(variants.norm()),
            new QuantizedVariants(variants).entrants(),
            variants.groups(),
            Stream.of(variants.withoutGain(), variants.l2()),
            Stream.of(Gate.values()).filter(gate -> gate != Gate.NONE).map(variants::gated),
            new SandwichVariants(variants).entrants())
        .flatMap(s -> s)
        .toList();
  }

  Entrant entrant(Variant variant, Definition definition, Entry entry) {
    return new Entrant(variant.system(kind), contest.kernel(), definition, entry);
  }

  private Entrant norm() {
    return applied(Variant.NORM, Definition.of(contest.kernel()), this::spec, place -> place.gain);
  }

  private Stream<Entrant> groups() {
    RowGroups heads = RowGroups.ofSize(HEAD);
    return Stream.of(
        grouped(Variant.EIGHT_GROUPS, RowGroups.ofCount(GROUPS), place -> place.gain),
        grouped(Variant.HEADS, heads, place -> Arrays.copyOf(place.gain, HEAD)),
        grouped(Variant.HEADS_WITH_GAINS, heads, place -> place.gain));
  }

  private Entrant withoutGain() {
    return applied(Variant.WITHOUT_GAIN, like(VariantOutputs.withoutGain()), this::spec, _ -> null);
  }

  private Entrant l2() {
    return applied(Variant.L2, like(VariantOutputs.l2()), _ -> NormSpec.L2, _ -> null);
  }

  private Entrant roundedRoot() {
    return applied(
        Variant.ROUNDED_ROOT,
        like(VariantOutputs.roundedRoot(contest.type())),
        place -> spec(place).withCastOrder(CastOrder.ROUNDED_ROOT),
        _ -> null);
  }

  private Entrant grouped(Variant variant, RowGroups groups, Function<Place, double[]> gain) {
    Output output = VariantOutputs.grouped(groups.count(contest.width()), gain);
    return applied(variant, like(output), place -> spec(place).withGroups(groups), gain);
  }

  private Entrant gated(Gate gate) {
    return entrant(
        Variant.gated(gate),
        Definition.of(VariantOutputs.gated(gate), ROUNDINGS_OF_GATE),
        (place, _) -> {
          Norm norm = norm(place, spec(place).withGate(gate), place.gain);
          Rows x = place.view(place.x);
          Rows z = place.view(place.second());
          Rows y = place.view(place.y);
          return () -> norm.applyGated(x, z, y);
        });
  }

  private Entrant modulated() {
    int samples = Math.max(1, contest.rows() / ROWS_OF_SAMPLE);
    return entrant(
        Variant.MODULATED,
        like(VariantOutputs.modulated(samples)),
        (place, _) -> {
          Rows x = place.view(place.x);
          Rows gain = parameters(place, 0, samples);
          Rows bias = parameters(place, samples, samples);
          Norm norm = norm(place, spec(place).withGainOffset(1), null).withParameters(gain, bias);
          Rows y = place.view(place.y);
          return () -> norm.apply(x, y);
        });
  }

  /** A row for each sample. */
  private Rows parameters(Place place, int from, int samples) {
    double[] values =
        IntStream.range(from, from + samples)
            .mapToObj(place::second)
            .flatMapToDouble(Arrays::stream)
            .toArray();
    return Rows.of(
        place.parameter(values, ElementType.FLOAT32),
        ElementType.FLOAT32,
        samples,
        contest.width());
  }

  /** As many operations as the plain norm has, or fewer. */
  private Definition like(Output output) {
    return new Definition(output, contest.kernel()::roundings, 0);
  }

  private Entrant applied(
      Variant variant,
      Definition definition,
      Function<Place, NormSpec> spec,
      Function<Place, double[]> gain) {
    return entrant(
        variant,
        definition,
        (place, _) -> {
          Norm norm = norm(place, spec.apply(place), gain.apply(place));
          Rows x = place.view(place.x);
          Rows y = place.view(place.y);
          return () -> norm.apply(x, y);
        });
  }

  NormSpec spec(Place place) {
    return contest.kernel().spec().withEpsilon(place.epsilon);
  }

  Norm norm(Place place, NormSpec spec, double[] gain) {
    NormBuilder<?> builder = spec.builder(contest.width()).threads(1).backend(kind.backend());
    if (gain != null) {
      builder.gain(gain);
      if (place.bias != null) {
        builder.bias(place.bias);
      }
    }
    return builder.build();
  }
}
