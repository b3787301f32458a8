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

  /** S stands for space, T for a text, which has no backslash in any valid header. */
  private static final Pattern START = pattern("S\\{");

  private static final Pattern ENTRY =
      pattern("S(?<key>T)S:S(?<value>T|\\w++|\\([^()]*+\\))S(?<next>,|(?=\\}))");
  private static final Pattern END = pattern("S\\}S");
  private static final Pattern STRUCTURE = pattern("S['\"]descr['\"]S:S[\\[(]");
  private static final Pattern LENGTH = pattern("S(?<digits>0|[1-9][0-9]*+)(?<old>L?)S");

  private NpyHeaderParser() {}

  private static Pattern pattern(String form) {
    return Pattern.compile(
        form.replace("S", "[ \t\n\r\f]*+").replace("T", "'[^'\\\\\n]*+'|\"[^\"\\\\\n]*+\""));
  }

  /**
   * Parses a literal.
   *
   * @param text the header after its length
   * @param oldLongs whether {@code 3L} is a number, as Python 2 wrote it
   * @throws IllegalArgumentException if it is not that literal; the message says why
   */
  static NpyHeader parse(String text, boolean oldLongs) {
    Map<String, String> values = values(text);
    for (String key : KEYS) {
      if (!values.containsKey(key)) {
        throw wrong("lacks '" + key + "'");
      }
    }
    String order = values.get("fortran_order");
    if (!order.equals("True") && !order.equals("False")) {
      throw wrong("has %s as fortran_order, it must be True or False", order);
    }
    String descr = values.get("descr");
    if (!descr.startsWith("'") && !descr.startsWith("\"")) {
      throw wrong("has %s as descr, it must be a text", descr);
    }
    descr = descr.substring(1, descr.length() - 1);
    return new NpyHeader(
        NpyDescr.dtype(descr),
        NpyDescr.order(descr),
        order.equals("True"),
        shape(values.get("shape"), oldLongs));
  }

  /** The values as they are written, by their keys. */
  private static Map<String, String> values(String text) {
    Map<String, String> values = new HashMap<>();
    Matcher start = START.matcher(text);
    int at = start.lookingAt() ? start.end() : 0;
    Matcher entry = ENTRY.matcher(text);
    for (boolean more = at > 0; more && entry.region(at, text.length()).lookingAt(); ) {
      String key = entry.group("key");
      key = key.substring(1, key.length() - 1);
      if (!KEYS.contains(key)) {
        throw wrong("has the key '%s', it may have descr, fortran_order and shape", key);
      }
      if (values.put(key, entry.group("value")) != null) {
        throw wrong("has the key '%s' twice", key);
      }
      at = entry.end();
      more = entry.group("next").equals(",");
    }
    if (at == 0 || !END.matcher(text).region(at, text.length()).matches()) {
      if (STRUCTURE.matcher(text).region(at, text.length()).lookingAt()) {
        throw wrong(
            "describes a structured type, supported are f2, f4 and f8 (float16, float32, float64)");
      }
      throw wrong(
          "is no dictionary of descr, fortran_order and shape from '%s' on", text.substring(at));
    }
    return values;
  }

  private static List<Long> shape(String tuple, boolean oldLongs) {
    List<Long> shape = new ArrayList<>();
    // One more than may be, and what is behind the last comma.
    String[] lengths =
        tuple.startsWith("(")
            ? tuple.substring(1, tuple.length() - 1).split(",", Tensor.MAX_AXES + 2)
            : new String[1];
    String last = lengths[lengths.length - 1];
    int axes = lengths.length - (last != null && last.isBlank() ? 1 : 0);
    if (axes > Tensor.MAX_AXES) {
      throw wrong("has a shape of more than " + Tensor.MAX_AXES + " axes");
    }
    if (lengths.length == 1 && axes == 1) {
      throw wrong("has %s as its shape, a tuple such as (3,) is needed", tuple);
    }
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
