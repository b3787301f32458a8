package io.github.rmsnorm4j.cli.inspect;

import io.github.rmsnorm4j.models.InspectedNorm;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.Projection;
import io.github.rmsnorm4j.models.rewrite.Prospects;
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

  /**
   * {@return groups of norms that differ in the number of their layer alone}
   *
   * @param norms of a model
   * @param prospects what can be done with it
   */
  static List<NormGroup> of(List<InspectedNorm> norms, Prospects prospects) {
    Map<String, List<InspectedNorm>> groups = new LinkedHashMap<>();
    for (InspectedNorm norm : norms) {
      groups.computeIfAbsent(key(norm.site(), prospects), _ -> new ArrayList<>()).add(norm);
    }
    return groups.values().stream()
        .map(group -> new NormGroup(name(group.getFirst().site()), group))
        .toList();
  }

  private static String name(NormSite site) {
    return site.general(site.name());
  }

  /** All that must be the same, so that it can be said once. */
  private static String key(NormSite site, Prospects prospects) {
    return String.join(
        "|",
        name(site),
        site.spec()
            + " "
            + site.width()
            + " "
            + site.epsilonAssumed()
            + " "
            + site.bias().isPresent(),
        site.consumers().stream()
            .map(consumer -> site.general(consumer.weight()))
            .distinct()
            .collect(Collectors.joining(",")),
        site.general(prospects.of(site).or(site::keptBecause).orElse("")));
  }

  /** {@return where the norm of the first layer is} */
  NormSite first() {
    return norms.getFirst().site();
  }

  /**
   * {@return the names of the matrices that take the output, without what they share with the
   * norm's}
   */
  List<String> consumers() {
    return first().consumers().stream().map(this::consumer).distinct().toList();
  }

  private String consumer(Projection consumer) {
    String weight = first().general(consumer.weight()).replaceFirst("\\.weight$", "");
    return weight.substring(shared(name, List.of(weight)));
  }

  /**
   * {@return the length of the part of a name, up to a dot, that others begin with, too}
   *
   * @param name the name
   * @param others the others
   */
  static int shared(String name, List<String> others) {
    int shared = 0;
    for (int dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
      String part = name.substring(0, dot + 1);
      if (others.stream().allMatch(other -> other.startsWith(part))) {
        shared = dot + 1;
      }
    }
    return shared;
  }

  /**
   * {@return whether the gain can be folded, and why not}
   *
   * @param prospects what can be done with the model
   */
  String fold(Prospects prospects) {
    String rule = first().keptBecause().map(reason -> "no, " + reason).orElse("");
    return first().general(prospects.of(first()).orElse(rule));
  }
}
