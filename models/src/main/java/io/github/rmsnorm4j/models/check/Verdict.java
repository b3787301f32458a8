package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.CastOrder;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What was found, in sentences.
 *
 * @param named the norms that make every element
 * @param others the nearest others
 * @param lacks the parameters that norms were applied without, as options, or empty
 * @param places where the first of the others differs
 * @param width elements per row
 */
record Verdict(List<Finding> named, List<Finding> others, String lacks, Places places, int width) {
  static final List<String> UNCHANGED =
      List.of("Y is X itself: no norm was applied, or another tensor was meant.");

  private static final String PERHAPS =
      "Perhaps the gain, the bias or the residual is missing or is that of another norm, the norm has a gate, which is not looked for, or Y is not the output of this norm.";

  private static final String SHIFTED =
      "Systems that shift rows after they scale them, as libtorch does, differ so in last places.";

  /** A norm that makes less than one in so many elements is not near. */
  private static final int NEAR = 100;

  List<String> sentences() {
    return named.isEmpty() ? none() : some();
  }

  private List<String> some() {
    Finding first = named.getFirst();
    Differences differences = new Differences(named);
    List<String> sentences =
        new ArrayList<>(differences.sentences("Y is " + differences.name(), equal(first), "or"));
    named.stream()
        .filter(norm -> norm.spec() != null && norm.ownEqual() == norm.elements())
        .map(norm -> "normalize --like '%s' computes these elements.".formatted(norm.spec()))
        .findFirst()
        .ifPresent(sentences::add);
    orders(sentences);
    if (!others.isEmpty()) {
      Finding other = others.getFirst();
      String differs =
          other.equal() < other.elements()
              ? "differs in " + differing(other)
              : format("makes them if rstd may be up to %s ulp off", other.greatestUlp());
      sentences.add("The nearest other, %s, %s.".formatted(other.norm(), differs));
    }
    return sentences;
  }

  /** Both numbers, where rstd was let move. */
  private static String equal(Finding norm) {
    return norm.ownEqual() == norm.elements()
        ? format("all %,d elements that were compared are equal", norm.elements())
        : format(
            "%,d of %,d elements that were compared are equal, and all are if the rstd of each row may be up to %s ulp off, as sums in another order make it",
            norm.ownEqual(), norm.elements(), norm.greatestUlp());
  }

  private static String differing(Finding other) {
    long differing = other.elements() - other.equal();
    return format(differing == 1 ? "%,d element" : "%,d elements", differing);
  }

  private static String format(String text, Object... values) {
    return String.format(Locale.ROOT, text, values);
  }

  /** Whose orders the named norms have, and how far the nearest other order is. */
  private void orders(List<String> sentences) {
    Finding first = named.getFirst();
    if (!first.kind().equals("RMSNorm")) {
      return;
    }
    Set<String> orders = new LinkedHashSet<>();
    named.forEach(norm -> orders.addAll(norm.castOrders()));
    if (first.castOrders().size() > 1) {
      sentences.add(
          "For these types the cast orders %s are the same formula."
              .formatted(String.join(", ", first.castOrders())));
    }
    sentences.add(
        orders.stream()
            .map(order -> order + " is the order of " + users(order))
            .collect(Collectors.joining("; ", "Here ", ".")));
    others.stream()
        .filter(other -> other.castOrders().stream().noneMatch(orders::contains))
        .filter(other -> other.kind().equals(first.kind()) && other != others.getFirst())
        .findFirst()
        .ifPresent(
            other ->
                sentences.add(
                    "The order %s (%s) differs in %s."
                        .formatted(
                            other.castOrders().getFirst(),
                            users(other.castOrders().getFirst()),
                            differing(other))));
  }

  private static String users(String order) {
    return switch (CastOrder.valueOf(order.toUpperCase(Locale.ROOT).replace('-', '_'))) {
      case FLOAT32 -> "PyTorch, Gemma and OLMo 2";
      case LLAMA -> "Llama, Qwen and Mistral";
      case T5 -> "T5";
      case ONNX -> "ONNX";
      case DIVIDED -> "ONNX Runtime and the code of the paper";
      case GAIN_FIRST -> "Flax";
      case ROUNDED_ROOT -> "DeepSeek-V4";
      case NONE -> "Liger with casting mode none";
      case NONE_DIVIDED ->
          "ONNX with the row's type as stash type and the code of the paper on 16-bit rows";
    };
  }

  private List<String> none() {
    Finding best = others.getFirst();
    boolean most = 2 * best.equal() > best.elements();
    List<String> sentences = new ArrayList<>(List.of("None of the norms known here made Y."));
    String norm = lacks.isEmpty() ? best.norm() : best.norm() + " without " + lacks;
    if (best.equal() == best.elements()) {
      sentences.add("%s makes it: %s.".formatted(norm, equal(best)));
    } else if (most) {
      long left = best.elements() - best.equal();
      sentences.add(
          format(
              "%s makes all but %,d of %,d elements%s. %s %s (counted from 0).",
              norm,
              left,
              best.elements(),
              off(best),
              left == 1 ? "That one is" : "Those are",
              places));
      if (best.kind().equals("LayerNorm")) {
        sentences.add(SHIFTED);
      }
    } else if (NEAR * best.equal() < best.elements()) {
      sentences.add("None comes near.");
      sentences.add(PERHAPS);
    } else {
      sentences.add(
          format("The best, %s, makes %,d of %,d elements.", norm, best.equal(), best.elements()));
      String rows = places.wholeRows();
      String whole = rows.isEmpty() ? places.wholeColumns(width, best) : rows;
      sentences.add(
          whole.isEmpty()
              ? PERHAPS
              : "It makes every element of %s (counted from 0).".formatted(whole));
    }
    return sentences;
  }

  private static String off(Finding best) {
    return best.ownEqual() == best.equal()
        ? ""
        : format(
            ", if the rstd of each row may be up to %s ulp off; %,d with that of this library",
            best.greatestUlp(), best.ownEqual());
  }
}
