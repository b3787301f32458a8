package io.github.rmsnorm4j.cli.inspect;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.models.GainStatistics;
import io.github.rmsnorm4j.models.InspectedNorm;
import io.github.rmsnorm4j.models.NormSite;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What is said of a group of norms, on the terminal and on the page. Safe to print. */
record GroupText(NormGroup group) {
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
    if (site.spec().gate() == Gate.NONE) {
      facts.add("as --like takes it: " + site.spec());
    }
    site.note().ifPresent(note -> facts.add("not told by the model: " + note));
    if (!site.consumers().isEmpty()) {
      facts.add("output goes to " + String.join(", ", group.consumers()));
    }
    if (!group.fold().isEmpty()) {
      facts.add("fold: " + group.fold());
    }
    if (!rows().isEmpty() && site.spec().gainOffset() == 1) {
      facts.add("gain g = 1 + stored number; \"looks like\" is about the stored numbers");
    }
    return facts.stream().map(Printable::escaped).toList();
  }

  /** The norm as Java, in parts that may stand in lines of their own. */
  List<String> java() {
    NormSite site = group.first();
    boolean gain = site.gain().isPresent();
    return Stream.of(
            "NormSpec.parse(\"%s\")".formatted(site.spec()),
            ".builder(%s)%s%s.build()"
                .formatted(
                    site.width() > 0 ? site.width() : "gain.length",
                    gain ? ".gain(gain)" : "",
                    site.bias().isPresent() ? ".bias(bias)" : ""))
        .map(Printable::escaped)
        .toList();
  }

  /** The same for a program. */
  InspectionFigures.Place place() {
    NormSite site = group.first();
    NormSpec spec = site.spec();
    return new InspectionFigures.Place(
        group.name(),
        group.norms().size(),
        kind(spec),
        spec.toString(),
        site.heads() ? "head" : spec.groups().isWhole() ? "row" : "group",
        castOrder(spec),
        spec.gainOffset(),
        spec.epsilon(ElementType.FLOAT32),
        group.norms().getFirst().epsilonFrom(),
        String.join("", java()));
  }

  private static String kind(NormSpec spec) {
    return switch (spec.kind()) {
      case RMS_NORM -> "RMSNorm";
      case LAYER_NORM -> "LayerNorm";
      case L2_NORM -> "L2 norm";
    };
  }

  private static String castOrder(NormSpec spec) {
    return spec.castOrder().name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private String kind(NormSite site) {
    NormSpec spec = site.spec();
    return "%s%s%s%s%s, epsilon %s%s, cast order %s; %s%s"
        .formatted(
            kind(spec),
            site.width() == 0 ? "" : " of " + site.width(),
            site.heads() ? ", a head" : "",
            groups(site),
            spec.gate() == Gate.NONE ? "" : ", gate " + spec.gate(),
            epsilon(spec.epsilon(ElementType.FLOAT32)),
            epsilonFrom(),
            castOrder(spec),
            gain(site),
            site.bias().isPresent() ? "; with a bias" : "");
  }

  private static String groups(NormSite site) {
    RowGroups groups = site.spec().groups();
    if (groups.isWhole()) {
      return "";
    }
    return site.width() == 0
        ? " in " + groups.count() + " groups"
        : " in %s groups of %s"
            .formatted(groups.count(site.width()), site.width() / groups.count(site.width()));
  }

  private String epsilonFrom() {
    String none =
        group.first().epsilonAssumed()
            ? "default of the family, the model does not set it"
            : "fixed by the architecture";
    return " (" + group.norms().getFirst().epsilonFrom().orElse(none) + ")";
  }

  private String gain(NormSite site) {
    if (site.gain().isEmpty()) {
      return "no gain";
    }
    String types =
        group.norms().stream()
            .flatMap(norm -> norm.type().stream())
            .distinct()
            .collect(Collectors.joining(", "));
    return "the architecture stores the gain as "
        + stored(site.spec().gainOffset())
        + (types.isEmpty() ? "" : ", here in " + types);
  }

  /** How a model stores a gain g that a norm adds this to. */
  static String stored(double offset) {
    return offset == 0 ? "g" : "g - 1";
  }

  /** The gains, a row for each layer; empty if there is no gain. */
  List<List<String>> rows() {
    return group.norms().getFirst().gain().isEmpty()
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
            : "the numbers of layer"
                + (doubtful.size() == 1 ? " " : "s ")
                + some(doubtful)
                + " look";
    return Optional.of(
        "warning: "
            + which
            + (group.first().spec().gainOffset() == 0
                ? " like g - 1, but the architecture stores g. A converter to GGUF adds the 1 of"
                    + " Gemma: check whether it did."
                : " like g, but the architecture stores g - 1 and adds the 1 itself. Check whether"
                    + " it was added already."));
  }

  /** The first ones of many. */
  static String some(List<String> names) {
    return names.stream().limit(NAMED).collect(Collectors.joining(", "))
        + (names.size() > NAMED ? ", ..." : "");
  }

  static String number(double value) {
    return String.format(Locale.ROOT, "%.4g", value);
  }

  /** As people write it: 1e-5. */
  private static String epsilon(double value) {
    String[] parts = String.format(Locale.ROOT, "%.3e", value).split("e");
    String digits = parts[0].replaceFirst("\\.?0+$", "");
    return value == 0 ? "0" : digits + "e" + Integer.parseInt(parts[1]);
  }
}
