package io.github.rmsnorm4j.cuda.interpret;

import java.util.Arrays;

/**
 * What warps ask of memory. An access of a warp to global memory moves sectors of 32 bytes. Shared
 * memory has 32 banks of 4 bytes, and gives one word of each bank in a turn. Threads that read the
 * same word share it. Accesses of 8 bytes are done by 16 threads at once, those of 16 bytes by 8.
 */
public final class Traffic {
  private static final int SECTOR = 32;
  private static final int BANKS = 32;
  private static final int WORD = 4;

  private long bytesRead;
  private long bytesWritten;
  private long sectors;
  private long turns;
  private long conflicts;

  private final long[] seen = new long[Warp.LANES];
  private final int[] depth = new int[BANKS];
  private final long[][] words = new long[BANKS][BANKS];

  /**
   * An access of a warp to global memory.
   *
   * @param addresses by lane
   * @param active the lanes that take part
   * @param bytes of each lane, not across the end of a sector
   */
  void global(boolean reads, long[] addresses, int active, int bytes) {
    long all = (long) bytes * Integer.bitCount(active);
    bytesRead += reads ? all : 0;
    bytesWritten += reads ? 0 : all;
    int count = 0;
    for (int lane = 0; lane < Warp.LANES; lane++) {
      if ((active >>> lane & 1) != 0) {
        long sector = addresses[lane] / SECTOR;
        int k = count - 1;
        while (k >= 0 && seen[k] != sector) {
          k--;
        }
        if (k < 0) {
          seen[count++] = sector;
        }
      }
    }
    sectors += count;
  }

  /** An access of a warp to shared memory. */
  void shared(long[] addresses, int active, int bytes) {
    int together = Warp.LANES * WORD / Math.max(WORD, bytes);
    for (int first = 0; first < Warp.LANES; first += together) {
      Arrays.fill(depth, 0);
      int most = 0;
      for (int lane = first; lane < first + together; lane++) {
        if ((active >>> lane & 1) != 0) {
          for (int at = 0; at < bytes; at += WORD) {
            most = Math.max(most, word((addresses[lane] + at) / WORD));
          }
        }
      }
      turns += most;
      conflicts += Math.max(0, most - 1);
    }
  }

  /** How many words of its bank are wanted now. */
  private int word(long word) {
    int bank = (int) (word % BANKS);
    int k = depth[bank] - 1;
    while (k >= 0 && words[bank][k] != word) {
      k--;
    }
    if (k < 0) {
      words[bank][depth[bank]++] = word;
    }
    return depth[bank];
  }

  /** {@return bytes of global memory that threads read} */
  public long bytesRead() {
    return bytesRead;
  }

  /** {@return bytes of global memory that threads wrote} */
  public long bytesWritten() {
    return bytesWritten;
  }

  /** {@return bytes of the sectors of global memory that accesses of warps touched} */
  public long sectorBytes() {
    return sectors * SECTOR;
  }

  /** {@return turns of shared memory} */
  public long turns() {
    return turns;
  }

  /** {@return turns more than without conflicts of banks} */
  public long conflicts() {
    return conflicts;
  }
}
