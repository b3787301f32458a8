package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;

/**
 * The little-endian numbers and texts at the start of a GGUF file, one after the other, through a
 * window of fixed size. No length is believed before the file is found to be long enough.
 */
final class GgufReader {
  /** That of a .safetensors header. Tokenizers take a tenth of it. */
  private static final long LONGEST_HEADER = 100_000_000;

  private static final int WINDOW = 16 << 10;

  private final StoredBytes bytes;
  private final ByteBuffer window = ByteBuffer.allocate(WINDOW).order(ByteOrder.LITTLE_ENDIAN);

  /** The position in the file of the byte behind the window's last. */
  private long windowEnd;

  GgufReader(StoredBytes bytes) {
    this.bytes = bytes;
    window.limit(0);
  }

  /** The position of the next byte. */
  long position() {
    return windowEnd - window.remaining();
  }

  /** How many bytes the file has from here on. */
  long left() {
    return bytes.size - position();
  }

  byte int8() throws IOException {
    return next(Byte.BYTES).get();
  }

  short int16() throws IOException {
    return next(Short.BYTES).getShort();
  }

  int int32() throws IOException {
    return next(Integer.BYTES).getInt();
  }

  long int64() throws IOException {
    return next(Long.BYTES).getLong();
  }

  /**
   * A number of things that follow.
   *
   * @param leastBytes how many bytes each of them takes at least
   * @param things what they are, in the plural
   */
  long count(int leastBytes, String things) throws IOException {
    long count = int64();
    if (count < 0 || count > left() / leastBytes) {
      throw wrong(
          "has a count of %s %s, and %s bytes left for them: it is truncated or damaged"
              .formatted(Long.toUnsignedString(count), things, left()));
    }
    return count;
  }

  /** Text of at most so many bytes. */
  String text(int most) throws IOException {
    long at = position();
    long length = count(1, "characters");
    if (length > most) {
      throw wrong(
          "has a text of %s bytes at byte %s, at most %s are read".formatted(length, at, most));
    }
    requireHeader(length);
    byte[] text = new byte[(int) length];
    if (length <= WINDOW) {
      next(text.length).get(text);
    } else {
      bytes.readFully(position(), MemorySegment.ofArray(text));
      skip(length);
    }
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(text)).toString();
    } catch (CharacterCodingException ignored) {
      throw wrong("has a text at byte " + at + " that is not UTF-8");
    }
  }

  /** Passes over bytes, which the file must have. */
  void skip(long count) throws IOException {
    requireHeader(count);
    if (count <= window.remaining()) {
      window.position(window.position() + (int) count);
    } else {
      windowEnd = position() + count;
      window.limit(0);
    }
  }

  private ByteBuffer next(int count) throws IOException {
    if (window.remaining() < count) {
      if (count > left()) {
        throw wrong("ends within the GGUF header: it is truncated");
      }
      requireHeader(count);
      long from = position();
      window.clear().limit((int) Math.min(WINDOW, bytes.size - from));
      bytes.readFully(from, MemorySegment.ofBuffer(window));
      windowEnd = from + window.limit();
    }
    return window;
  }

  private void requireHeader(long count) throws FormatException {
    if (count > LONGEST_HEADER - position()) {
      throw wrong("has a GGUF header of more than %s bytes".formatted(LONGEST_HEADER));
    }
  }

  FormatException wrong(String problem) {
    return new FormatException(bytes.path, problem);
  }
}
