package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.rewrite.NormOutcome.Fate;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The norms that are folded though their gains look otherwise than the family stores them.
 *
 * @param all all norms of the model
 * @param norms those among them
 */
record DoubtfulGains(List<NormSite> all, List<NormSite> norms) {
  static DoubtfulGains of(Inspection inspection, List<NormOutcome> outcomes) {
    return new DoubtfulGains(
        inspection.model().norms(),
        IntStream.range(0, outcomes.size())
            .filter(i -> outcomes.get(i).fate() == Fate.FOLDED)
            .filter(i -> inspection.norms().get(i).isDoubtful())
            .mapToObj(i -> outcomes.get(i).site())
            .toList());
  }

  /**
   * Whether half of the norms at one place in the layers are doubtful. Fewer may be so by training.
   * With 1 + g in place of g the result would be equal to the model as it was read, and wrong.
   */
  boolean areShifted() {
    Map<String, Long> ofAll = places(all);
    return places(norms).entrySet().stream()
        .anyMatch(place -> 2 * place.getValue() >= ofAll.get(place.getKey()));
  }

  private static Map<String, Long> places(List<NormSite> sites) {
    return sites.stream()
        .collect(Collectors.groupingBy(s -> s.general(s.name()), Collectors.counting()));
  }

  void requireNotShifted(String family) throws RefusedException {
    if (areShifted()) {
      NormSite first = norms.getFirst();
      boolean less = first.spec().gainOffset() != 0;
      throw new RefusedException(
          "%s looks like %s%s, where %s stores %s; see rmsnorm inspect, and --trust-gains"
              .formatted(
                  first.gain().orElseThrow(),
                  less ? "g" : "g - 1",
                  norms.size() == 1 ? "" : " (as %s such norms do)".formatted(norms.size()),
                  family,
                  less ? "g - 1" : "g"));
    }
  }
}
