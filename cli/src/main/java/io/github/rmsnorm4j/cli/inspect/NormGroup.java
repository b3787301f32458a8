package io.github.rmsnorm4j.cli.inspect;

import io.github.rmsnorm4j.models.InspectedNorm;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.rewrite.Prospects;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The norms that have the same place in each layer.
 *
 * @param name their name with N for the number of the layer
 * @param consumers the names of the matrices that take the output, without what they share with the
 *     norm's
 * @param fold whether the gain can be folded, and why not; empty if nothing can be said
 * @param norms one for each layer
 */
record NormGroup(String name, List<String> consumers, String fold, List<InspectedNorm> norms) {

  /** Groups norms that differ in the number of their layer alone: all else can be said once. */
  static List<NormGroup> of(List<InspectedNorm> norms, Prospects prospects) {
    Map<List<Object>, NormGroup> groups = new LinkedHashMap<>();
    for (InspectedNorm norm : norms) {
      NormSite site = norm.site();
      String name = site.general(site.name());
      List<String> consumers =
          site.consumers().stream()
              .map(consumer -> site.general(consumer.weight()).replaceFirst("\\.weight$", ""))
              .map(weight -> weight.substring(shared(name, List.of(weight))))
              .distinct()
              .toList();
      String rule = site.keptBecause().map(reason -> "no, " + reason).orElse("");
      String fold = site.general(prospects.of(site).orElse(rule));
      boolean bias = site.bias().isPresent();
      groups
          .computeIfAbsent(
              List.of(
                  name, site.spec(), site.width(), site.epsilonAssumed(), bias, consumers, fold),
              _ -> new NormGroup(name, consumers, fold, new ArrayList<>()))
          .norms
          .add(norm);
    }
    return List.copyOf(groups.values());
  }

  /** Where the norm of the first layer is. */
  NormSite first() {
    return norms.getFirst().site();
  }

  /** The length of the part of a name, up to a dot, that others begin with, too. */
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
}
