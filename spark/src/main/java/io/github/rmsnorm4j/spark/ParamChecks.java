package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import java.io.Serializable;
import java.util.List;
import scala.Function1;

/**
 * What single params may be. A value that is not allowed is refused with a sentence that says what
 * is; Spark's own would only repeat the value.
 */
final class ParamChecks {
  private final String uid;

  /** Checks of a stage, which is named in what they say. */
  ParamChecks(String uid) {
    this.uid = uid;
  }

  /** Names of columns. */
  Function1<String, Object> column(String name) {
    return check(name, value -> !value.isEmpty(), "it must name a column");
  }

  /** One of some words. */
  Function1<String, Object> oneOf(String name, List<String> words) {
    String list = String.join(", ", words.subList(0, words.size() - 1));
    String allowed = "it may be %s or %s".formatted(list, words.getLast());
    return check(name, words::contains, allowed);
  }

  /** Names of types, as the command line takes them. */
  Function1<String, Object> type(String name) {
    return check(
        name, ParamChecks::isType, "it may be float16, bfloat16, float32 or float64 (f16, ...)");
  }

  private static boolean isType(String name) {
    try {
      ElementType.ofName(name);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** Counts. */
  Function1<Object, Object> positive(String name) {
    return check(name, value -> (int) value >= 1, "it must be at least 1");
  }

  /** Values of a gain or a bias. */
  Function1<double[], Object> elements(String name) {
    return check(name, value -> value.length > 0, "it must have as many elements as a row");
  }

  /** Texts of norms, refused in the words of {@link NormSpec}. */
  Function1<String, Object> norm() {
    return refuse(text -> NormSpec.parse(String.valueOf(text)));
  }

  /** A part of all values. */
  private interface Allowed<T> extends Serializable {
    boolean test(T value);
  }

  private <T> Function1<T, Object> check(String name, Allowed<T> allowed, String sentence) {
    return refuse(
        value -> {
          if (value == null || !allowed.test(value)) {
            throw new IllegalArgumentException(
                "%s is %s, %s".formatted(name, shown(value), sentence));
          }
        });
  }

  /** Throws {@link IllegalArgumentException} where a value is not allowed. */
  private interface Refusal<T> extends Serializable {
    void check(T value);
  }

  private <T> Function1<T, Object> refuse(Refusal<T> refusal) {
    String stage = uid;
    return (Function1<T, Object> & Serializable)
        value -> {
          try {
            refusal.check(value);
            return true;
          } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(stage + ": " + e.getMessage(), e);
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
