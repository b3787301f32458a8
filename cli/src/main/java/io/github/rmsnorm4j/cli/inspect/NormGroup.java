package io.github.rmsnorm4j.cli.inspect;

import io.github.rmsnorm4j.checkpoint.InspectedNorm;
import io.github.rmsnorm4j.checkpoint.NormSite;
import io.github.rmsnorm4j.checkpoint.Projection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The norms that have the same place in each layer.
 *
 * @param name their name with N for the number of the layer
 * @param norms one for each layer
 */
record NormGroup(String name, List<InspectedNorm> norms) {

  /** Norms that differ in the number of their layer alone. */
  static List<NormGroup> of(List<InspectedNorm> norms, Prospects prospects) {
    Map<String, List<InspectedNorm>> groups = new LinkedHashMap<>();
    for (InspectedNorm norm : norms) {
      groups.computeIfAbsent(key(norm.site(), prospects), _ -> new ArrayList<>()).add(norm);
    }
    return groups.values().stream()
        .map(
            group ->
                new NormGroup(
                    general(group.getFirst().site(), group.getFirst().site().name()), group))
        .toList();
  }

  /** All that must be the same, so that it can be said once. */
  private static String key(NormSite site, Prospects prospects) {
    return String.join(
        "|",
        general(site, site.name()),
        site.kind() + " " + site.width() + " " + site.epsilon() + " " + site.bias().isPresent(),
        site.consumers().stream()
            .map(consumer -> general(site, consumer.weight()))
            .collect(Collectors.joining(",")),
        general(site, prospects.of(site).or(site::keptBecause).orElse("")));
  }

  /** The text with N in place of the number of the norm's layer. */
  private static String general(NormSite site, String text) {
    return site.layer() < 0 ? text : text.replace("." + site.layer() + ".", ".N.");
  }

  NormSite first() {
    return norms.getFirst().site();
  }

  /** The names of the matrices that take the output, without what they share with the norm's. */
  List<String> consumers() {
    return first().consumers().stream().map(this::consumer).toList();
  }

  private String consumer(Projection consumer) {
    String weight = general(first(), consumer.weight()).replaceFirst("\\.weight$", "");
    int shared = 0;
    for (int dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
      if (weight.startsWith(name.substring(0, dot + 1))) {
        shared = dot + 1;
      }
    }
    return weight.substring(shared);
  }

  /** Whether the gain can be folded, and why not. */
  String fold(Prospects prospects) {
    String rule = first().keptBecause().map(reason -> "no, " + reason).orElse("");
    return general(first(), prospects.of(first()).orElse(rule));
  }
}
