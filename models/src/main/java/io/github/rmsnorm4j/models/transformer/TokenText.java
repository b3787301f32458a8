package io.github.rmsnorm4j.models.transformer;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Tokens to text, one after the other. A character whose bytes are several tokens is given when it
 * is complete. Bytes that are no UTF-8, and control characters other than line breaks and tabs, are
 * given as U+FFFD, so the text can go to a terminal.
 */
public final class TokenText {
  private static final int REPLACEMENT = 0xfffd;

  private final Tokenizer tokenizer;
  private final CharsetDecoder decoder =
      StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPLACE);
  private ByteBuffer rest = ByteBuffer.allocate(0);
  private int previous = Tokenizer.BEGIN;

  /**
   * An empty text.
   *
   * @param tokenizer of the tokens
   */
  public TokenText(Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  /**
   * {@return all of a text at once}
   *
   * @param tokenizer of the tokens
   * @param tokens the text's; {@link Tokenizer#BEGIN} at the start is passed over
   */
  public static String of(Tokenizer tokenizer, int... tokens) {
    TokenText text = new TokenText(tokenizer);
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < tokens.length; i++) {
      if (i > 0 || tokens[i] != Tokenizer.BEGIN) {
        all.append(text.add(tokens[i]));
      }
    }
    return all.append(text.end()).toString();
  }

  /**
   * Adds a token.
   *
   * @param token behind those before it
   * @return the characters that are now complete, possibly none
   * @throws IndexOutOfBoundsException if there is no such token
   */
  public String add(int token) {
    byte[] bytes = tokenizer.bytes(previous, token);
    rest = ByteBuffer.allocate(rest.remaining() + bytes.length).put(rest).put(bytes).flip();
    previous = token;
    return decode(false);
  }

  /** {@return the end of the text: a replacement for an incomplete character, or nothing} */
  public String end() {
    return decode(true);
  }

  private String decode(boolean end) {
    // A byte is at most one character, and a rest at most one more.
    CharBuffer text = CharBuffer.allocate(rest.remaining() + 1);
    decoder.decode(rest, text, end);
    if (end) {
      decoder.flush(text);
      decoder.reset();
    }
    int[] shown = text.flip().codePoints().map(TokenText::shown).toArray();
    return new String(shown, 0, shown.length);
  }

  private static int shown(int codePoint) {
    boolean control = Character.isISOControl(codePoint) && codePoint != '\n' && codePoint != '\t';
    return control ? REPLACEMENT : codePoint;
  }
}
