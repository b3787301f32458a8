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

/** A model whose norms were not found: why, what looks like them, and rules that find them. */
public record UnknownModel(
    String error, List<LikelyNorm> likelyNorms, Optional<Map<String, Object>> map) {
  private static final String ROW = "%7s %10s %10s %10s %11s  %s";

  /** Tensors that differ in their layer alone, with N for its number; the mean is of all means. */
  public record LikelyNorm(
      String name,
      int tensors,
      double least,
      double mean,
      double greatest,
      Optional<Double> looksLike) {
    private static LikelyNorm of(String name, List<GainStatistics> gains) {
      List<?> looks = gains.stream().map(GainStatistics::looksLike).distinct().toList();
      return new LikelyNorm(
          name.replace("{layer}", "N"),
          gains.size(),
          gains.stream().mapToDouble(GainStatistics::least).min().orElseThrow(),
          gains.stream().mapToDouble(GainStatistics::mean).average().orElseThrow(),
          gains.stream().mapToDouble(GainStatistics::greatest).max().orElseThrow(),
          looks.size() == 1 ? gains.getFirst().looksLike() : Optional.empty());
    }

    private String row() {
      return ROW.formatted(
          tensors,
          GroupText.number(least),
          GroupText.number(mean),
          GroupText.number(greatest),
          looksLike.map(GroupText::stored).orElse("either"),
          Printable.escaped(name));
    }
  }

  /** What its tensors tell, unless its family is known and something else is wrong. */
  public static UnknownModel of(String error, FamilyGuess guess) throws IOException {
    List<LikelyNorm> norms = new ArrayList<>();
    if (!guess.isKnown()) {
      guess.gains().forEach((name, gains) -> norms.add(LikelyNorm.of(name, gains)));
    }
    return new UnknownModel(error, norms, norms.isEmpty() ? Optional.empty() : guess.map());
  }

  /** The text for a model as the user named it; none if there is nothing that looks like a norm. */
  public List<String> lines(Path model) {
    if (likelyNorms.isEmpty()) {
      return List.of();
    }
    List<String> lines = new ArrayList<>();
    lines.add("Tensors that look like gains of norms, g as it is or g - 1:");
    lines.add(ROW.formatted("tensors", "least", "mean", "greatest", "looks like", "name"));
    likelyNorms.forEach(norm -> lines.add(norm.row()));
    if (map.isPresent()) {
      lines.addAll(List.of("", "With these rules in a file map.json, its norms are found:"));
      lines.add(Printable.escaped(FamilyGuess.line(map.get())));
      lines.add("rmsnorm inspect %s --map map.json".formatted(Printable.escaped(model.toString())));
      lines.addAll(
          Paragraph.lines(
              "",
              "The tensors do not tell how a norm rounds, nor a LayerNorm without a bias from an"
                  + " RMSNorm: read the model's code, or let check find it."));
    }
    return lines;
  }
}
