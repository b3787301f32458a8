package io.github.rmsnorm4j;

import io.github.rmsnorm4j.NormSpec.Preset;
import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.norm.FloatingPointGuard;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** {@link NormSpec} as text: the name of a preset, and the settings that differ from it. */
final class NormText {
  private static final Pattern TEXT = Pattern.compile("([\\w.-]+)\\s*(?:\\((.*)\\))?");

  /** A text may come from a file; so much of it is quoted. */
  private static final int QUOTED = 80;

  private static final Pattern NOT_VISIBLE = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}]");
  private static final Pattern NUMBER =
      Pattern.compile("-?(\\d{1,400}(\\.\\d{0,400})?|\\.\\d{1,400})([eE][+-]?\\d{1,4})?");

  /** A setting: what it may be, how it is read, and how it is written. */
  private enum Setting {
    EPS(
        "a finite number of 0 or more, or type; inside, outside or floor may follow",
        NormText::withEpsilon,
        NormText::epsilon),
    CAST(
        names(CastOrder.values()) + "; float32 for layernorm and l2",
        (spec, text) -> spec.withCastOrder(constant(CastOrder.class, text)),
        spec -> lower(spec.castOrder())),
    OFFSET(
        "a finite number",
        (spec, text) -> spec.withGainOffset(decimal(text)),
        spec -> number(spec.gainOffset())),
    PART(
        "a share above 0 and at most 1, such as 1/16 or 0.0625, which down may follow;"
            + " 1 for layernorm and l2",
        (spec, text) -> spec.withPart(RowPart.parse(text)),
        spec -> spec.part().toString()),
    RESIDUAL(
        names(ResidualRounding.values()),
        (spec, text) -> spec.withResidualRounding(constant(ResidualRounding.class, text)),
        spec -> lower(spec.residualRounding())),
    GATE(
        gates() + "; not silu before for layernorm",
        (spec, text) -> spec.withGate(gate(text)),
        spec -> spec.gate().toString()),
    GROUPCOUNT(
        "a whole number from 1 on, without groupsize and part",
        (spec, text) -> withGroups(spec, RowGroups.ofCount(whole(text))),
        spec -> number(Math.max(1, spec.groups().count()))),
    GROUPSIZE(
        "a whole number from 1 on, without groupcount and part",
        (spec, text) -> withGroups(spec, RowGroups.ofSize(whole(text))),
        spec -> number(spec.groups().size()));

    private final String allowed;
    private final BiFunction<NormSpec, String, NormSpec> reader;
    private final Function<NormSpec, String> writer;

    Setting(
        String allowed,
        BiFunction<NormSpec, String, NormSpec> reader,
        Function<NormSpec, String> writer) {
      this.allowed = allowed;
      this.reader = reader;
      this.writer = writer;
    }

    /** For example {@code eps=1e-5}. */
    String of(NormSpec spec) {
      return lower(this) + "=" + writer.apply(spec);
    }
  }

  private NormText() {}

  static NormSpec parse(String text) {
    try {
      Matcher matcher = TEXT.matcher(text.strip());
      if (!matcher.matches()) {
        throw text.indexOf('(') > 0 && text.indexOf(')') < 0
            ? new IllegalArgumentException("a ) must close the settings: llama(eps=1e-5)")
            : NormNames.unknown("");
      }
      NormSpec spec = NormNames.spec(matcher.group(1));
      Set<Setting> given = EnumSet.noneOf(Setting.class);
      for (String setting : matcher.group(2) == null ? new String[0] : settings(matcher.group(2))) {
        spec = with(spec, setting, given);
      }
      spec.requireFormula(false);
      return spec;
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("norm is '" + quoted(text) + "', " + e.getMessage(), e);
    }
  }

  private static String[] settings(String text) {
    return text.split(",", Setting.values().length + 1);
  }

  private static NormSpec with(NormSpec spec, String text, Set<Setting> given) {
    String[] sides = text.split("=", 2);
    String name = sides[0].strip();
    Setting setting =
        Arrays.stream(Setting.values())
            .filter(known -> lower(known).equals(name) && sides.length == 2)
            .findFirst()
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "a setting is NAME=VALUE, NAME may be " + names(Setting.values())));
    if (!given.add(setting)) {
      throw new IllegalArgumentException(name + " is set twice");
    }
    try {
      return setting.reader.apply(spec, sides[1].strip());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(name + " may be " + setting.allowed, e);
    }
  }

  /** The text of a preset, or that of the first preset of this kind, cast order and offset. */
  static String of(NormSpec spec) {
    Optional<Preset> same = preset(preset -> preset.spec().equals(spec));
    if (same.isPresent()) {
      return same.get().name();
    }
    Predicate<Preset> order =
        preset ->
            preset.spec().kind() == spec.kind() && preset.spec().castOrder() == spec.castOrder();
    Preset base =
        preset(order.and(preset -> preset.spec().gainOffset() == spec.gainOffset()))
            .or(() -> preset(order))
            .or(() -> preset(preset -> preset.spec().kind() == spec.kind()))
            .orElseThrow();
    return base.name() + "(" + settings(spec, base.spec()) + ")";
  }

  /** The settings of a spec that differ from those of another one. */
  static String settings(NormSpec spec, NormSpec from) {
    return Arrays.stream(Setting.values())
        .filter(setting -> !setting.of(spec).equals(setting.of(from)))
        .map(setting -> setting.of(spec))
        .collect(Collectors.joining(", "));
  }

  private static Optional<Preset> preset(Predicate<Preset> wanted) {
    return NormSpec.presets().stream().filter(wanted).findFirst();
  }

  private static NormSpec withEpsilon(NormSpec spec, String text) {
    String[] words = text.split("\\s+", 2);
    NormSpec with =
        words[0].equals("type") ? spec.withEpsilonOfType() : spec.withEpsilon(decimal(words[0]));
    return words.length == 1
        ? with
        : with.withEpsilonPlacement(constant(EpsilonPlacement.class, words[1]));
  }

  private static String epsilon(NormSpec spec) {
    String epsilon = spec.epsilon().isEmpty() ? "type" : number(spec.epsilon().getAsDouble());
    EpsilonPlacement place = spec.epsilonPlacement();
    EpsilonPlacement usual = spec.isOfLength() ? EpsilonPlacement.FLOOR : EpsilonPlacement.INSIDE;
    return place == usual ? epsilon : epsilon + " " + lower(place);
  }

  private static NormSpec withGroups(NormSpec spec, RowGroups groups) {
    if (!spec.groups().isWhole()) {
      throw new IllegalArgumentException("groups by count and by size");
    }
    return spec.withGroups(groups);
  }

  private static int whole(String text) {
    if (!text.matches("\\d{1,10}")) {
      throw new IllegalArgumentException(text);
    }
    return Integer.parseInt(text);
  }

  private static double decimal(String text) {
    if (!NUMBER.matcher(text).matches()) {
      throw new IllegalArgumentException(text);
    }
    return FirstTier.isInJavasState()
        ? Double.parseDouble(text)
        : FloatingPointGuard.of(() -> Double.parseDouble(text));
  }

  /** The shortest decimal number that is read as this one: 1, 0.25, 1e-6. */
  private static String number(double value) {
    BigDecimal shortest = new BigDecimal(Double.toString(value)).stripTrailingZeros();
    int exponent = shortest.precision() - shortest.scale() - 1;
    return value == 0 || exponent > -4 && exponent < 7
        ? shortest.toPlainString()
        : shortest.movePointLeft(exponent).toPlainString() + "e" + exponent;
  }

  private static <E extends Enum<E>> E constant(Class<E> type, String text) {
    return Stream.of(type.getEnumConstants())
        .filter(constant -> lower(constant).equals(text))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException(text));
  }

  private static Gate gate(String text) {
    String words = text.replaceAll("\\s+", " ");
    return Stream.of(Gate.values())
        .filter(gate -> gate.toString().equals(words))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException(text));
  }

  private static String gates() {
    return Stream.of(Gate.values()).map(Gate::toString).collect(Collectors.joining(", "));
  }

  private static String names(Enum<?>[] constants) {
    return Stream.of(constants).map(NormText::lower).collect(Collectors.joining(", "));
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** One line, cut where it is long. */
  static String quoted(String text) {
    String cut = text.length() > QUOTED ? text.substring(0, QUOTED) + "..." : text;
    return NOT_VISIBLE.matcher(cut).replaceAll("?");
  }
}
