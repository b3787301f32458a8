package io.github.rmsnorm4j.internal.codec;

import java.nio.ByteOrder;

/** Numbers in an array of bytes, in the byte order of the machine. They need not be aligned. */
public final class NativeOrder {
  private static final boolean BIG_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

  private NativeOrder() {}

  /** Writes the lowest bytes of a number. */
  public static void put(int bits, int bytes, byte[] into, int at) {
    for (int b = 0; b < bytes; b++) {
      into[at + (BIG_ENDIAN ? bytes - 1 - b : b)] = (byte) (bits >> Byte.SIZE * b);
    }
  }

  /** A number of so many bytes, with zeros above. */
  public static int get(int bytes, byte[] from, int at) {
    int bits = 0;
    for (int b = 0; b < bytes; b++) {
      bits |= (from[at + (BIG_ENDIAN ? bytes - 1 - b : b)] & 0xff) << Byte.SIZE * b;
    }
    return bits;
  }
}
