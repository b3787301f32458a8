package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Every option of the norm with every other: a norm, or a refusal that its reader can follow. */
class OptionsTogetherTest {
  private static final int WIDTH = 8;

  /** What a refusal begins with, and an option that brings it about; another norm may too. */
  private static final Map<String, String> REFUSED =
      Map.of(
          "cast order is ", "--cast-order",
          "gain offset is 1.0, it must be 0 with cast order T5", "--gain-offset",
          "part is 1/2", "--partial",
          "--gain-offset is ", "--gain-offset",
          "--partial-rounding is ", "--partial-rounding");

  @TempDir Path folder;

  /** Each option as it may be given. */
  private final List<List<String>> choices = new ArrayList<>();

  private String gain;

  @BeforeEach
  void choices() throws IOException {
    gain =
        "--gain="
            + TestTensor.write(
                folder.resolve("g.npy"), TestTensor.random("", Dtype.F16, 1, 1, WIDTH));
    choices.add(NormSpec.presets().stream().map(p -> "--like=" + p.name()).toList());
    choices.add(List.of("--cast-order=float32", "--cast-order=llama", "--cast-order=t5"));
    choices.add(List.of(gain));
    choices.add(List.of("--gain-offset=0", "--gain-offset=1"));
    choices.add(List.of(gain.replace("gain", "bias")));
    choices.add(List.of("--partial=0.5"));
    choices.add(List.of("--partial-rounding=down"));
  }

  private final NormOptions options = new NormOptions();

  private final CommandLine command =
      new CommandLine(CommandLine.Model.CommandSpec.forAnnotatedObject(options))
          .registerConverter(NormSpec.class, NormSpec::parse);

  private Norm norm(List<String> words) throws IOException {
    command.parseArgs(words.toArray(String[]::new)); // What is not given is as at the start.
    return options.settings(null).norm(WIDTH, Backend.scalar());
  }

  /** All ways to choose from the options from one on, with what has been chosen of the others. */
  private void visit(List<String> given, int from, Map<String, Integer> refusals)
      throws IOException {
    if (from < choices.size()) {
      visit(given, from + 1, refusals);
      for (String choice : choices.get(from)) {
        given.addLast(choice);
        visit(given, from + 1, refusals);
        given.removeLast();
      }
      return;
    }
    try {
      NormSpec spec = norm(given).spec();
      assertThat(spec.epsilon().isEmpty())
          .as("%s", given)
          .isEqualTo(given.contains("--like=pytorch"));
      refusals.merge("none", 1, Integer::sum);
    } catch (IllegalArgumentException e) {
      String kind =
          REFUSED.keySet().stream().filter(e.getMessage()::startsWith).findFirst().orElse("");
      assertThat(kind).as("%s: %s", given, e.getMessage()).isNotEmpty();
      assertThat(given)
          .as(e.getMessage())
          .anyMatch(word -> word.startsWith(REFUSED.get(kind)) || word.startsWith("--like"));
      refusals.merge(kind, 1, Integer::sum);
    }
  }

  @Test
  void aRefusalIsAboutWhatWasGiven() throws IOException {
    Map<String, Integer> refusals = new HashMap<>();
    visit(new ArrayList<>(), 0, refusals);
    assertThat(refusals).hasSize(REFUSED.size() + 1).containsKey("none");
    assertThat(Collections.min(refusals.values())).isGreaterThan(10);
  }

  @Test
  void gemmasOffsetIsNoObstacleToTheOrderOfT5() throws IOException {
    assertThat(norm(List.of("--like=gemma", "--cast-order=t5")).spec()).isEqualTo(NormSpec.T5);
    List<String> words = List.of("--like=gemma", "--cast-order=t5", gain, "--gain-offset=0");
    assertThat(norm(words).spec()).isEqualTo(NormSpec.T5);
  }
}
