package io.github.rmsnorm4j;

import io.github.rmsnorm4j.RandomRows.Mix;
import io.github.rmsnorm4j.Stratum.Chunks;
import io.github.rmsnorm4j.Stratum.Widths;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What a case is drawn by. A failure prints it, and it makes the same case again.
 *
 * @param choice a bit for each of four things that a call has or has not. Forward these are gain,
 *     bias, residual, and y in another kind of memory than x. Backward they are gain, the gradient
 *     of the gain, that of the residual, and that of the bias.
 */
record Recipe(long seed, Stratum stratum, Mix mix, int choice) {
  static final int CHOICES = 16;
  static final int GAIN = 1;
  static final int BIAS_OR_DGAIN = 2;
  static final int RESIDUAL = 4;
  static final int ELSEWHERE_OR_DBIAS = 8;

  /**
   * A case of every stratum, and then all choices of some, three times: groups, samples or a gate
   * can leave a case no two chunks in a row whose rows are in range.
   */
  static List<Recipe> all(Direction direction) {
    List<Recipe> all = new ArrayList<>();
    int rounds = 3 * (direction == Direction.FORWARD ? CHOICES / 2 : CHOICES);
    for (int round = 0; round <= rounds; round++) {
      for (Stratum stratum : Stratum.all(direction)) {
        if (round == 0 || stratum.hasAllChoices()) {
          int seed = all.size();
          Mix mix = round == 0 ? Mix.values()[seed % 3] : stratum.mix(round);
          int choice = (round + stratum.firstChoice()) % CHOICES;
          all.add(new Recipe(seed, stratum, mix, choice));
        }
      }
    }
    return all;
  }

  /**
   * All of them; or, with fewer draws, as few as have every two choices together: of a stratum, a
   * mix and a choice, and which third of the back ends the call is for.
   */
  static List<Recipe> drawn(Direction direction) {
    return Backends.ALL_DRAWS ? all(direction) : ofPairs(direction);
  }

  private static List<Recipe> ofPairs(Direction direction) {
    List<Recipe> recipes = new ArrayList<>();
    int[] sizes = {
      ElementType.values().length,
      2,
      2,
      2,
      Widths.values().length,
      Chunks.values().length,
      Mix.values().length,
      CHOICES,
      Backends.THIRDS
    };
    for (int[] row :
        CoveringArray.ofPairs(
            sizes, row -> isPossible(direction, row[4], row[5]), new SplittableRandom(3))) {
      Stratum stratum =
          new Stratum(
              direction,
              ElementType.values()[row[0]],
              row[1] == 0,
              row[2] == 0,
              row[3] == 0,
              Widths.values()[row[4]],
              Chunks.values()[row[5]]);
      long seed = (long) recipes.size() * Backends.THIRDS + row[8];
      recipes.add(new Recipe(seed, stratum, Mix.values()[row[6]], row[7]));
    }
    return recipes;
  }

  private static boolean isPossible(Direction direction, int widths, int chunks) {
    return widths == CoveringArray.OPEN
        || chunks == CoveringArray.OPEN
        || Stratum.isPossible(direction, Widths.values()[widths], Chunks.values()[chunks]);
  }

  /** More threads than one in two of three calls. */
  int threads() {
    return 1 + (int) (seed / Backends.THIRDS % 3);
  }
}
