package io.github.rmsnorm4j.studies.story;

import io.github.rmsnorm4j.measure.Paragraph;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Comparisons as text, no wider than 80 columns; each can be shown as soon as it is there. */
public final class TerminalTable {
  private static final String ROW = "%-31s %8s %9s  %s";

  /** Words that are shown before the first one that differs. */
  private static final int BEFORE = 6;

  private static final int LINES = 3;
  private static final int COLUMNS = 79;
  private static final String MORE = " ...";

  /** What is said of a story without a word. */
  public static final String NO_STORY = "it ends at once";

  private TerminalTable() {}

  /** What stands above the rows. */
  public static List<String> head() {
    return List.of(ROW.formatted("norms", "loss", "added", "its story"));
  }

  /** What stands below the rows. */
  public static List<String> legend() {
    List<String> lines = new ArrayList<>(List.of(""));
    lines.addAll(
        Paragraph.lines(
            "",
            "loss: mean cross-entropy in nats of each next token, on three short stories that come"
                + " with this command. added: the difference from the trained model. Nothing was"
                + " trained again: the figures say what this model does without the norm that it was"
                + " trained with, not which norm is better to train with."));
    return lines;
  }

  /**
   * A change and where its story goes.
   *
   * @param tokens after which stories were cut; null if they were not
   */
  public static List<String> lines(Comparison result, Integer tokens) {
    List<String> lines = new ArrayList<>();
    boolean trained = result.change().equals(Change.NONE.toString());
    boolean same = result.firstOtherWord() == 0;
    String unchanged = tokens == null ? "the same" : "the same in " + tokens + " tokens";
    String story =
        trained ? "" : same ? unchanged : "other from word " + result.firstOtherWord() + " on";
    lines.add(
        ROW.formatted(
                result.change(),
                Figures.loss(result.loss()),
                trained ? "" : Figures.added(result.added()),
                story)
            .stripTrailing());
    if (trained || !same) {
      lines.addAll(excerpt(result));
    }
    return lines;
  }

  /** The story from shortly before it leaves the other. */
  private static List<String> excerpt(Comparison result) {
    if (result.text().isBlank()) {
      return List.of("  (" + NO_STORY + ")");
    }
    String[] words = Comparison.words(result.text());
    int from = Math.min(Math.max(0, result.firstOtherWord() - 1 - BEFORE), words.length);
    String text = String.join(" ", Arrays.asList(words).subList(from, words.length));
    List<String> lines = Paragraph.lines("  ", (from > 0 ? "... " : "") + text);
    if (lines.size() <= LINES) {
      return lines;
    }
    List<String> first = new ArrayList<>(lines.subList(0, LINES));
    String last = first.removeLast();
    while (last.length() + MORE.length() > COLUMNS && last.indexOf(' ', 2) > 0) {
      last = last.substring(0, last.lastIndexOf(' '));
    }
    first.add(last + MORE);
    return first;
  }
}
