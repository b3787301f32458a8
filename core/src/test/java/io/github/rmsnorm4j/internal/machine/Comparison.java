package io.github.rmsnorm4j.internal.machine;

/** What comparisons and classes of numbers are, by the numbers that instructions have for them. */
final class Comparison {
  private Comparison() {}

  /** Whether a comparison holds; those from 16 on differ in exceptions only. */
  static boolean holds(int number, double x, double y) {
    boolean unordered = Double.isNaN(x) || Double.isNaN(y);
    return switch (number & 15) {
      case 0 -> x == y;
      case 1 -> x < y;
      case 2 -> x <= y;
      case 3 -> unordered;
      case 4 -> x != y;
      case 5 -> !(x < y);
      case 6 -> !(x <= y);
      case 7 -> !unordered;
      case 8 -> unordered || x == y;
      case 9 -> !(x >= y);
      case 10 -> !(x > y);
      case 11 -> false;
      case 12 -> !unordered && x != y;
      case 13 -> x >= y;
      case 14 -> x > y;
      default -> true;
    };
  }

  /** Whether a float32 is of one of some classes, which have a bit each. */
  static boolean isOf(int classes, int pattern) {
    return (classes & classesOf(pattern)) != 0;
  }

  private static int classesOf(int pattern) {
    boolean negative = pattern < 0;
    int size = pattern & 0x7fff_ffff;
    if (size > 0x7f80_0000) {
      return (size & 0x0040_0000) != 0 ? 0x01 : 0x80;
    }
    if (size == 0) {
      return negative ? 0x04 : 0x02;
    }
    if (size == 0x7f80_0000) {
      return negative ? 0x10 : 0x08;
    }
    return (size < 0x0080_0000 ? 0x20 : 0) | (negative ? 0x40 : 0);
  }
}
