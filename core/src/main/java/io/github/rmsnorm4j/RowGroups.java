package io.github.rmsnorm4j;

/**
 * The groups of a row, each of which has a statistic of its own: all of the row in one group, so
 * many groups, or groups of so many elements. Mamba-2 has groups by count. A norm per head has
 * groups by size: a row has the heads of a token, one after the other.
 *
 * @param count of groups; 0 where their size is given
 * @param size elements of a group; 0 where the count is given
 */
public record RowGroups(int count, int size) {
  /** One group: the whole row. */
  public static final RowGroups WHOLE = new RowGroups(1, 0);

  /**
   * Checks that either the count or the size is given.
   *
   * @throws IllegalArgumentException if neither or both are given, or one is negative
   */
  public RowGroups {
    if (count < 0 || size < 0 || count > 0 == size > 0) {
      throw new IllegalArgumentException(
          "count is "
              + count
              + " and size is "
              + size
              + ", one must be at least 1 and the other 0");
    }
  }

  /**
   * {@return groups by their number}
   *
   * @param count of groups of a row
   * @throws IllegalArgumentException if it is below 1
   */
  public static RowGroups ofCount(int count) {
    return new RowGroups(positive(count, "groupCount"), 0);
  }

  /**
   * {@return groups by their size}
   *
   * @param size elements of a group
   * @throws IllegalArgumentException if it is below 1
   */
  public static RowGroups ofSize(int size) {
    return new RowGroups(0, positive(size, "groupSize"));
  }

  private static int positive(int number, String name) {
    if (number < 1) {
      throw new IllegalArgumentException(name + " is " + number + ", it must be at least 1");
    }
    return number;
  }

  /** {@return whether a row of any width is one group} */
  public boolean isWhole() {
    return count == 1;
  }

  /**
   * {@return how many groups a row has}
   *
   * @param width elements of a row
   * @throws IllegalArgumentException if the count or the size does not divide the width
   */
  public int count(int width) {
    if (width % (count > 0 ? count : size) != 0) {
      throw new IllegalArgumentException(
          (count > 0 ? "groupCount is " + count : "groupSize is " + size)
              + ", it must divide the width, "
              + width);
    }
    return count > 0 ? count : width / size;
  }
}
