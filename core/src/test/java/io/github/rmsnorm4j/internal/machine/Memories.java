package io.github.rmsnorm4j.internal.machine;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;

/** Memory of the interpreter: pieces at addresses, of which each byte knows whether it was set. */
final class Memories {
  /** A piece. */
  static final class Piece {
    final long address;
    final byte[] bytes;
    private final BitSet known = new BitSet();
    private final boolean writable;

    private Piece(long address, int size, boolean writable) {
      this.address = address;
      this.writable = writable;
      bytes = new byte[size];
    }

    /** Sets bytes from an offset on. */
    void set(int offset, byte[] from) {
      System.arraycopy(from, 0, bytes, offset, from.length);
      known.set(offset, offset + from.length);
    }

    boolean isKnown(int offset, int size) {
      return known.nextClearBit(offset) >= offset + size;
    }
  }

  private final TreeMap<Long, Piece> pieces = new TreeMap<>();

  /** Adds a piece of which nothing is known yet. Pieces must not touch each other. */
  Piece add(long address, int size, boolean writable) {
    Piece piece = new Piece(address, size, writable);
    pieces.put(address, piece);
    return piece;
  }

  byte[] load(long address, int size) {
    Piece piece = piece(address, size, "reads");
    int offset = (int) (address - piece.address);
    if (!piece.isKnown(offset, size)) {
      throw new AssertionError(
          "reads what was never written, at " + offset + " of " + piece.bytes.length);
    }
    return Arrays.copyOfRange(piece.bytes, offset, offset + size);
  }

  void store(long address, byte[] bytes) {
    if (!piece(address, bytes.length, "writes").writable) {
      throw new AssertionError("writes where it only may read");
    }
    set(address, bytes);
  }

  /** Sets what was there before a run. */
  void set(long address, byte[] bytes) {
    Piece piece = piece(address, bytes.length, "sets");
    piece.set((int) (address - piece.address), bytes);
  }

  private Piece piece(long address, int size, String does) {
    Map.Entry<Long, Piece> before = pieces.floorEntry(address);
    Piece piece = before == null ? null : before.getValue();
    if (piece == null || address + size > piece.address + piece.bytes.length) {
      String nearest =
          piece == null
              ? "before all memory"
              : (address - piece.address) + " bytes into memory of " + piece.bytes.length;
      throw new AssertionError(does + " " + size + " bytes " + nearest);
    }
    return piece;
  }
}
