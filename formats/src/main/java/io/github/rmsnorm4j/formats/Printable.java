package io.github.rmsnorm4j.formats;

/** Makes text from a file safe to print as one line on a terminal. */
public final class Printable {
  private static final int LONGEST = 80;
  private static final int LONGEST_MESSAGE = 800;

  private Printable() {}

  /**
   * Escapes every character that is not plainly visible.
   *
   * @param text a text of any length
   * @return one line of text
   */
  public static String escaped(String text) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints().forEach(c -> append(out, c));
    return out.toString();
  }

  /**
   * Escapes a text, without its middle if it is longer than a name should be.
   *
   * @param text a text of any length
   * @return one line of text, which says its length where a part is left out
   */
  public static String shortened(String text) {
    return shortened(text, LONGEST);
  }

  /**
   * Escapes a text, without its middle if it is longer than a message should be.
   *
   * @param text a text of any length
   * @return one line of text
   */
  public static String message(String text) {
    return shortened(text, LONGEST_MESSAGE);
  }

  private static String shortened(String text, int longest) {
    if (text.length() <= longest) {
      return escaped(text);
    }
    // A surrogate pair that is cut in two is escaped as two halves.
    int half = longest / 2;
    String head = text.substring(0, half);
    String tail = text.substring(text.length() - half);
    return escaped(head) + "..." + escaped(tail) + " (" + text.length() + " characters)";
  }

  private static void append(StringBuilder out, int c) {
    if (isVisible(c)) {
      out.appendCodePoint(c);
    } else {
      out.append(c == '\n' ? "\\n" : c == '\t' ? "\\t" : String.format("\\u{%x}", c));
    }
  }

  /** False for control characters, invisible and direction-changing ones, and non-characters. */
  private static boolean isVisible(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
