package io.github.rmsnorm4j;

import java.util.Optional;

/**
 * One kind of call: what there is to choose about a norm and the rows that it is given. In a kind
 * that is being drawn the choices not made yet are null.
 *
 * @param in the type of x or dy
 * @param out the type of y or dx
 * @param beside the type of the third rows: the residual, what was kept, or dresidual
 * @param bias given with the call where the gain is, otherwise held by the norm
 * @param sums the type of the parameters' gradients
 * @param overwrites whether the output goes where the input is
 */
record CallKind(
    Pass pass,
    Formula formula,
    ElementType in,
    ElementType out,
    Optional<ElementType> beside,
    Gain gain,
    Boolean bias,
    CastOrder order,
    EpsilonPlacement placement,
    ResidualRounding rounding,
    Optional<ElementType> sums,
    Place from,
    Place to,
    Optional<Place> besideIn,
    Boolean overwrites,
    Boolean safe,
    Integer width,
    Extent extent) {

  /** What is done. */
  enum Pass {
    FORWARD,
    /** Forward, added to a residual. */
    ADDED,
    GATED,
    /** Forward, with a gate before the norm. */
    GATED_BEFORE,
    FROM_INPUT,
    /** From the input without its statistic. */
    FROM_INPUT_ALONE,
    FROM_OUTPUT,
    /** From the input, with the gradient of the residual. */
    WITH_DRESIDUAL,
    FROM_GATED,
    FROM_GATED_BEFORE;

    boolean isBackward() {
      return ordinal() >= FROM_INPUT.ordinal();
    }

    Gate gate() {
      return switch (this) {
        case GATED, FROM_GATED -> Gate.SILU;
        case GATED_BEFORE, FROM_GATED_BEFORE -> Gate.SILU_BEFORE;
        default -> Gate.NONE;
      };
    }
  }

  enum Formula {
    RMS,
    LAYER,
    LENGTH,
    PARTIAL,
    /** RMSNorm of groups of a row. */
    GROUPS
  }

  enum Gain {
    NONE,
    HELD,
    GIVEN
  }

  /** How many rows. */
  enum Extent {
    ONE_ROW,
    FEW,
    MANY_NARROW,
    /**
     * More than 12 chunks of 4096 elements, of which the last is not full where rows are narrow.
     */
    MANY_CHUNKS,
    /** So many that two threads pay, and are used. */
    TWO_THREADS
  }

  private static final int WIDEST_NARROW = 300;
  private static final int WIDEST_OF_MANY = 4100;

  /** Whether no two choices made so far exclude each other, or make no difference together. */
  boolean isPossible() {
    return isPossibleNorm() && arePossibleTypes() && isPossibleMemory() && isPossibleShape();
  }

  private boolean isPossibleNorm() {
    boolean casts = isNot(order, CastOrder.FLOAT32);
    boolean backward = pass != null && pass.isBackward();
    boolean adds = pass == null || pass == Pass.ADDED;
    boolean neverCasts = formula == Formula.LAYER || formula == Formula.LENGTH;
    return !(casts && (neverCasts || is(bias) || backward))
        && (adds || !isNot(rounding, ResidualRounding.FIRST))
        && !(pass == Pass.FROM_OUTPUT && formula == Formula.PARTIAL)
        && isPossibleGate(pass == null ? Gate.NONE : pass.gate())
        && (pass == null || backward || !isThere(sums));
  }

  private boolean isPossibleGate(Gate gate) {
    return gate == Gate.NONE
        || gain != Gain.GIVEN && !(gate == Gate.SILU_BEFORE && formula == Formula.LAYER);
  }

  private boolean arePossibleTypes() {
    boolean backward = pass != null && pass.isBackward();
    return (pass == null || beside == null || beside.isEmpty() == (pass == Pass.FORWARD))
        && (beside == null || beside.isEmpty() || in == null || sameArithmetic(in, beside.get()))
        && !(backward && in != null && out != null && !sameArithmetic(in, out));
  }

  private boolean isPossibleMemory() {
    boolean none = pass == Pass.FORWARD;
    boolean otherSize = in != null && out != null && in.bytes() != out.bytes();
    boolean otherPlace = from != null && to != null && from != to;
    boolean noneNative =
        from == Place.ARRAY
            && to == Place.ARRAY
            && besideIn != null
            && !besideIn.equals(Optional.of(Place.NATIVE));
    return (pass == null || besideIn == null || besideIn.isEmpty() == none)
        && !(is(overwrites) && (otherSize || otherPlace))
        && !(is(safe) && noneNative);
  }

  private boolean isPossibleShape() {
    boolean forward = pass != null && !pass.isBackward();
    return !(forward && extent == Extent.TWO_THREADS)
        && (width == null
            || !(extent == Extent.MANY_NARROW && width > WIDEST_NARROW)
                && !(extent == Extent.MANY_CHUNKS && width > WIDEST_OF_MANY));
  }

  private static boolean sameArithmetic(ElementType a, ElementType b) {
    return (a == ElementType.FLOAT64) == (b == ElementType.FLOAT64);
  }

  private static boolean is(Boolean choice) {
    return choice != null && choice;
  }

  private static boolean isThere(Optional<?> choice) {
    return choice != null && choice.isPresent();
  }

  private static boolean isNot(Enum<?> choice, Enum<?> value) {
    return choice != null && choice != value;
  }

  int threads() {
    return extent == Extent.TWO_THREADS ? 2 : 1;
  }

  /** How many groups a row has. */
  int groups() {
    return formula != Formula.GROUPS ? 1 : width % 4 == 0 ? 4 : width % 3 == 0 ? 3 : 1;
  }

  int rows() {
    return switch (extent) {
      case ONE_ROW -> 1;
      case FEW -> 3;
      case MANY_NARROW -> 200;
      case MANY_CHUNKS -> 33 * 4096 / width + 2;
      case TWO_THREADS -> (1 << 18) / width + 1;
    };
  }

  /**
   * For example {@code forward, RMS 4096 wide, 14 rows, float32 in ARRAY to bfloat16 in NATIVE}.
   */
  @Override
  public String toString() {
    String third = beside.map(type -> ", beside " + type + " in " + besideIn.get()).orElse("");
    return (pass + ", " + formula + " " + width + " wide, " + rows() + " rows")
        + (", " + in + " in " + from + " to " + out + " in " + to)
        + (overwrites ? " in place" : "")
        + third
        + (safe ? ", safe" : "")
        + (", gain " + gain + (bias ? ", bias" : "") + ", " + order + ", epsilon " + placement)
        + (pass == Pass.ADDED ? ", rounded " + rounding : "")
        + sums.map(type -> ", sums " + type).orElse("");
  }
}
