package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;

/**
 * Where numbers of a tensor are.
 *
 * @param isShared whether they are in shared memory, otherwise in that of the device
 * @param address a register with the address of the first one, of 32 bits in shared memory
 * @param type of the numbers in memory
 */
record Place(boolean isShared, String address, ElementType type) {
  /** Global or shared, as it is in the names of instructions. */
  String space() {
    return isShared ? "shared" : "global";
  }

  /**
   * The place of a number further on.
   *
   * @param index a register with its index, or with that of its group
   * @param elements of a group
   */
  Place at(PtxText text, String index, int elements) {
    String step = Integer.toString(type.bytes() * elements);
    Kind kind = isShared ? Kind.B32 : Kind.B64;
    String multiplyAdd = isShared ? "mad.lo.u32" : "mad.wide.u32";
    return new Place(isShared, text.compute(kind, multiplyAdd, index, step, address), type);
  }
}
