package io.github.rmsnorm4j.studies.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Where batches come from. */
class BatchSourceTest {
  private static final int V = 32;
  private static final int PAIRS = 4;
  private static final int T = 24;

  @Test
  void everyRecallSequenceIsPairsThenTheirKeysAgain() {
    RecallTask task = new RecallTask(V, PAIRS, T, 1);
    int[] tokens = new int[16 * T];
    int[] targets = new int[tokens.length];
    int[] places = new int[T];
    for (int step = 0; step < 50; step++) {
      task.fill(step, tokens, targets);
      for (int first = 0; first < tokens.length; first += T) {
        Map<Integer, Integer> pairs = new HashMap<>();
        for (int i = 0; i < PAIRS; i++) {
          int key = tokens[first + 2 * i];
          int value = tokens[first + 2 * i + 1];
          assertThat(key).isBetween(1, V / 2 - 1);
          assertThat(value).isBetween(V / 2, V - 1);
          pairs.put(key, value);
        }
        assertThat(pairs).hasSize(PAIRS);
        assertThat(new HashSet<>(pairs.values())).hasSize(PAIRS);
        Set<Integer> asked = new HashSet<>();
        for (int t = 0; t < T; t++) {
          if (targets[first + t] >= 0) {
            assertThat(t).isGreaterThanOrEqualTo(2 * PAIRS);
            assertThat(targets[first + t]).isEqualTo(pairs.get(tokens[first + t]));
            asked.add(tokens[first + t]);
            places[t]++;
          }
        }
        assertThat(asked).isEqualTo(pairs.keySet());
      }
    }
    // 800 sequences: at the first place nearly always, at the last in a good part of them.
    assertThat(places[2 * PAIRS]).isGreaterThan(700);
    assertThat(places[T - 2]).isBetween(100, 500);
    assertThat(IntStream.range(0, T).filter(t -> t % 2 == 1).map(t -> places[t]).sum()).isZero();
  }

  @Test
  void aBatchDependsOnSeedAndStepAlone() {
    int[] text = IntStream.range(0, 1000).map(i -> i % 7).toArray();
    for (int kind = 0; kind < 2; kind++) {
      int[] late = batch(source(kind, text, 1), 5);
      BatchSource source = source(kind, text, 1);
      batch(source, 3);
      batch(source, 9);
      assertThat(batch(source, 5)).isEqualTo(late);
      assertThat(batch(source, 6)).isNotEqualTo(late);
      assertThat(batch(source(kind, text, 2), 5)).isNotEqualTo(late);
    }
  }

  private static BatchSource source(int kind, int[] text, long seed) {
    return kind == 0 ? new RecallTask(V, PAIRS, T, seed) : new TextBatches(text, 7, T, seed);
  }

  private static int[] batch(BatchSource source, long step) {
    int[] tokens = new int[4 * T];
    int[] targets = new int[tokens.length];
    source.fill(step, tokens, targets);
    int[] both = Arrays.copyOf(tokens, 2 * tokens.length);
    System.arraycopy(targets, 0, both, tokens.length, tokens.length);
    return both;
  }

  @Test
  void recallTasksThatCannotBe() {
    assertThatThrownBy(() -> new RecallTask(32, 7, 24, 1))
        .hasMessage("pairs is 7, it must be at most a quarter of 24");
    assertThatThrownBy(() -> new RecallTask(8, 4, 24, 1))
        .hasMessage("vocabulary is 8, it must be more than twice the pairs, 4");
    assertThatThrownBy(() -> new RecallTask(9, 1, 24, 1))
        .hasMessage("vocabulary is 9, it must be even");
    assertThatThrownBy(() -> new RecallTask(32, 1, 25, 1))
        .hasMessage("sequence is 25, it must be even");
    assertThatThrownBy(() -> new RecallTask(32, 0, 24, 1))
        .hasMessage("pairs is 0, it must be at least 1");
  }

  @Test
  void textPiecesAreFollowedByTheirNextTokens() {
    int[] text = IntStream.range(0, 9).toArray();
    TextBatches source = new TextBatches(text, 9, 4, 3);
    int[] tokens = new int[400];
    int[] targets = new int[400];
    source.fill(0, tokens, targets);
    Set<Integer> starts = new HashSet<>();
    for (int i = 0; i < tokens.length; i++) {
      assertThat(targets[i]).isEqualTo(tokens[i] + 1);
      assertThat(tokens[i]).isEqualTo(tokens[i / 4 * 4] + i % 4);
      starts.add(tokens[i / 4 * 4]);
    }
    assertThat(starts).containsExactlyInAnyOrder(0, 1, 2, 3, 4);
  }

  @Test
  void aTextMustBeLongerThanAPiece() {
    assertThatThrownBy(() -> new TextBatches(new int[64], 9, 64, 3))
        .hasMessage("the text has 64 tokens, for sequences of 64 it must have at least 65");
    assertThat(new TextBatches(new int[65], 9, 64, 3).sequence()).isEqualTo(64);
  }

  @Test
  void charactersAreTokens() {
    CharacterVocabulary vocabulary = CharacterVocabulary.of("hello 😀 world", 100);
    assertThat(vocabulary.size()).isEqualTo(10);
    assertThat(vocabulary.encode(" dehlorw😀?")).containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9, 0);
  }

  @Test
  void rareCharactersShareAToken() {
    CharacterVocabulary vocabulary = CharacterVocabulary.of("aaabbbccd", 3);
    assertThat(vocabulary.encode("abcd")).containsExactly(1, 2, 0, 0);
    assertThatThrownBy(() -> CharacterVocabulary.of("a", 1))
        .hasMessage("most is 1, it must be at least 2");
  }
}
