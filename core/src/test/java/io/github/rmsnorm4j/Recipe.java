package io.github.rmsnorm4j;

import io.github.rmsnorm4j.RandomRows.Mix;
import java.util.ArrayList;
import java.util.List;

/**
 * What a case is drawn by. A failure prints it, and it makes the same case again.
 *
 * @param choice a bit for each of four things that a call has or has not. Forward these are gain,
 *     bias, residual, and y in another kind of memory than x. Backward they are gain, the gradient
 *     of the gain, that of the residual, and that of the bias.
 */
record Recipe(long seed, Stratum stratum, Mix mix, int choice) {
  static final int CHOICES = 16;

  /**
   * A case of every stratum, and then all choices of some. Forward a stratum has one half of them,
   * and that of other chunks the other.
   */
  static List<Recipe> all(Direction direction) {
    List<Recipe> all = new ArrayList<>();
    int rounds = direction == Direction.FORWARD ? CHOICES / 2 : CHOICES;
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

  /** All of them with {@code tests.all}, otherwise about a quarter of them. */
  static List<Recipe> drawn(Direction direction) {
    return all(direction).stream()
        // Not by the seed itself: types and strata go by that, in turn.
        .filter(recipe -> Backends.ALL_DRAWS || recipe.seed * 0x9e3779b97f4a7c15L >>> 62 == 0)
        .toList();
  }
}
