package io.github.rmsnorm4j.formats;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads the literal in a {@code .npy} header: a Python dictionary with the keys {@code descr},
 * {@code fortran_order} and {@code shape}, each once, in any order. No other Python is accepted,
 * and nothing is evaluated.
 */
final class NpyHeaderParser {
  private static final List<String> KEYS = List.of("descr", "fortran_order", "shape");

  /** S stands for space, Q for the quote that the key has. No valid text has a backslash. */
  private static final Pattern ENTRY =
      pattern(
          "S(?<start>[{,])S(?<quote>['\"])(?:"
              + "descrQS:S(?<q>['\"])(?<descr>[^'\"\\\\\n]*+)\\k<q>"
              + "|fortran_orderQS:S(?<fortranorder>True|False)"
              + "|shapeQS:S\\((?<shape>[^()]*+)\\))");

  private static final Pattern STRUCTURE = pattern("S[{,]S(?<quote>['\"])descrQS:S[\\[(]");
  private static final Pattern END = pattern("S,?S\\}S");
  private static final Pattern SPACE = pattern("S");
  private static final Pattern LENGTH = pattern("S(?<digits>0|[1-9][0-9]*+)(?<old>L?)S");

  private NpyHeaderParser() {}

  private static Pattern pattern(String form) {
    return Pattern.compile(form.replace("S", "[ \t\n\r\f]*+").replace("Q", "\\k<quote>"));
  }

  /**
   * Parses a literal.
   *
   * @param text the header after its length
   * @param oldLongs whether {@code 3L} is a number, as Python 2 wrote it
   * @throws IllegalArgumentException if it is not that literal; the message says why
   */
  static NpyHeader parse(String text, boolean oldLongs) {
    Map<String, String> values = new HashMap<>();
    int at = 0;
    Matcher entry = ENTRY.matcher(text);
    while (entry.region(at, text.length()).lookingAt()
        && entry.group("start").equals(at == 0 ? "{" : ",")) {
      for (String key : KEYS) {
        String value = entry.group(key.replace("_", ""));
        if (value != null && values.put(key, value) != null) {
          throw wrong("has the key '%s' twice", key);
        }
      }
      at = entry.end();
    }
    String rest = text.substring(at);
    if (STRUCTURE.matcher(rest).lookingAt()) {
      throw wrong(
          "describes a structured type, supported are f2, f4 and f8 (float16, float32, float64)");
    }
    if (!END.matcher(rest).matches()) {
      throw wrong("is no dictionary of descr, fortran_order and shape from '%s' on", rest);
    }
    for (String key : KEYS) {
      if (!values.containsKey(key)) {
        throw wrong("lacks '%s'", key);
      }
    }
    String descr = values.get("descr");
    return new NpyHeader(
        NpyDescr.dtype(descr),
        NpyDescr.order(descr),
        values.get("fortran_order").equals("True"),
        shape(values.get("shape"), oldLongs));
  }

  private static List<Long> shape(String tuple, boolean oldLongs) {
    // As many as may be, one more, and what is behind the last comma.
    String[] lengths = tuple.split(",", Tensor.MAX_AXES + 2);
    boolean endsInComma = SPACE.matcher(lengths[lengths.length - 1]).matches();
    int axes = endsInComma ? lengths.length - 1 : lengths.length;
    if (axes > Tensor.MAX_AXES) {
      throw wrong("has a shape of more than %s axes", String.valueOf(Tensor.MAX_AXES));
    }
    if (lengths.length == 1 && axes == 1) {
      throw wrong("has (%s) as its shape, a tuple such as (3,) is needed", tuple);
    }
    List<Long> shape = new ArrayList<>();
    for (String length : List.of(lengths).subList(0, axes)) {
      Matcher number = LENGTH.matcher(length);
      if (!number.matches() || (!oldLongs && !number.group("old").isEmpty())) {
        throw wrong("has '%s' in its shape, it must be whole numbers from 0 on", length);
      }
      try {
        shape.add(Long.parseLong(number.group("digits")));
      } catch (NumberFormatException ignored) {
        throw wrong("has a length of %s, which overflows 64 bits", number.group("digits"));
      }
    }
    return shape;
  }

  private static IllegalArgumentException wrong(String problem, String... shown) {
    Object[] printable = Stream.of(shown).map(Printable::shortened).toArray();
    return new IllegalArgumentException(problem.formatted(printable));
  }
}
