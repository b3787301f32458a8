package io.github.rmsnorm4j.benchmarks.peers;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.benchmarks.Memory;
import io.github.rmsnorm4j.measure.ChildJvm;
import java.util.List;
import java.util.stream.Stream;

/** The kernels that this library has in a JVM of a run of {@link Run#VARIANTS}. */
public enum KernelKind {
  /** Machine code with vectors of 512 bits. */
  AVX512("AVX-512", 512),
  /** Machine code with vectors of 256 bits. */
  AVX2("AVX2", 256),
  /** Java loops, in a JVM without flags. */
  JAVA_LOOPS("without flags", 0);

  private final String title;
  private final int bits;

  KernelKind(String title, int bits) {
    this.title = title;
    this.bits = bits;
  }

  /** {@return what follows the name of a variant that runs on such kernels} */
  public String title() {
    return title;
  }

  /** {@return whether they are machine code; only such kernels have targets} */
  public boolean isMachineCode() {
    return bits > 0;
  }

  /** {@return the kinds that this process can measure: other processors lack AVX-512 or both} */
  public static List<KernelKind> here() {
    return Stream.of(values()).filter(KernelKind::isPossible).toList();
  }

  private boolean isPossible() {
    try {
      return !isMachineCode() || backend().vectorBits() == bits;
    } catch (UnsupportedOperationException _) {
      return false;
    }
  }

  /** {@return the flags of a JVM that has such kernels, made of those of this one} */
  public List<String> flags() {
    return isMachineCode() ? ChildJvm.flags() : Start.NO_FLAGS.flags();
  }

  /**
   * {@return the backend of norms in such a JVM}
   *
   * @throws UnsupportedOperationException if this JVM has no such kernels
   */
  public Backend backend() {
    if (isMachineCode()) {
      return Backend.machineCode(bits);
    }
    if (!Start.NO_FLAGS.hasItsKernels()) {
      throw new UnsupportedOperationException(Backend.best().describe());
    }
    return Backend.best();
  }

  /** {@return where rows are: Java loops copy rows in native memory first} */
  public Memory memory() {
    return isMachineCode() ? Memory.NATIVE : Memory.HEAP;
  }
}
