package io.github.rmsnorm4j.internal.formula;

/**
 * Numbers that a formula reads or writes. Each formula declares its own tensors; {@link Forward}
 * and {@link Backward} have theirs.
 *
 * @param name the name in docs/numerics.md
 * @param access what a number belongs to
 * @param place the place among the tensors of a program with the same access
 */
public record Tensor(String name, Access access, int place) implements Comparable<Tensor> {
  /** The places of rows and columns. */
  public static final int SLOTS = Access.ELEMENT.places + Access.COLUMN.places;

  /** What a number of a tensor belongs to. */
  public enum Access {
    /** An element of a row. */
    ELEMENT(12),
    /** A column: all rows share it. */
    COLUMN(4),
    /** A row: in float64, a statistic or a row sum. */
    ROW(11),
    /** The call: in float64. */
    CALL(3);

    private final int places;

    Access(int places) {
      this.places = places;
    }

    /** The places that the memory of kernels has; all programs share it. */
    public int places() {
      return places;
    }
  }

  /** Checks the place. */
  public Tensor {
    if (place < 0 || place >= access.places) {
      throw new IllegalArgumentException(
          name + " has place " + place + ", it must be 0 to " + (access.places - 1));
    }
  }

  /** The place among all rows and columns. */
  public int slot() {
    return switch (access) {
      case ELEMENT -> place;
      case COLUMN -> Access.ELEMENT.places + place;
      default ->
          throw new IllegalArgumentException(name + " is neither of elements nor of columns");
    };
  }

  /** By access, then by place. */
  @Override
  public int compareTo(Tensor other) {
    int byAccess = access.compareTo(other.access);
    return byAccess == 0 ? Integer.compare(place, other.place) : byAccess;
  }

  static Tensor ofElements(String name, int place) {
    return new Tensor(name, Access.ELEMENT, place);
  }

  static Tensor ofColumns(String name, int place) {
    return new Tensor(name, Access.COLUMN, place);
  }

  static Tensor ofRows(String name, int place) {
    return new Tensor(name, Access.ROW, place);
  }

  static Tensor ofCall(String name, int place) {
    return new Tensor(name, Access.CALL, place);
  }

  @Override
  public String toString() {
    return name;
  }
}
