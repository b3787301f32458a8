package io.github.rmsnorm4j.models.transformer;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Byte-pair encoding as llama2.c has it. A text begins with {@link #BEGIN} and, unless it is empty,
 * a space. Each character that is a token becomes that token, every other one its UTF-8 bytes. Then
 * the neighbouring pair whose joint token has the highest score is joined, the leftmost of equals,
 * until no pair has a joint token.
 */
public final class Tokenizer {
  /** The token that every text begins with; a model that writes it has ended its text. */
  public static final int BEGIN = 1;

  /** The first 3 tokens are marks, the next 256 are bytes. */
  private static final int FIRST_BYTE = 3;

  private static final int FIRST_PIECE = FIRST_BYTE + 256;

  /** The bytes of each token, a character for a byte. */
  private final List<String> pieces = new ArrayList<>();

  private final List<Float> scores = new ArrayList<>();
  private final Map<String, Integer> tokens = new HashMap<>();
  private final int longest;

  /**
   * Reads the file that comes with the model: the length of the longest token, then for each token
   * its score, its length and its bytes, all numbers little-endian and of 32 bits.
   */
  Tokenizer(byte[] bytes) {
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    longest = file.getInt();
    while (file.hasRemaining()) {
      scores.add(file.getFloat());
      byte[] piece = new byte[file.getInt()];
      file.get(piece);
      pieces.add(new String(piece, ISO_8859_1));
      tokens.putIfAbsent(pieces.getLast(), pieces.size() - 1);
    }
  }

  /** {@return how many tokens there are: the size of the vocabulary} */
  public int size() {
    return pieces.size();
  }

  /**
   * {@return the fewest tokens that a text can have, without encoding it: a lower bound of the
   * length of {@link #encode}'s result}
   *
   * @param text any text
   */
  public int fewestTokens(String text) {
    int bytes = text.getBytes(UTF_8).length;
    return bytes == 0 ? 1 : 1 + Math.ceilDiv(bytes + 1, longest);
  }

  /**
   * {@return {@link #BEGIN} and the tokens of a text}
   *
   * @param text any text
   */
  public int[] encode(String text) {
    List<Integer> encoded = new ArrayList<>();
    encoded.add(BEGIN);
    (text.isEmpty() ? text : " " + text).codePoints().forEach(c -> addCharacter(c, encoded));
    for (int pair = bestPair(encoded); pair > 0; pair = bestPair(encoded)) {
      encoded.set(pair, joint(encoded, pair));
      encoded.remove(pair + 1);
    }
    return encoded.stream().mapToInt(Integer::intValue).toArray();
  }

  private void addCharacter(int codePoint, List<Integer> encoded) {
    byte[] bytes = Character.toString(codePoint).getBytes(UTF_8);
    Integer token = tokens.get(new String(bytes, ISO_8859_1));
    if (token != null) {
      encoded.add(token);
      return;
    }
    for (byte each : bytes) {
      encoded.add(FIRST_BYTE + Byte.toUnsignedInt(each));
    }
  }

  /** Where the pair with the best joint token begins, 0 if there is none; BEGIN joins nothing. */
  private int bestPair(List<Integer> encoded) {
    int best = 0;
    float bestScore = Float.NEGATIVE_INFINITY;
    for (int i = 1; i + 1 < encoded.size(); i++) {
      Integer joint = joint(encoded, i);
      if (joint != null && scores.get(joint) > bestScore) {
        best = i;
        bestScore = scores.get(joint);
      }
    }
    return best;
  }

  private Integer joint(List<Integer> encoded, int i) {
    return tokens.get(pieces.get(encoded.get(i)) + pieces.get(encoded.get(i + 1)));
  }

  /**
   * {@return the bytes of a token in a text: UTF-8, possibly only part of a character}
   *
   * @param previous the token before it: the space after {@link #BEGIN} is left out
   * @param token which
   * @throws IndexOutOfBoundsException if there is no such token
   */
  public byte[] bytes(int previous, int token) {
    if (token >= FIRST_BYTE && token < FIRST_PIECE) {
      return new byte[] {(byte) (token - FIRST_BYTE)};
    }
    String piece = pieces.get(token);
    boolean dropped = previous == BEGIN && piece.startsWith(" ");
    return piece.substring(dropped ? 1 : 0).getBytes(ISO_8859_1);
  }
}
