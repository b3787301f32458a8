package io.github.rmsnorm4j.models.check;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** What was found, in sentences. */
final class Verdict {
  private final List<Finding> all;
  private final List<Finding> named;
  private final Differences differences;
  private final long exact;
  private final List<Finding> others;
  private final double[] epsilons;
  private final boolean solved;
  private final boolean shaped;
  private final Sample sample;

  /**
   * Takes what was found.
   *
   * @param exact how many elements the first named norm makes with the rstd of this library
   * @param solved whether the named norms are from no table
   * @param shaped whether some form makes every row, with an rstd of its own
   */
  Verdict(
      List<Finding> named,
      long exact,
      List<Finding> others,
      double[] epsilons,
      boolean solved,
      boolean shaped,
      Sample sample) {
    this.all = named;
    // Those that accurate sums explain come first.
    boolean near = !named.isEmpty() && named.getFirst().greatestUlp() <= Window.NEAR;
    this.named = named.stream().filter(norm -> !near || norm.greatestUlp() <= Window.NEAR).toList();
    this.differences = new Differences(this.named);
    this.exact = exact;
    this.others = others;
    this.epsilons = epsilons;
    this.solved = solved;
    this.shaped = shaped;
    this.sample = sample;
  }

  List<String> sentences() {
    List<String> sentences = new ArrayList<>();
    if (sample.unchanged()) {
      return List.of("Y is X itself: no norm was applied, or another tensor was meant.");
    }
    if (sample.contradicting() > 0) {
      sentences.add(
          "No norm makes %s of the rows: Y is not finite where X is, or X is zero and Y is not the bias. The rest is of the other rows."
              .formatted(sample.contradicting()));
    }
    if (named.isEmpty()) {
      none(sentences);
      return sentences;
    }
    Finding first = named.getFirst();
    String equal =
        String.format(
            Locale.ROOT, "all %,d elements that were compared are equal", first.elements());
    sentences.addAll(differences.sentences("Y is " + differences.name(), equal, "or"));
    if (exact < first.elements()) {
      sentences.add(
          String.format(
              Locale.ROOT,
              "With the rstd that this library computes %,d are equal; in some rows that of Y is up to %s ulp off.",
              exact,
              first.greatestUlp()));
    }
    named.stream()
        .filter(norm -> norm.spec() != null && norm.greatestUlp() == 0)
        .map(norm -> "normalize --like '%s' computes these elements.".formatted(norm.spec()))
        .findFirst()
        .ifPresent(sentences::add);
    if (all.size() > named.size()) {
      sentences.add(
          "If the system adds squares one after the other in float32, rstd may be %s ulp off. Then %s more norms fit, with epsilon %s (--json lists them)."
              .formatted(
                  all.stream().mapToLong(Finding::greatestUlp).max().orElse(0),
                  all.size() - named.size(),
                  all.stream()
                      .filter(norm -> !named.contains(norm))
                      .map(norm -> Statistic.epsilonText(norm.epsilon()))
                      .distinct()
                      .collect(Collectors.joining(", "))));
    }
    if (first.kind().endsWith("sample variance")) {
      sentences.add(
          String.format(
              Locale.ROOT,
              "LayerNorm divides the sum of squares by the width. This divides it by the width - 1, a common mistake of ports, which makes Y up to %.2g %% smaller.",
              100 * (1 - Math.sqrt(1 - 1.0 / sample.width()))));
    }
    orders(sentences);
    if (solved) {
      sentences.add("No norm of the table fits: epsilon or the part of a row was solved for.");
    }
    sentences.add(epsilons());
    if (!others.isEmpty()) {
      Finding other = others.getFirst();
      sentences.add(
          "The nearest other, %s, differs in %s.".formatted(other.norm(), differing(other)));
    }
    return sentences;
  }

  private static String differing(Finding other) {
    return String.format(Locale.ROOT, "%,d elements", other.elements() - other.equal());
  }

  /** Whose orders the named norms have, and how far the nearest other order is. */
  private void orders(List<String> sentences) {
    Set<String> orders = new LinkedHashSet<>();
    named.forEach(norm -> orders.addAll(norm.castOrders()));
    if (named.getFirst().castOrders().size() > 1) {
      sentences.add(
          "For these types the cast orders %s are the same formula."
              .formatted(String.join(", ", named.getFirst().castOrders())));
    }
    sentences.add(
        orders.stream()
            .map(order -> order + " is the order of " + CastForm.of(order).users)
            .collect(Collectors.joining("; ", "Here ", ".")));
    others.stream()
        .filter(other -> other.castOrders().stream().noneMatch(orders::contains))
        .filter(other -> other.kind().equals(named.getFirst().kind()))
        .findFirst()
        .filter(other -> other != others.getFirst())
        .ifPresent(
            other ->
                sentences.add(
                    "The order %s (%s) differs in %s."
                        .formatted(
                            other.castOrders().getFirst(),
                            CastForm.of(other.castOrders().getFirst()).users,
                            differing(other))));
  }

  private String epsilons() {
    if (Double.isInfinite(epsilons[1])) {
      return "These rows do not limit epsilon: any number fits.";
    }
    String least = Statistic.epsilonText(epsilons[0]);
    String greatest = Statistic.epsilonText(epsilons[1]);
    if (least.equals(greatest)) {
      return "Epsilon is %s to four digits.".formatted(least);
    }
    return "%s epsilon from %s to %s fits%s."
        .formatted(
            named.size() == 1 ? "Any" : "For the first, any",
            least,
            greatest,
            epsilons[0] == 0 ? ": rows this large hide epsilon" : "");
  }

  private void none(List<String> sentences) {
    sentences.add("None of the norms known here made Y.");
    if (shaped && sample.rows() < 2) {
      sentences.add(
          "Its one row is X times one factor. Two rows or more are needed to solve for epsilon.");
    } else if (shaped) {
      sentences.add("Each row is X times one factor, but no epsilon gives these factors.");
    } else {
      sentences.add(
          "No factor per row makes Y of X and the gain to the bit, with the mean subtracted or not.");
    }
    Optional<String> near = NearNorm.sentence(sample);
    if (near.isPresent()) {
      sentences.add(near.get());
    } else if (!shaped) {
      sentences.add(
          "Perhaps the residual is missing or is that of another norm, the norm has a gate or groups,"
              + " which are not looked for, or Y is not the output of this norm.");
    }
    Finding best = others.getFirst();
    if (best.equal() > 0) {
      sentences.add(
          String.format(
              Locale.ROOT,
              "The best, %s, makes %,d of %,d elements.",
              best.norm(),
              best.equal(),
              best.elements()));
    }
  }
}
