package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The header of a {@code .npy} file: magic, version, length, and a Python literal of three keys.
 *
 * @param dtype the type of the elements
 * @param order the byte order they are stored in
 * @param fortranOrder whether the first axis is the one that varies fastest in the file
 * @param shape the length of each axis
 */
record NpyHeader(Dtype dtype, ByteOrder order, boolean fortranOrder, List<Long> shape) {
  static final byte[] MAGIC = "\u0093NUMPY".getBytes(ISO_8859_1);

  /** Where the literal begins in a file of version 1, and in one of version 2 or 3. */
  static final int SHORT_PREFIX = 10;

  static final int LONG_PREFIX = 12;

  /** NumPy leaves space for so many digits of the first axis, so that it can be edited later. */
  private static final int ROOM_TO_GROW = 21;

  private static final int ALIGNMENT = 64;

  /**
   * The bytes of the file up to the data, as NumPy writes them. Version 1 is always enough: with at
   * most {@link Tensor#MAX_AXES} axes a header stays far below its limit of 65,535 bytes.
   */
  byte[] toBytes() {
    String literal =
        "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }"
            .formatted(descr(), fortranOrder ? "True" : "False", shapeLiteral());
    if (!shape.isEmpty()) {
      long growing = fortranOrder ? shape.getLast() : shape.getFirst();
      literal += " ".repeat(Math.max(0, ROOM_TO_GROW - Long.toString(growing).length()));
    }
    // NumPy pads with 1 to 64 characters, the last of them a line feed.
    int used = SHORT_PREFIX + literal.length() + 1;
    literal += " ".repeat(ALIGNMENT - used % ALIGNMENT) + "\n";
    ByteBuffer out = ByteBuffer.allocate(SHORT_PREFIX + literal.length());
    out.order(ByteOrder.LITTLE_ENDIAN).put(MAGIC).put((byte) 1).put((byte) 0);
    return out.putShort((short) literal.length()).put(literal.getBytes(UTF_8)).array();
  }

  private String descr() {
    return (order == ByteOrder.LITTLE_ENDIAN ? "<f" : ">f") + dtype.bits() / 8;
  }

  private String shapeLiteral() {
    return shape.size() == 1
        ? "(" + shape.getFirst() + ",)"
        : shape.stream().map(String::valueOf).collect(Collectors.joining(", ", "(", ")"));
  }
}
