package io.github.rmsnorm4j.models.transformer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Text to tokens and back, as llama2.c does it. */
class TokenizerTest {
  private final Tokenizer tokenizer;

  TokenizerTest() throws IOException {
    tokenizer = Stories260K.tokenizer();
  }

  @Test
  void anEmptyTextIsTheBeginningAlone() {
    assertThat(tokenizer.encode("")).containsExactly(Tokenizer.BEGIN);
    assertThat(tokenizer.fewestTokens("")).isEqualTo(1);
  }

  /** The tokens that the model itself writes, greedily, as llama2.c does. */
  @Test
  void pairsAreJoinedByTheirScores() {
    assertThat(tokenizer.encode("Once upon a time, there was a little girl named Lily."))
        .containsExactly(
            1, 403, 407, 261, 378, 432, 383, 286, 261, 376, 298, 315, 421, 395, 317, 426);
  }

  @Test
  void theHigherScoreGoesFirst() throws IOException {
    Tokenizer own =
        new Tokenizer(
            file(
                7,
                piece(" ", -50),
                piece("a", -51),
                piece("ab", -2),
                piece("b", -52),
                piece("bc", -1),
                piece("c", -53),
                piece("abc", -3)));
    // 259 " ", 260 a, 261 ab, 262 b, 263 bc, 264 c, 265 abc.
    assertThat(own.encode("abc")).containsExactly(1, 259, 265);
    assertThat(own.encode("bbc")).containsExactly(1, 259, 262, 263);
    assertThat(own.encode("abbc")).containsExactly(1, 259, 261, 263);
  }

  @Test
  void ofEqualScoresTheLeftmostGoesFirst() throws IOException {
    Tokenizer own = new Tokenizer(file(6, piece(" ", -50), piece("a", -51), piece("aa", -1)));
    assertThat(own.encode("aaa")).containsExactly(1, 259, 261, 260);
  }

  @Test
  void charactersAreTokensOrBytes() {
    // By its place in the vocabulary.
    assertThat(tokenizer.encode("é")).endsWith(485).hasSize(3);
    assertThat(tokenizer.bytes(0, 485)).isEqualTo("é".getBytes(StandardCharsets.UTF_8));
    // Not in the vocabulary: a byte is its token less 3.
    assertThat(tokenizer.encode("ü")).endsWith(0xc3 + 3, 0xbc + 3);
    assertThat(tokenizer.encode("한")).endsWith(0xed + 3, 0x95 + 3, 0x9c + 3);
    assertThat(tokenizer.encode("😀")).endsWith(0xf0 + 3, 0x9f + 3, 0x98 + 3, 0x80 + 3);
    assertThat(tokenizer.encode("\n")).endsWith(0x0a + 3);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Once upon a time",
        " two  spaces ",
        "é ñ “quotes” 한국어 😀 ü",
        "line\none\ttab",
        "<0x41> <s> <unk>",
        "x"
      })
  void aTextComesBack(String text) {
    int[] tokens = tokenizer.encode(text);
    assertThat(TokenText.of(tokenizer, tokens)).isEqualTo(text);
    assertThat(tokenizer.fewestTokens(text)).isLessThanOrEqualTo(tokens.length);
  }

  @Test
  void aCharacterIsGivenWhenItIsComplete() {
    TokenText text = new TokenText(tokenizer);
    assertThat(text.add(0xf0 + 3)).isEmpty();
    assertThat(text.add(0x9f + 3)).isEmpty();
    assertThat(text.add(0x98 + 3)).isEmpty();
    assertThat(text.add(0x80 + 3)).isEqualTo("😀");
    assertThat(text.add(0xc3 + 3)).isEmpty();
    assertThat(text.add('a' + 3)).isEqualTo("\ufffda");
    assertThat(text.add(0xe2 + 3)).isEmpty();
    assertThat(text.end()).isEqualTo("\ufffd");
    assertThat(text.end()).isEmpty();
  }

  @Test
  void aTerminalIsGivenNothingToObey() {
    assertThat(TokenText.of(tokenizer, 1, 0x1b + 3, '[' + 3, 'A' + 3, 0x07 + 3, 0x0d + 3))
        .isEqualTo("\ufffd[A\ufffd\ufffd");
  }

  @Test
  void tokensThatAreNone() {
    assertThat(tokenizer.size()).isEqualTo(512);
    assertThatThrownBy(() -> tokenizer.bytes(1, 512)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  private static byte[] piece(String text, float score) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(8 + bytes.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putFloat(score)
        .putInt(bytes.length)
        .put(bytes)
        .array();
  }

  /** Marks, bytes, and more pieces. */
  private static byte[] file(int longest, byte[]... more) {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.writeBytes(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(longest).array());
    for (String mark : new String[] {"<unk>", "<s>", "</s>"}) {
      file.writeBytes(piece(mark, 0));
    }
    for (int i = 0; i < 256; i++) {
      file.writeBytes(piece("<0x%02X>".formatted(i), 0));
    }
    for (byte[] each : more) {
      file.writeBytes(each);
    }
    return file.toByteArray();
  }
}
