package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.ml.param.DoubleArrayParam;
import org.apache.spark.ml.param.IntParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.Params;
import scala.Function1;

/**
 * Makes the params of a stage. A value that is not allowed is refused with a sentence that says
 * what is; Spark's own would only repeat the value.
 *
 * @param stage that the params are of, which is named in what they refuse; it must have its name
 */
record CheckedParams(Params stage) {
  /** The name of a column. */
  Param<String> column(String name, String doc) {
    return text(name, doc, value -> !value.isEmpty(), "it must name a column");
  }

  /** One of some words. */
  Param<String> oneOf(List<String> words, String name, String doc) {
    String list = String.join(", ", words.subList(0, words.size() - 1));
    String allowed = "it may be %s or %s".formatted(list, words.getLast());
    return text(name, doc, words::contains, allowed);
  }

  /** The name of a type, as the command line takes it. */
  Param<String> type(String name, String doc) {
    String allowed = "it may be float16, bfloat16, float32 or float64 (f16, ...)";
    return text(name, doc, CheckedParams::isType, allowed);
  }

  private static boolean isType(String name) {
    try {
      ElementType.ofName(name);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** A count. */
  IntParam positive(String name, String doc) {
    return new IntParam(
        stage, name, doc, check(name, value -> (int) value >= 1, "it must be at least 1"));
  }

  /** The values of a gain or a bias. */
  DoubleArrayParam elements(String name, String doc) {
    String allowed = "it must have as many elements as a row";
    return new DoubleArrayParam(stage, name, doc, check(name, value -> value.length > 0, allowed));
  }

  /** The text of a norm, refused in the words of {@link NormSpec}. */
  Param<String> norm(String name, String doc) {
    Allowed<String> parsed = text -> NormSettings.spec(text) != null;
    return text(name, doc, parsed, "it must be the text of a norm");
  }

  /** A part of all values. */
  private interface Allowed<T> extends Serializable {
    boolean test(T value);
  }

  private Param<String> text(String name, String doc, Allowed<String> allowed, String sentence) {
    return new Param<>(stage, name, doc, check(name, allowed, sentence));
  }

  private <T> Function1<T, Object> check(String name, Allowed<T> allowed, String sentence) {
    String uid = stage.uid();
    return (Function1<T, Object> & Serializable)
        value -> {
          try {
            if (value == null || !allowed.test(value)) {
              throw new IllegalArgumentException(
                  "%s is %s, %s".formatted(name, shown(value), sentence));
            }
            return true;
          } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(uid + ": " + e.getMessage(), e);
          }
        };
  }

  private static String shown(Object value) {
    return switch (value) {
      case null -> "null";
      case String text -> "'" + text + "'";
      case double[] elements -> "empty";
      default -> value.toString();
    };
  }
}
