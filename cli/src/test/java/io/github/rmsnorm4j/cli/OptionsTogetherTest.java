package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cli.NormSettings.EpsilonPlace;
import io.github.rmsnorm4j.cli.NormSettings.Kind;
import io.github.rmsnorm4j.cli.NormSettings.Order;
import io.github.rmsnorm4j.cli.NormSettings.PartRounded;
import io.github.rmsnorm4j.cli.NormSettings.Preset;
import io.github.rmsnorm4j.cli.NormSettings.ResidualRounded;
import io.github.rmsnorm4j.formats.Dtype;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every option of the norm beside every other: a norm, or a refusal that its reader can follow. */
class OptionsTogetherTest {
  private static final int WIDTH = 8;
  private static final Pattern REFUSAL = Pattern.compile("(--[a-z-]+) is ([^,]+), .+");
  private static final Pattern NAME = Pattern.compile("(needs )?(--[a-z-]+)");

  @TempDir Path folder;

  /** What each option may be, in the order of {@link NormSettings}. */
  private final Map<String, List<?>> choices = new LinkedHashMap<>();

  private StoredParameter row;

  @BeforeEach
  void choices() throws IOException {
    Path file =
        TestTensor.write(folder.resolve("g.npy"), TestTensor.random("", Dtype.F16, 1, 1, WIDTH));
    row = StoredParameter.of("gain", "" + file);
    choices.put("--norm", List.of(Kind.values()));
    choices.put("--like", orNot((Object[]) Preset.values()));
    choices.put("--cast-order", orNot((Object[]) Order.values()));
    choices.put("--gain", orNot(row));
    choices.put("--gain-offset", orNot(0.0, 1.0));
    choices.put("--bias", orNot(row));
    choices.put("--eps", orNot(0.125));
    choices.put("--eps-at", orNot(EpsilonPlace.floor));
    choices.put("--partial", orNot(0.5));
    choices.put("--partial-rounding", orNot(PartRounded.down));
    choices.put("--residual-rounding", orNot(ResidualRounded.last));
  }

  private static List<Object> orNot(Object... values) {
    List<Object> choices = new ArrayList<>(Arrays.asList(values));
    choices.add(null);
    return choices;
  }

  /** What is wrong with options, or empty if they give a norm. */
  private static Optional<String> refusal(Map<String, Object> given) throws IOException {
    try {
      new NormSettings(
              (Kind) given.get("--norm"),
              (Preset) given.get("--like"),
              (Order) given.get("--cast-order"),
              (StoredParameter) given.get("--gain"),
              (Double) given.get("--gain-offset"),
              (StoredParameter) given.get("--bias"),
              (Double) given.get("--eps"),
              (EpsilonPlace) given.get("--eps-at"),
              (Double) given.get("--partial"),
              (PartRounded) given.get("--partial-rounding"),
              (ResidualRounded) given.get("--residual-rounding"),
              null)
          .norm(WIDTH, ElementType.FLOAT32, Backend.scalar());
      return Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.of(e.getMessage());
    }
  }

  /** All ways to choose from the options from one on, with what has been chosen of the others. */
  private void visit(Map<String, Object> given, List<String> open, Set<String> refused)
      throws IOException {
    if (open.isEmpty()) {
      refused.add(refusal(given).map(message -> refusedOption(message, given)).orElse("none"));
      return;
    }
    String option = open.getFirst();
    for (Object choice : choices.get(option)) {
      if (choice != null) {
        given.put(option, choice);
      }
      visit(given, open.subList(1, open.size()), refused);
      given.remove(option);
    }
  }

  @Test
  void aRefusalNamesOptionsThatWereGiven() throws IOException {
    Set<String> refused = new HashSet<>();
    visit(new LinkedHashMap<>(), List.copyOf(choices.keySet()), refused);
    assertThat(refused)
        .containsExactlyInAnyOrder(
            "none", "--like", "--cast-order", "--gain-offset", "--partial", "--partial-rounding");
  }

  /** The option that is refused, having checked that the sentence is about what was given. */
  private static String refusedOption(String message, Map<String, Object> given) {
    Matcher refusal = REFUSAL.matcher(message);
    assertThat(refusal.matches()).as("%s: %s", given, message).isTrue();
    String option = refusal.group(1);
    assertThat("" + given.get(option)).as("%s: %s", given, message).isEqualTo(refusal.group(2));
    for (Matcher name = NAME.matcher(message); name.find(); ) {
      // What is lacking is named too, as the way out.
      boolean lacking = name.group(1) != null;
      assertThat(given.containsKey(name.group(2)) || lacking).as("%s: %s", given, message).isTrue();
    }
    return option;
  }

  @Test
  void gemmasOffsetIsNoObstacleToTheOrderOfT5() throws IOException {
    Map<String, Object> given = new LinkedHashMap<>();
    given.put("--norm", Kind.rms);
    given.put("--like", Preset.gemma);
    given.put("--cast-order", Order.t5);
    assertThat(refusal(given)).isEmpty();
    given.put("--gain", row);
    assertThat(refusal(given))
        .contains("--cast-order is t5, with --like gemma it needs --gain-offset 0");
    given.put("--gain-offset", 0.0);
    assertThat(refusal(given)).isEmpty();
  }
}
