package io.github.rmsnorm4j.pages;

import io.github.rmsnorm4j.NormSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A line of docs/variants.md.
 *
 * @param name the comment above it: the norm as text where a command computes the same
 * @param java the line, which may be several statements
 */
record VariantLine(String name, String java) {
  boolean isGradient() {
    return java.contains(".backward");
  }

  boolean hasCommand() {
    return Character.isLowerCase(name.charAt(0));
  }

  /** Whether the norm has the gain; lines of gradients that name no norm have one with it. */
  boolean hasGain() {
    return java.contains("gain(g)") || isGradient() && !java.contains("norm = ");
  }

  /** The words of the command, as the page says it, with what says which norm is wanted. */
  List<String> command(List<String> norm) {
    List<String> words = new ArrayList<>();
    if (isGradient()) {
      words.addAll(List.of("gradient", "x.npy", "--dy", "dy.npy", "-o", "dx.npy"));
      addIf(words, java.contains("(dgain"), "--dgain", "dgain.npy");
      addIf(words, java.contains("dbias)"), "--dbias", "dbias.npy");
      addIf(words, java.contains(", h, dx,"), "--dresidual", "h.npy");
      addIf(words, java.contains("Gated"), "--dz", "dz.npy");
    } else {
      words.addAll(List.of("normalize", "x.npy", "-o", "y.npy"));
      addIf(words, java.contains(".addAndApply"), "--residual-out", "sum.npy");
    }
    addIf(words, hasGain(), "--gain", "g.npy");
    addIf(words, java.contains("bias(b)"), "--bias", "b.npy");
    addIf(words, java.contains(".addAndApply"), "--residual", "h.npy");
    addIf(words, java.contains(".applyGated"), "--gate", "z.npy");
    words.addAll(norm);
    return words;
  }

  /** The same norm, by the options for the settings that have one. */
  List<String> options() {
    NormSpec spec = NormSpec.parse(name);
    NormSpec rest =
        NormSpec.RMSNORM
            .withKind(spec.kind())
            .withEpsilonOfType()
            .withGate(spec.gate())
            .withGroups(spec.groups());
    List<String> words = new ArrayList<>(List.of("--like", rest.toString()));
    words.addAll(List.of("--eps-at", lower(spec.epsilonPlacement())));
    if (spec.epsilon().isPresent()) {
      words.addAll(List.of("--eps", "" + spec.epsilon().getAsDouble()));
    }
    addIf(words, hasGain(), "--gain-offset", "" + spec.gainOffset());
    if (spec.kind() == NormSpec.Kind.RMS_NORM) {
      words.addAll(List.of("--cast-order", lower(spec.castOrder())));
    }
    if (!spec.part().isWhole()) {
      double part = spec.part().numerator().doubleValue() / spec.part().denominator().intValue();
      String way = spec.part().roundedDown() ? "down" : "up";
      words.addAll(List.of("--partial", "" + part, "--partial-rounding", way));
    }
    boolean adds = java.contains(".addAndApply");
    addIf(words, adds, "--residual-rounding", lower(spec.residualRounding()));
    return words;
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static void addIf(List<String> words, boolean wanted, String option, String value) {
    if (wanted) {
      words.addAll(List.of(option, value));
    }
  }
}
