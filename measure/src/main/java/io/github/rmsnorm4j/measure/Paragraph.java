package io.github.rmsnorm4j.measure;

import java.util.ArrayList;
import java.util.List;

/** Text in lines that fit a terminal of 80 columns. */
public final class Paragraph {
  private static final int COLUMNS = 79;

  private Paragraph() {}

  /**
   * Breaks a text between words.
   *
   * @param indent what each line begins with
   * @param text words with single spaces between them
   * @return the lines; one is longer only where a single word is
   */
  public static List<String> lines(String indent, String text) {
    return lines(indent, indent, text);
  }

  /**
   * Breaks a text between words, with a first line that begins otherwise, such as with a label.
   *
   * @param first what the first line begins with
   * @param indent what each other line begins with
   * @param text words with single spaces between them
   * @return the lines
   */
  public static List<String> lines(String first, String indent, String text) {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder(first);
    int start = line.length();
    for (String word : text.split(" ")) {
      if (line.length() > start && line.length() + 1 + word.length() > COLUMNS) {
        lines.add(line.toString());
        line = new StringBuilder(indent);
        start = line.length();
      }
      line.append(line.length() == start ? "" : " ").append(word);
    }
    lines.add(line.toString());
    return lines;
  }
}
