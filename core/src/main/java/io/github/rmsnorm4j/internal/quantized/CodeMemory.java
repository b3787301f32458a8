package io.github.rmsnorm4j.internal.quantized;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Rows of codes, and of scales if these are in memory of their own, checked by the API. Every
 * access is checked again, so that memory that is closed meanwhile gives an exception.
 *
 * @param codes holds every row, from its first byte on
 * @param codeStride bytes from one row of codes to the next
 * @param scales likewise; null where there is no such memory
 * @param scaleStride bytes from one row of scales to the next
 * @param scale the one that is given for all; 0 where there is none
 */
public record CodeMemory(
    CodeFormat format,
    int width,
    MemorySegment codes,
    long codeStride,
    @Nullable MemorySegment scales,
    long scaleStride,
    float scale) {
  /** Bytes of a row of codes. */
  public int rowBytes() {
    return Math.toIntExact(format.rowBytes(width));
  }

  /** Whether rows follow one another in memory of which no byte can be missing. */
  boolean isDirect(int rows) {
    return (rows == 1 || codeStride == rowBytes()) && !codes.isMapped();
  }

  /** Writes codes of rows that are in an array without gaps. */
  public void write(long row, int rows, byte[] from) {
    int bytes = rowBytes();
    if (codeStride == bytes) {
      MemorySegment.copy(from, 0, codes, JAVA_BYTE, row * bytes, rows * bytes);
    } else {
      for (int r = 0; r < rows; r++) {
        MemorySegment.copy(from, r * bytes, codes, JAVA_BYTE, (row + r) * codeStride, bytes);
      }
    }
  }

  /** Writes scales of rows that are in an array without gaps, if there is memory for them. */
  void write(long row, int rows, float[] fromScales) {
    int n = format.scales(width);
    for (int r = 0; r < rows && n > 0; r++) {
      long at = (row + r) * scaleStride;
      MemorySegment.copy(fromScales, r * n, scales, JAVA_FLOAT_UNALIGNED, at, n);
    }
  }

  /** Reads rows into arrays. */
  void read(long row, int rows, byte[] into, float[] intoScales) {
    int bytes = rowBytes();
    int n = format.scales(width);
    for (int r = 0; r < rows; r++) {
      MemorySegment.copy(codes, JAVA_BYTE, (row + r) * codeStride, into, r * bytes, bytes);
      if (n > 0) {
        long at = (row + r) * scaleStride;
        MemorySegment.copy(scales, JAVA_FLOAT_UNALIGNED, at, intoScales, r * n, n);
      }
    }
  }
}
