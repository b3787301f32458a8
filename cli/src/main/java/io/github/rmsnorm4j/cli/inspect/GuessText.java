package io.github.rmsnorm4j.cli.inspect;

import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.measure.Paragraph;
import io.github.rmsnorm4j.models.FamilyGuess;
import io.github.rmsnorm4j.models.GainStatistics;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a model of a family without rules looks like, as text. */
public final class GuessText {
  private static final String ROW = "%7s %10s %10s %10s %11s  %s";

  private GuessText() {}

  /** Makes the text of a model as the user named it; none if its family is known. */
  public static List<String> lines(FamilyGuess guess, Path model) throws IOException {
    Map<String, List<GainStatistics>> gains = guess.isKnown() ? Map.of() : guess.gains();
    List<String> lines = new ArrayList<>();
    if (gains.isEmpty()) {
      return lines;
    }
    lines.add("Tensors that look like gains of norms, g as it is or g - 1:");
    lines.add(ROW.formatted("tensors", "least", "mean", "greatest", "looks like", "name"));
    gains.forEach((name, of) -> lines.add(row(name, of)));
    Optional<String> map = guess.map();
    if (map.isPresent()) {
      lines.add("");
      lines.add("With these rules in a file map.json, its norms are found:");
      lines.add(Printable.escaped(map.get()));
      lines.add("rmsnorm inspect %s --map map.json".formatted(Printable.escaped(model.toString())));
      lines.addAll(
          Paragraph.lines(
              "",
              "",
              "The tensors do not tell how a norm rounds, nor a LayerNorm without a bias from an"
                  + " RMSNorm: read the model's code, or let check find it."));
    }
    return lines;
  }

  private static String row(String name, List<GainStatistics> of) {
    List<String> looks =
        of.stream()
            .map(gain -> gain.looksLike().map(GroupText::stored).orElse("either"))
            .distinct()
            .toList();
    return ROW.formatted(
        of.size(),
        GroupText.number(of.stream().mapToDouble(GainStatistics::least).min().orElseThrow()),
        GroupText.number(of.stream().mapToDouble(GainStatistics::mean).average().orElseThrow()),
        GroupText.number(of.stream().mapToDouble(GainStatistics::greatest).max().orElseThrow()),
        looks.size() == 1 ? looks.getFirst() : "either",
        Printable.escaped(name.replace("{layer}", "N")));
  }
}
