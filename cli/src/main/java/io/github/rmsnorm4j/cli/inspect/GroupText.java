package io.github.rmsnorm4j.cli.inspect;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.models.GainStatistics;
import io.github.rmsnorm4j.models.InspectedNorm;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.rewrite.NormGroup;
import io.github.rmsnorm4j.models.rewrite.Prospects;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** What is said of a group of norms, on the terminal and on the page. Safe to print. */
record GroupText(NormGroup group, Prospects prospects) {
  /** What {@link #rows} holds. */
  static final List<String> COLUMNS =
      List.of("layer", "least", "mean", "greatest", "dead", "negative", "looks like");

  private static final int NAMED = 3;

  /** The names, N for the layer. */
  String name() {
    return Printable.escaped(group.name());
  }

  /** The norms, where their output goes, and what can be done with them. */
  List<String> facts() {
    NormSite site = group.first();
    List<String> facts = new ArrayList<>();
    facts.add(kind(site));
    boolean gated = site.spec().gate() != Gate.NONE;
    facts.add((gated ? "as NormSpec.parse takes it: " : "as --like takes it: ") + site.spec());
    site.note().ifPresent(note -> facts.add("not told by the model: " + note));
    if (!site.consumers().isEmpty()) {
      facts.add("output goes to " + String.join(", ", group.consumers()));
    }
    String fold = group.fold(prospects);
    if (!fold.isEmpty()) {
      facts.add("fold: " + fold);
    }
    if (site.gain().isPresent() && site.spec().gainOffset() == 1) {
      facts.add("gain g = 1 + stored number; \"looks like\" is about the stored numbers");
    }
    return facts.stream().map(Printable::escaped).toList();
  }

  private String kind(NormSite site) {
    NormSpec spec = site.spec();
    int groups = spec.groups().count(site.width());
    String stored =
        site.gain().isEmpty()
            ? "no gain"
            : "the architecture stores the gain as "
                + stored(spec.gainOffset())
                + ", here in "
                + types();
    return "%s of %s%s%s%s, epsilon %s%s, cast order %s; %s%s"
        .formatted(
            switch (spec.kind()) {
              case RMS_NORM -> "RMSNorm";
              case LAYER_NORM -> "LayerNorm";
              case L2_NORM -> "L2 norm";
            },
            site.width(),
            site.heads() ? ", a head" : "",
            groups == 1 ? "" : " in %s groups of %s".formatted(groups, site.width() / groups),
            spec.gate() == Gate.NONE ? "" : ", gate " + spec.gate(),
            epsilon(spec.epsilon(ElementType.FLOAT32)),
            site.epsilonAssumed() ? " (default of the family, the model does not set it)" : "",
            spec.castOrder().name().toLowerCase(Locale.ROOT).replace('_', '-'),
            stored,
            site.bias().isPresent() ? "; with a bias" : "");
  }

  /** How a model stores a gain g that a norm adds this to. */
  private static String stored(double offset) {
    return offset == 0 ? "g" : "g - 1";
  }

  private String types() {
    return group.norms().stream()
        .flatMap(norm -> norm.type().stream())
        .distinct()
        .collect(Collectors.joining(", "));
  }

  /** The gains, a row for each layer; empty if there is no gain. */
  List<List<String>> rows() {
    return group.first().gain().isEmpty()
        ? List.of()
        : group.norms().stream().map(GroupText::row).toList();
  }

  private static List<String> row(InspectedNorm norm) {
    GainStatistics gain = norm.gain().orElseThrow();
    return List.of(
        layer(norm),
        number(gain.least()),
        number(gain.mean()),
        number(gain.greatest()),
        String.valueOf(gain.dead()),
        String.valueOf(gain.negative()),
        gain.looksLike().map(GroupText::stored).orElse("either")
            + (gain.nonFinite() > 0 ? ", %s not finite".formatted(gain.nonFinite()) : ""));
  }

  private static String layer(InspectedNorm norm) {
    return norm.site().layer() < 0 ? "" : String.valueOf(norm.site().layer());
  }

  /** Says where the numbers contradict the architecture, if most of them do. */
  Optional<String> warning() {
    List<String> doubtful =
        group.norms().stream().filter(InspectedNorm::isDoubtful).map(GroupText::layer).toList();
    int norms = group.norms().size();
    // A few gains may look so by chance.
    if (2 * doubtful.size() <= norms) {
      return Optional.empty();
    }
    String which =
        doubtful.size() == norms
            ? "the stored numbers look"
            : "the numbers of layer " + some(doubtful) + " look";
    return Optional.of(
        group.first().spec().gainOffset() == 0
            ? "warning: "
                + which
                + " like g - 1, but the architecture stores g. A converter to GGUF"
                + " adds the 1 of Gemma: look whether it did."
            : "warning: "
                + which
                + " like g, but the architecture stores g - 1 and adds the 1 itself."
                + " Look whether it was added already.");
  }

  /** The first ones of many. */
  static String some(List<String> names) {
    return names.stream().limit(NAMED).collect(Collectors.joining(", "))
        + (names.size() > NAMED ? ", ..." : "");
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.4g", value);
  }

  /** As people write it: 1e-5. */
  private static String epsilon(double value) {
    String[] parts = String.format(Locale.ROOT, "%.3e", value).split("e");
    String digits = parts[0].replaceFirst("\\.?0+$", "");
    return value == 0 ? "0" : digits + "e" + Integer.parseInt(parts[1]);
  }
}
