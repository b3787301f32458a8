package io.github.rmsnorm4j;

import io.github.rmsnorm4j.Stratum.Widths;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** What the cases of a direction were, by what was called and not by what was asked for. */
final class Coverage {
  /** Where one row is out of range, in its chunk and in those beside it the only one. */
  enum Lone {
    NONE,
    FIRST_CHUNK,
    MIDDLE,
    LAST_CHUNK
  }

  /** A call of several chunks, and a single row out of range in it. */
  record Single(ElementType type, Widths widths, Lone lone) {}

  /** A plain call of float32 rows, with two chunks in a row that are in range. */
  record Plain(Widths widths, boolean heap, boolean centred, int choice) {}

  /** Two things that a call was at once; the third of the back ends it was made on is one. */
  record Pair(String one, String other) {}

  /** A width that rows have, which some kernels are made for. */
  record Width(int width) {}

  private static final int[] SOME_WIDTHS = {1024, 1056, 2048, 4096, 4097, 5000, 65_536};
  private static final Set<Widths> WIDTHS = EnumSet.complementOf(EnumSet.of(Widths.LONG));

  private final Direction direction;
  private final Set<Object> seen = new HashSet<>();

  Coverage(Direction direction) {
    this.direction = direction;
  }

  /** Counts a call: what it had of the choices, and which of its rows were out of range. */
  synchronized void add(long seed, Case call) {
    Shape shape = call.shape();
    int choice = call.choice();
    boolean[] outOfRange = call.answer.outOfRange();
    Stratum stratum = Stratum.of(shape);
    seen.add(stratum);
    seen.addAll(call.options());
    seen.addAll(pairs(stratum, choice, (int) (seed % Backends.THIRDS)));
    seen.add(new Width(shape.width()));
    int[] out = perChunk(outOfRange, shape.chunk());
    Widths widths = stratum.widths();
    if (stratum.hasAllChoices() && hasTwoInRange(out)) {
      seen.add(new Plain(widths, shape.heap(), shape.centred(), choice));
    }
    for (Lone lone : lone(out)) {
      seen.add(new Single(shape.type(), widths, lone));
    }
  }

  /** How many rows are out of range, of each chunk. */
  private static int[] perChunk(boolean[] outOfRange, int chunk) {
    int[] counts = new int[(outOfRange.length + chunk - 1) / chunk];
    for (int r = 0; r < outOfRange.length; r++) {
      counts[r / chunk] += outOfRange[r] ? 1 : 0;
    }
    return counts;
  }

  private static boolean hasTwoInRange(int[] out) {
    for (int k = 1; k < out.length; k++) {
      if (out[k - 1] + out[k] == 0) {
        return true;
      }
    }
    return false;
  }

  private static Collection<Lone> lone(int[] out) {
    Set<Lone> found = EnumSet.noneOf(Lone.class);
    int last = out.length - 1;
    int all = 0;
    for (int k = 0; k <= last && last >= 2; k++) {
      all += out[k];
      boolean before = k > 0 && out[k - 1] > 0;
      boolean after = k < last && out[k + 1] > 0;
      if (out[k] == 1 && !before && !after) {
        found.add(k == 0 ? Lone.FIRST_CHUNK : k == last ? Lone.LAST_CHUNK : Lone.MIDDLE);
      }
    }
    if (last >= 2 && all == 0) {
      found.add(Lone.NONE);
    }
    return found;
  }

  private static List<Pair> pairs(Stratum stratum, int choice, int third) {
    List<String> all =
        List.of(
            "type " + stratum.type(),
            "heap " + stratum.heap(),
            "centred " + stratum.centred(),
            "plain " + stratum.plain(),
            "widths " + stratum.widths(),
            "chunks " + stratum.chunks(),
            "choice " + choice,
            "third " + third);
    List<Pair> pairs = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      for (int k = 0; k < i; k++) {
        pairs.add(new Pair(all.get(k), all.get(i)));
      }
    }
    return pairs;
  }

  /** What no case was: all options, and everything with all draws, otherwise pairs. */
  synchronized Set<Object> missing() {
    Set<Object> missing = new HashSet<>(Backends.ALL_DRAWS ? all() : allPairs());
    missing.addAll(Case.options(direction));
    missing.removeAll(seen);
    return missing;
  }

  private Set<Object> allPairs() {
    Set<Object> all = new HashSet<>();
    List<Stratum> strata = Stratum.all(direction);
    for (int i = 0; i < strata.size(); i++) {
      for (int choice = 0; choice < Recipe.CHOICES; choice++) {
        all.addAll(pairs(strata.get(i), choice, (i + choice) % Backends.THIRDS));
      }
    }
    return all;
  }

  /** Of rows longer than a super-block there are never many. */
  private Collection<Object> all() {
    List<Object> all = new ArrayList<>(Stratum.all(direction));
    IntStream narrow = IntStream.rangeClosed(1, 256).filter(n -> n < 32 || n % 32 == 0);
    IntStream.concat(narrow, IntStream.of(SOME_WIDTHS)).mapToObj(Width::new).forEach(all::add);
    for (Widths widths : WIDTHS) {
      for (ElementType type : ElementType.values()) {
        for (Lone lone : Lone.values()) {
          all.add(new Single(type, widths, lone));
        }
      }
      for (int choice = 0; choice < 4 * Recipe.CHOICES; choice++) {
        boolean heap = choice / Recipe.CHOICES % 2 == 0;
        boolean centred = choice / Recipe.CHOICES / 2 == 0;
        all.add(new Plain(widths, heap, centred, choice % Recipe.CHOICES));
      }
    }
    return all;
  }
}
