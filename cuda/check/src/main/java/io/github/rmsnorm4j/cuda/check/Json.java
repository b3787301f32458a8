package io.github.rmsnorm4j.cuda.check;

import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Records as JSON. The archive for machines with a GPU holds the modules core and cuda alone, so
 * there is no library for that; the module lab/bench reads the text with Jackson.
 */
public final class Json {
  private Json() {}

  /**
   * {@return the text of a value}
   *
   * @param value a record, a list, a text, a number, an enum, a boolean or null
   */
  public static String text(Object value) {
    return text(value, "\n") + "\n";
  }

  private static String text(Object value, String line) {
    return switch (value) {
      case null -> "null";
      case Record all -> fields(all, line + "  ", line);
      case List<?> all when all.stream().allMatch(Number.class::isInstance) ->
          joined(all.stream().map(one -> text(one, line)), ", ", "[", "]");
      case List<?> all ->
          joined(
              all.stream().map(one -> text(one, line + "  ")),
              "," + line + "  ",
              "[" + line + "  ",
              line + "]");
      case Enum<?> one -> quoted(one.name());
      case String text -> quoted(text);
      // Not a number in JSON; nothing else is either.
      case Double number when !Double.isFinite(number) -> "null";
      default -> value.toString();
    };
  }

  private static String fields(Record all, String inner, String line) {
    return joined(
        Stream.of(all.getClass().getRecordComponents())
            .map(field -> quoted(field.getName()) + " : " + text(value(all, field), inner)),
        "," + inner,
        "{" + inner,
        line + "}");
  }

  private static Object value(Record of, RecordComponent field) {
    try {
      return field.getAccessor().invoke(of);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String joined(Stream<String> parts, String between, String first, String last) {
    return parts.collect(Collectors.joining(between, first, last));
  }

  private static String quoted(String text) {
    return text.chars()
        .mapToObj(
            c ->
                c == '"' || c == '\\'
                    ? "\\" + (char) c
                    : c < ' ' ? String.format(Locale.ROOT, "\\u%04x", c) : "" + (char) c)
        .collect(Collectors.joining("", "\"", "\""));
  }
}
