package io.github.rmsnorm4j.internal.device;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.quantized.CodeRule;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a norm is made of, for back ends in other modules.
 *
 * @param float64 the choices for float64 rows
 * @param float32 the choices for all other rows
 * @param groups the groups of a row; the choices have the width of one
 * @param gain the gain with its offset; null without one
 * @param bias null without one
 * @param rule how output becomes codes
 * @param roundsOutput whether output is rounded to the type of x before it becomes codes
 * @param checks of the rows of its calls
 */
public record NormParts(
    NormChoices float64,
    NormChoices float32,
    int groups,
    @Nullable Column gain,
    @Nullable Column bias,
    CodeRule rule,
    boolean roundsOutput,
    RowChecks checks) {
  /** Its class sets it when it is loaded; this package does not know norms. */
  private static final String READER = "io.github.rmsnorm4j.NormPartsReader";

  private static @Nullable Function<Object, NormParts> reader;

  /**
   * A gain or a bias.
   *
   * @param type the type in which the caller gave it
   * @param doubles its numbers for float64 arithmetic; they must not be changed
   * @param floats its numbers for float32 arithmetic; they must not be changed
   */
  public record Column(ElementType type, double[] doubles, float[] floats) {}

  /** Says how the parts of a norm are read. */
  public static void readBy(Function<Object, NormParts> reader) {
    NormParts.reader = reader;
  }

  /** The parts of a norm. */
  public static NormParts of(Object norm) {
    Function<Object, NormParts> of = reader == null ? load() : reader;
    return of.apply(norm);
  }

  private static Function<Object, NormParts> load() {
    try {
      Class.forName(READER);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(READER + " is not in this library", e);
    }
    return Objects.requireNonNull(reader);
  }

  /** The type of output that becomes codes and is not stored, for rows of a type. */
  public ElementType unstored(ElementType rows) {
    return roundsOutput && rows != ElementType.FLOAT64 ? rows : ElementType.FLOAT32;
  }

  /** The choices for rows of a type. */
  public NormChoices choices(ElementType rows) {
    return rows == ElementType.FLOAT64 ? float64 : float32;
  }
}
