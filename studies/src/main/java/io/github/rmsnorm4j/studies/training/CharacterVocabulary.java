package io.github.rmsnorm4j.studies.training;

import static io.github.rmsnorm4j.models.internal.Requirement.require;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;

/** Characters as tokens. Token 0 stands for every character that is not in it. */
public final class CharacterVocabulary {
  private final Map<Integer, Integer> tokens = new HashMap<>();

  private CharacterVocabulary(int[] characters) {
    for (int character : characters) {
      tokens.put(character, tokens.size() + 1);
    }
  }

  /**
   * {@return the vocabulary of the characters of a text, in the order of Unicode; of those that are
   * in it most often, if there are many}
   *
   * @param text any text
   * @param most how many tokens there may be, token 0 among them; 2 or more
   * @throws IllegalArgumentException if most is below 2
   */
  public static CharacterVocabulary of(String text, int most) {
    require(most >= 2, "most", most, "be at least 2");
    Map<Integer, Integer> counts = new HashMap<>();
    text.codePoints().forEach(c -> counts.merge(c, 1, Integer::sum));
    Comparator<Integer> often = Comparator.comparing(counts::get);
    int[] chosen =
        counts.keySet().stream()
            .sorted(often.reversed().thenComparing(Comparator.naturalOrder()))
            .limit(most - 1L)
            .mapToInt(Integer::intValue)
            .sorted()
            .toArray();
    return new CharacterVocabulary(chosen);
  }

  /** {@return how many tokens there are: the number of characters and one} */
  public int size() {
    return tokens.size() + 1;
  }

  /**
   * {@return a token for each character of a text}
   *
   * @param text any text
   */
  public int[] encode(String text) {
    return text.codePoints().map(c -> tokens.getOrDefault(c, 0)).toArray();
  }
}
