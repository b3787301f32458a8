package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.Direction.FORWARD;

import io.github.rmsnorm4j.RandomRows.Mix;
import java.util.ArrayList;
import java.util.List;

/**
 * Shapes of one kind. Cases are drawn stratum by stratum, so that with all draws chance cannot
 * leave one out; within a stratum everything is drawn.
 */
record Stratum(
    Direction direction,
    ElementType type,
    boolean heap,
    boolean centred,
    boolean plain,
    Widths widths,
    Chunks chunks) {

  /** How wide rows are; OF_32 are multiples of 32, and the others of their size are not. */
  enum Widths {
    BELOW_32,
    NARROW_OF_32,
    NARROW,
    MIDDLE,
    WIDE_OF_32,
    WIDE,
    LONG;

    private static final int NARROWEST_WIDE = 1024;
    private static final int[] OF_32 = {1024, 1024, 1056, 2048, 4096};
    private static final int[] WIDE_ONES = {1025, 1040, 2055, 4095, 4097, 5000};
    private static final int LONGEST_WIDE = 65_536;

    static Widths of(int width) {
      boolean of32 = width % 32 == 0;
      if (width <= 256) {
        return width < 32 ? BELOW_32 : of32 ? NARROW_OF_32 : NARROW;
      }
      if (width > LONGEST_WIDE) {
        return LONG;
      }
      return width < NARROWEST_WIDE ? MIDDLE : of32 ? WIDE_OF_32 : WIDE;
    }

    /** A width: all of the smallest in turn; the widest ones seldom, and not of many rows. */
    private int draw(Draw draw, long seed, boolean many) {
      boolean widest = !many && draw.onceIn(8);
      return switch (this) {
        case BELOW_32 -> 1 + (int) (seed % 31);
        case NARROW_OF_32 -> 32 * draw.random.nextInt(1, 9);
        case NARROW -> not32(draw, 33, 256);
        case MIDDLE -> draw.evenly() ? 32 * draw.random.nextInt(9, 32) : not32(draw, 257, 1024);
        case WIDE_OF_32 -> widest ? LONGEST_WIDE : draw.of(OF_32);
        case WIDE -> widest ? not32(draw, 5001, LONGEST_WIDE) : draw.of(WIDE_ONES);
        case LONG -> draw.random.nextInt(LONGEST_WIDE + 1, 70_001);
      };
    }

    private static int not32(Draw draw, int from, int to) {
      int width = draw.random.nextInt(from, to);
      return width % 32 == 0 ? width - 1 : width;
    }
  }

  /** How many rows there are, in chunks. */
  enum Chunks {
    BELOW_2,
    FROM_2,
    FROM_8,
    /** Forward, the kernels of the first and last chunk are others from there on. */
    FROM_32;

    static Chunks of(int rows, int chunk) {
      if (rows < 8 * chunk) {
        return rows < 2 * chunk ? BELOW_2 : FROM_2;
      }
      return rows < 32 * chunk ? FROM_8 : FROM_32;
    }

    private int draw(Draw draw, int chunk) {
      int few = draw.random.nextInt(-3, 4);
      return switch (this) {
        case BELOW_2 -> {
          int rows = draw.evenly() ? draw.random.nextInt(0, 4) : chunk + few;
          yield Math.clamp(rows, 0, 2 * chunk - 1);
        }
        case FROM_2 -> 2 * chunk + draw.random.nextInt(0, Math.min(chunk + 4, 2 * chunk));
        case FROM_8 -> Math.max(8 * chunk, draw.random.nextInt(9, 13) * chunk + few);
        case FROM_32 -> Math.max(32 * chunk, draw.random.nextInt(33, 36) * chunk + few);
      };
    }
  }

  static Stratum of(Shape shape) {
    return new Stratum(
        shape.direction(),
        shape.type(),
        shape.heap(),
        shape.centred(),
        shape.plain(),
        Widths.of(shape.width()),
        Chunks.of(shape.rows(), shape.chunk()));
  }

  /** All of a direction; of rows longer than a super-block there are never many. */
  static List<Stratum> all(Direction direction) {
    List<Stratum> all = new ArrayList<>();
    for (Widths widths : Widths.values()) {
      for (Chunks chunks : Chunks.values()) {
        for (ElementType type : ElementType.values()) {
          for (int choice = 0; choice < 8; choice++) {
            if (isPossible(direction, widths, chunks)) {
              boolean heap = (choice & 1) != 0;
              boolean centred = (choice & 2) != 0;
              boolean plain = (choice & 4) != 0;
              all.add(new Stratum(direction, type, heap, centred, plain, widths, chunks));
            }
          }
        }
      }
    }
    return all;
  }

  static boolean isPossible(Direction direction, Widths widths, Chunks chunks) {
    return chunks.compareTo(most(direction, widths)) <= 0;
  }

  private static Chunks most(Direction direction, Widths widths) {
    if (widths == Widths.LONG) {
      return Chunks.FROM_2;
    }
    return direction == FORWARD ? Chunks.FROM_32 : Chunks.FROM_8;
  }

  /**
   * Whether there are cases of each choice: where kernels are made for it. Backward, where a chunk
   * knows nothing of the one before, few chunks are enough.
   */
  boolean hasAllChoices() {
    boolean several =
        chunks == Chunks.FROM_2 || chunks.compareTo(Chunks.FROM_8) >= 0 && direction == FORWARD;
    return plain && type == ElementType.FLOAT32 && several && widths != Widths.LONG;
  }

  /** Rows of which two chunks in a row are in range. */
  Mix mix(int round) {
    return chunks.compareTo(Chunks.FROM_8) >= 0 && round % 2 == 0 ? Mix.LONE : Mix.ORDINARY;
  }

  /** The choice that a stratum begins with: that of FROM_8 is 8 from that of FROM_2. */
  int firstChoice() {
    return 8 * chunks.ordinal() + 3 * type.ordinal() + 5 * widths.ordinal();
  }

  /** A shape, by chance and by a case's number. */
  Shape draw(Draw draw, long seed) {
    int width = widths.draw(draw, seed, chunks == Chunks.FROM_8);
    int rows = chunks.draw(draw, direction.chunk(width));
    return new Shape(direction, type, heap, centred, plain, rows, width);
  }
}
