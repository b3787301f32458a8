package io.github.rmsnorm4j.formats;

import java.math.BigInteger;

/** A value in the metadata of a GGUF file. */
public sealed interface GgufValue {
  /**
   * A whole number of 8 to 64 bits.
   *
   * @param value the number
   */
  record Whole(BigInteger value) implements GgufValue {
    @Override
    public String text() {
      return value.toString();
    }
  }

  /**
   * A floating number.
   *
   * @param value the number
   * @param text the shortest decimal that is this number in its stored type: {@code 1.0E-5} for the
   *     float32 whose value is 9.999999747378752E-6
   */
  record Real(double value, String text) implements GgufValue {}

  /**
   * True or false.
   *
   * @param value which
   */
  record Truth(boolean value) implements GgufValue {
    @Override
    public String text() {
      return Boolean.toString(value);
    }
  }

  /**
   * Text.
   *
   * @param text the text, of any length and with any characters
   */
  record Text(String text) implements GgufValue {}

  /**
   * A list, of which the elements are not read: those of a tokenizer are many.
   *
   * @param elementType the name of their type, as {@code string} or {@code float32}
   * @param length the number of elements
   */
  record Array(String elementType, long length) implements GgufValue {
    /** Type and number of the elements: {@code 32000 of string}. */
    @Override
    public String text() {
      return length + " of " + elementType;
    }
  }

  /** {@return the value as text, which may have several lines and is not escaped} */
  String text();
}
