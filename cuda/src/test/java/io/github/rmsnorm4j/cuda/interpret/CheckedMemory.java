package io.github.rmsnorm4j.cuda.interpret;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Memory that checks each access: its bounds and alignment, that what is read was written, and that
 * two threads that use the same bytes have met in between.
 */
final class CheckedMemory {
  private static final VarHandle SHORTS = view(short[].class);
  private static final VarHandle INTS = view(int[].class);
  private static final VarHandle LONGS = view(long[].class);

  /** Bytes whose users are kept together, until there is an access of one byte. */
  private static final int WORD = 2;

  /**
   * Who uses the memory now.
   *
   * @param others the lanes with which it met last in its warp
   */
  record User(
      int launch, int block, int warp, int lane, int blockEpoch, int warpEpoch, int others) {
    /** Several threads: -1 stands for any. */
    User with(User other) {
      int one = warp == other.warp ? warp : -1;
      return new User(launch, block, one, -1, other.blockEpoch, other.warpEpoch, 0);
    }
  }

  private final String name;
  private final long base;
  private final byte[] bytes;
  private final boolean[] written;
  private final boolean readOnly;

  /** Bytes whose users are kept together. */
  private int word = WORD;

  /** By word: the last one who wrote it, and the last one who read it; null if nobody is kept. */
  private User[] writers;

  private User[] readers;

  CheckedMemory(
      String name, long base, byte[] bytes, boolean initialised, boolean readOnly, boolean races) {
    this.name = name;
    this.base = base;
    this.bytes = bytes;
    this.readOnly = readOnly;
    written = new boolean[bytes.length];
    Arrays.fill(written, initialised);
    writers = races ? new User[bytes.length / WORD + 1] : null;
    readers = races ? new User[bytes.length / WORD + 1] : null;
  }

  private static VarHandle view(Class<?> type) {
    return MethodHandles.byteArrayViewVarHandle(type, ByteOrder.LITTLE_ENDIAN);
  }

  /** How far an address is behind its first one. */
  long offset(long address) {
    return address - base;
  }

  boolean has(long address) {
    return address >= base && address - base < bytes.length;
  }

  byte[] bytes() {
    return bytes;
  }

  boolean isWritten(int offset) {
    return written[offset];
  }

  /** Checks an access of one thread, which may be of several numbers. */
  void check(long offset, int size, boolean writes, User user) {
    if (offset < 0 || offset + size > bytes.length) {
      throw new PtxFault(
          "out of bounds: %d bytes at %d of %s, which has %d"
              .formatted(size, offset, name, bytes.length));
    }
    if (offset % size != 0) {
      throw new PtxFault(size + " bytes at " + offset + " of " + name + " are not aligned");
    }
    if (writes && readOnly) {
      throw new PtxFault("a write at " + offset + " of " + name + ", which is read only");
    }
    int at = (int) offset;
    for (int i = at; i < at + size; i++) {
      if (writes) {
        written[i] = true;
      } else if (!written[i]) {
        throw new PtxFault("a read of what was not written, at " + i + " of " + name);
      }
    }
    if (writers != null) {
      if (size < word) {
        keepBytes();
      }
      race(at, size, writes, user);
    }
  }

  /** From here on each byte has users of its own. */
  private void keepBytes() {
    writers = ofBytes(writers);
    readers = ofBytes(readers);
    word = 1;
  }

  private User[] ofBytes(User[] ofWords) {
    User[] users = new User[bytes.length + 1];
    for (int i = 0; i < bytes.length; i++) {
      users[i] = ofWords[i / word];
    }
    return users;
  }

  private void race(int at, int size, boolean writes, User user) {
    for (int w = at / word; w < (at + size) / word; w++) {
      require(writers[w], user, w);
      if (writes) {
        require(readers[w], user, w);
        writers[w] = user;
        readers[w] = null;
      } else if (readers[w] == null || isBefore(readers[w], user)) {
        readers[w] = user;
      } else if (!isSame(readers[w], user)) {
        readers[w] = readers[w].with(user);
      }
    }
  }

  private void require(User other, User user, int at) {
    if (other != null && !isSame(other, user) && !isBefore(other, user)) {
      throw new PtxFault(
          "a race at %d of %s: lane %d of warp %d and lane %d of warp %d have not met"
              .formatted(at * word, name, other.lane, other.warp, user.lane, user.warp));
    }
  }

  private static boolean isSame(User a, User b) {
    return a.launch == b.launch && a.block == b.block && a.warp == b.warp && a.lane == b.lane;
  }

  /** Whether two threads have met since the first one's access. */
  private static boolean isBefore(User first, User now) {
    if (first.launch < now.launch) {
      return true;
    }
    boolean ofBlock = first.block == now.block;
    boolean ofWarp = ofBlock && first.warp == now.warp;
    boolean hadMet = first.lane < 0 ? now.others == -1 : (now.others >>> first.lane & 1) != 0;
    return ofBlock && first.blockEpoch < now.blockEpoch
        || ofWarp && hadMet && first.warpEpoch < now.warpEpoch;
  }

  long get(int offset, int size) {
    return switch (size) {
      case 1 -> bytes[offset] & 0xffL;
      case 2 -> (short) SHORTS.get(bytes, offset) & 0xffffL;
      case 4 -> (int) INTS.get(bytes, offset) & 0xffffffffL;
      default -> (long) LONGS.get(bytes, offset);
    };
  }

  void set(int offset, int size, long value) {
    switch (size) {
      case 1 -> bytes[offset] = (byte) value;
      case 2 -> SHORTS.set(bytes, offset, (short) value);
      case 4 -> INTS.set(bytes, offset, (int) value);
      default -> LONGS.set(bytes, offset, value);
    }
  }
}
