package io.github.rmsnorm4j.formats;

import java.util.ArrayList;
import java.util.List;

/**
 * Reads the literal in a {@code .npy} header: a Python dictionary with the keys {@code descr},
 * {@code fortran_order} and {@code shape}, each once, in any order. No other Python is accepted,
 * and nothing is evaluated.
 */
final class NpyHeaderParser {
  /** The header is not that literal; the message says why, as the end of a sentence. */
  static final class SyntaxException extends Exception {
    private static final long serialVersionUID = 1L;

    SyntaxException(String message) {
      super(message, null, false, false);
    }
  }

  private final String text;
  private final boolean oldLongs;
  private int at;

  private String descr;
  private Boolean fortranOrder;
  private List<Long> shape;

  private NpyHeaderParser(String text, boolean oldLongs) {
    this.text = text;
    this.oldLongs = oldLongs;
  }

  /**
   * Parses a literal.
   *
   * @param text the header after its length
   * @param oldLongs whether {@code 3L} is a number, as Python 2 wrote it
   */
  static NpyHeader parse(String text, boolean oldLongs) throws SyntaxException {
    NpyHeaderParser parser = new NpyHeaderParser(text, oldLongs);
    parser.dictionary();
    return new NpyHeader(
        NpyDescr.dtype(parser.descr),
        NpyDescr.order(parser.descr),
        parser.fortranOrder,
        parser.shape);
  }

  private void dictionary() throws SyntaxException {
    expect('{');
    while (!accept('}')) {
      String key = string("a key");
      expect(':');
      value(key);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skipSpace();
    if (at < text.length()) {
      throw unexpected("nothing more");
    }
    if (descr == null || fortranOrder == null || shape == null) {
      String missing = descr == null ? "descr" : shape == null ? "shape" : "fortran_order";
      throw new SyntaxException("lacks '" + missing + "'");
    }
  }

  private void value(String key) throws SyntaxException {
    switch (key) {
      case "descr" -> {
        requireFirst(descr, key);
        descr = description();
      }
      case "fortran_order" -> {
        requireFirst(fortranOrder, key);
        fortranOrder = truth();
      }
      case "shape" -> {
        requireFirst(shape, key);
        shape = tuple();
      }
      default ->
          throw new SyntaxException(
              "has the key '%s', it may have descr, fortran_order and shape"
                  .formatted(Printable.shortened(key)));
    }
  }

  private static void requireFirst(Object earlier, String key) throws SyntaxException {
    if (earlier != null) {
      throw new SyntaxException("has the key '" + key + "' twice");
    }
  }

  private String description() throws SyntaxException {
    skipSpace();
    if (at < text.length() && (text.charAt(at) == '[' || text.charAt(at) == '(')) {
      throw new SyntaxException(
          "describes a structured type, supported are f2, f4 and f8 (float16, float32, float64)");
    }
    return string("the description of a type");
  }

  private boolean truth() throws SyntaxException {
    skipSpace();
    for (boolean value : new boolean[] {true, false}) {
      String word = value ? "True" : "False";
      if (text.startsWith(word, at)) {
        at += word.length();
        return value;
      }
    }
    throw unexpected("True or False");
  }

  private List<Long> tuple() throws SyntaxException {
    expect('(');
    List<Long> lengths = new ArrayList<>();
    while (!accept(')')) {
      if (lengths.size() == Tensor.MAX_AXES) {
        throw new SyntaxException("has a shape of more than " + Tensor.MAX_AXES + " axes");
      }
      lengths.add(number());
      if (!accept(',')) {
        expect(')');
        if (lengths.size() == 1) {
          throw new SyntaxException("has a number as its shape, a tuple such as (3,) is needed");
        }
        break;
      }
    }
    return lengths;
  }

  /** The space before it has been skipped. */
  private long number() throws SyntaxException {
    int start = at;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    if (at == start) {
      throw unexpected("a number that is not negative");
    }
    String digits = text.substring(start, at);
    if (digits.length() > 1 && digits.startsWith("0")) {
      throw new SyntaxException("has a number with a leading zero, " + Printable.shortened(digits));
    }
    if (oldLongs && at < text.length() && text.charAt(at) == 'L') {
      at++;
    }
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException ignored) {
      throw new SyntaxException(
          "has a length of " + Printable.shortened(digits) + ", which overflows 64 bits");
    }
  }

  /**
   * A string in either kind of quotes; the space before it has been skipped. No valid string in
   * this header has a backslash.
   */
  private String string(String what) throws SyntaxException {
    if (at == text.length() || (text.charAt(at) != '\'' && text.charAt(at) != '"')) {
      throw unexpected(what + " in quotes");
    }
    int end = text.indexOf(text.charAt(at), at + 1);
    if (end < 0) {
      throw new SyntaxException("has a string without an end");
    }
    String content = text.substring(at + 1, end);
    if (content.indexOf('\\') >= 0 || content.indexOf('\n') >= 0) {
      throw new SyntaxException("has an escape or a line break in a string");
    }
    at = end + 1;
    return content;
  }

  private void expect(char wanted) throws SyntaxException {
    if (!accept(wanted)) {
      throw unexpected("'" + wanted + "'");
    }
  }

  private boolean accept(char wanted) {
    skipSpace();
    boolean there = at < text.length() && text.charAt(at) == wanted;
    if (there) {
      at++;
    }
    return there;
  }

  private void skipSpace() {
    while (at < text.length() && " \t\n\r\f".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private SyntaxException unexpected(String wanted) {
    String found = at < text.length() ? "'" + text.charAt(at) + "'" : "the end";
    return new SyntaxException("has " + found + " at " + at + " where " + wanted + " should be");
  }
}
