package io.github.rmsnorm4j.internal.lowering;

import jdk.incubator.vector.VectorSpecies;

/** Features of the machine. */
final class VectorHardware {
  /** Without this feature the Vector API emulates the operation, element by element. */
  static final boolean FUSED_MULTIPLY_ADD = hasFusedMultiplyAdd();

  private VectorHardware() {}

  private static boolean hasFusedMultiplyAdd() {
    boolean x86 = System.getProperty("os.arch", "").equals("amd64");
    return !x86 || VectorSpecies.ofLargestShape(int.class).vectorBitSize() >= 256;
  }
}
