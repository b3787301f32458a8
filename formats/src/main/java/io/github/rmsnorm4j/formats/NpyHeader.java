package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The header of a {@code .npy} file: magic, version, length, and a literal. That is a Python
 * dictionary with the keys {@code descr}, {@code fortran_order} and {@code shape}, each once, in
 * any order. No other Python is accepted, and nothing is evaluated.
 *
 * @param dtype the type of the elements
 * @param order the byte order they are stored in
 * @param fortranOrder whether the first axis is the one that varies fastest in the file
 * @param shape the length of each axis
 */
record NpyHeader(Dtype dtype, ByteOrder order, boolean fortranOrder, List<Long> shape) {
  static final byte[] MAGIC = "\u0093NUMPY".getBytes(ISO_8859_1);

  /** Where the literal begins in a file of version 1, and in one of version 2 or 3. */
  static final int SHORT_PREFIX = 10;

  static final int LONG_PREFIX = 12;

  /** NumPy leaves space for so many digits of the first axis, so that it can be edited later. */
  private static final int ROOM_TO_GROW = 21;

  private static final int ALIGNMENT = 64;

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

  /**
   * The bytes of the file up to the data, as NumPy writes them. Version 1 is always enough: with at
   * most {@link Tensor#MAX_AXES} axes a header stays far below its limit of 65,535 bytes.
   */
  byte[] toBytes() {
    String literal =
        "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }"
            .formatted(descr(), fortranOrder ? "True" : "False", shapeLiteral());
    if (!shape.isEmpty()) {
      long growing = fortranOrder ? shape.getLast() : shape.getFirst();
      literal += " ".repeat(Math.max(0, ROOM_TO_GROW - Long.toString(growing).length()));
    }
    // NumPy pads with 1 to 64 characters, the last of them a line feed.
    int used = SHORT_PREFIX + literal.length() + 1;
    literal += " ".repeat(ALIGNMENT - used % ALIGNMENT) + "\n";
    ByteBuffer out = ByteBuffer.allocate(SHORT_PREFIX + literal.length());
    out.order(ByteOrder.LITTLE_ENDIAN).put(MAGIC).put((byte) 1).put((byte) 0);
    return out.putShort((short) literal.length()).put(literal.getBytes(UTF_8)).array();
  }

  private String descr() {
    return (order == ByteOrder.LITTLE_ENDIAN ? "<f" : ">f") + dtype.bits() / 8;
  }

  private String shapeLiteral() {
    return shape.size() == 1
        ? "(" + shape.getFirst() + ",)"
        : shape.stream().map(String::valueOf).collect(Collectors.joining(", ", "(", ")"));
  }

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
