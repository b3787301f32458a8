package io.github.rmsnorm4j.internal.lowering;

import jdk.incubator.vector.VectorSpecies;

/** What the machine can do. */
final class VectorHardware {
  /** Where it is not there, the Vector API emulates it, element by element. */
  static final boolean FUSED_MULTIPLY_ADD = hasFusedMultiplyAdd();

  private VectorHardware() {}

  private static boolean hasFusedMultiplyAdd() {
    boolean x86 = System.getProperty("os.arch", "").equals("amd64");
    return !x86 || VectorSpecies.ofLargestShape(int.class).vectorBitSize() >= 256;
  }
}
