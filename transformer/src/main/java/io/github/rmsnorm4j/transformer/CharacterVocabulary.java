package io.github.rmsnorm4j.transformer;

import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;

/**
 * Characters as tokens. Token 0 stands for every character that is not in it, and is read back as
 * U+FFFD.
 */
public final class CharacterVocabulary {
  private static final int UNKNOWN = 0xfffd;

  /** The characters in the order of their tokens, from token 1 on. */
  private final int[] characters;

  private final Map<Integer, Integer> tokens = new HashMap<>();

  private CharacterVocabulary(int[] characters) {
    this.characters = characters;
    for (int i = 0; i < characters.length; i++) {
      if (tokens.put(characters[i], i + 1) != null) {
        throw new IllegalArgumentException("characters has U+%04X twice".formatted(characters[i]));
      }
    }
  }

  /**
   * The characters of a text; those that are in it most often, if there are many.
   *
   * @param text any text
   * @param most how many tokens there may be, token 0 among them; 2 or more
   * @return the vocabulary, its characters in the order of Unicode
   * @throws IllegalArgumentException if most is below 2
   */
  public static CharacterVocabulary of(String text, int most) {
    if (most < 2) {
      throw new IllegalArgumentException("most is " + most + ", it must be at least 2");
    }
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

  /**
   * The vocabulary whose {@link #characters()} these are.
   *
   * @param characters each once
   * @return the vocabulary
   * @throws IllegalArgumentException if a character is there twice
   */
  public static CharacterVocabulary ofCharacters(String characters) {
    return new CharacterVocabulary(characters.codePoints().toArray());
  }

  /**
   * What it consists of.
   *
   * @return the characters of tokens 1, 2, ...
   */
  public String characters() {
    return new String(characters, 0, characters.length);
  }

  /**
   * How many tokens there are.
   *
   * @return the number of characters and one
   */
  public int size() {
    return characters.length + 1;
  }

  /**
   * Text to tokens.
   *
   * @param text any text
   * @return a token for each character
   */
  public int[] encode(String text) {
    return text.codePoints().map(c -> tokens.getOrDefault(c, 0)).toArray();
  }

  /**
   * Tokens to text.
   *
   * @param encoded tokens
   * @return a character for each
   * @throws IllegalArgumentException if one is not a token
   */
  public String decode(int[] encoded) {
    int[] text = Arrays.stream(encoded).map(this::character).toArray();
    return new String(text, 0, text.length);
  }

  private int character(int token) {
    if (token < 0 || token >= size()) {
      throw new IllegalArgumentException(
          "token is " + token + ", it must be between 0 and " + (size() - 1));
    }
    return token == 0 ? UNKNOWN : characters[token - 1];
  }
}
