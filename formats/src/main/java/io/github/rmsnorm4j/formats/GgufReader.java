package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * The little-endian numbers and texts at the start of a GGUF file, one after the other. No length
 * is believed before the file is found to be long enough.
 */
final class GgufReader {
  /** That of a .safetensors header. Tokenizers take a tenth of it. */
  private static final long LONGEST_HEADER = 100_000_000;

  private final StoredBytes bytes;
  private final InputStream in;

  /** The position of the next byte. */
  private long position;

  GgufReader(StoredBytes bytes) {
    this.bytes = bytes;
    in = new BufferedInputStream(new FileRange(bytes, 0, bytes.size), 16 << 10);
  }

  long position() {
    return position;
  }

  /** How many bytes the file has from here on. */
  private long left() {
    return bytes.size - position;
  }

  /** A signed number of 1, 2, 4 or 8 bytes. */
  long signed(int length) throws IOException {
    return unsigned(length) << Long.SIZE - 8 * length >> Long.SIZE - 8 * length;
  }

  /** A number of 1, 2, 4 or 8 bytes; of 8, as the bits of a signed one. */
  long unsigned(int length) throws IOException {
    if (length > left()) {
      throw bytes.wrong("ends within the GGUF header: it is truncated");
    }
    pass(length);
    long number = 0;
    for (int i = 0; i < length; i++) {
      number |= (long) in.read() << 8 * i;
    }
    return number;
  }

  /**
   * A number of things that follow.
   *
   * @param leastBytes how many bytes each of them takes at least
   * @param things what they are, in the plural
   */
  long count(int leastBytes, String things) throws IOException {
    long count = signed(8);
    if (count < 0 || count > left() / leastBytes) {
      throw bytes.wrong(
          "has a count of %s %s, and %s bytes left for them: it is truncated or damaged",
          Long.toUnsignedString(count), things, left());
    }
    return count;
  }

  /** Text of at most so many bytes, with replacements for those that are not UTF-8. */
  String text(int most) throws IOException {
    long at = position;
    long length = count(1, "characters");
    if (length > most) {
      throw bytes.wrong("has a text of %s bytes at byte %s, at most %s are read", length, at, most);
    }
    pass(length);
    return new String(in.readNBytes((int) length), UTF_8);
  }

  /** Passes over bytes, which the file must have. */
  void skip(long count) throws IOException {
    pass(count);
    in.skipNBytes(count);
  }

  private void pass(long count) throws FormatException {
    if (count > LONGEST_HEADER - position) {
      throw bytes.wrong("has a GGUF header of more than %s bytes", LONGEST_HEADER);
    }
    position += count;
  }
}
