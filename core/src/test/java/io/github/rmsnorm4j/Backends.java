package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import io.github.rmsnorm4j.internal.machine.Jdk;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The backends that there are. */
final class Backends {
  /** Bits of the widest vectors of the Vector API that the machine has, 128 if it has none. */
  static final int WIDEST = Math.max(128, Backend.best().kernelBits());

  /** Whether the JDK has what loops and vectors need. Without, there are none below. */
  static final boolean HAS_JAVA_KERNELS = Jdk.obstacle(Jdk.FOR_JAVA_KERNELS) == null;

  /** Those of the Vector API; plain Java where the JDK has none. */
  static final Backend VECTORS = HAS_JAVA_KERNELS ? Backend.vector(WIDEST) : Backend.scalar();

  /** Plain Java, loops, vectors, and machine code of every width that the machine has. */
  static final List<Backend> EACH = each();

  /** A width that the machine lacks is emulated, a thousand times slower. */
  private static final int EMULATED_ELEMENTS = 3000;

  /** Whether tests take all of their draws, as with {@code -Dtests.all=true}. */
  static final boolean ALL_DRAWS = Boolean.getBoolean("tests.all");

  /** By default a backend takes one call of three. */
  static final int THIRDS = 3;

  private Backends() {}

  private static List<Backend> each() {
    List<Backend> backends = new ArrayList<>(List.of(Backend.scalar(), VECTORS));
    if (HAS_JAVA_KERNELS) {
      backends.add(1, Backend.loops());
    }
    backends.addAll(machineCode());
    return List.copyOf(backends);
  }

  /** Those to check a call of so many elements on: plain Java, loops, vectors, machine code. */
  static List<Backend> of(long elements) {
    List<Backend> backends = new ArrayList<>(List.of(Backend.scalar()));
    if (HAS_JAVA_KERNELS) {
      backends.add(Backend.loops());
      backends.addAll(vectors(elements <= EMULATED_ELEMENTS ? 512 : WIDEST));
    }
    backends.addAll(machineCode());
    return backends;
  }

  /** The Vector API with each width up to some bits. */
  static List<Backend> vectors(int most) {
    return IntStream.of(128, 256, 512)
        .filter(bits -> bits <= most && HAS_JAVA_KERNELS)
        .mapToObj(Backend::vector)
        .toList();
  }

  /**
   * Those of some to check a call on: every third one, in turn, by the number of the call. With all
   * draws each call is checked on all of them.
   */
  static List<Backend> inTurn(List<Backend> all, long call) {
    return IntStream.range(0, all.size())
        .filter(i -> isInTurn(i, call))
        .mapToObj(all::get)
        .toList();
  }

  /** Whether a call is checked on a backend of this number. */
  static boolean isInTurn(int backend, long call) {
    return ALL_DRAWS || (backend + call) % THIRDS == 0;
  }

  /** Machine code of every width that the machine has. */
  static List<Backend> machineCode() {
    List<Backend> backends = new ArrayList<>();
    for (int bits : new int[] {256, 512}) {
      if (Backend.hasMachineCode() && bits <= Machine.here().bits()) {
        backends.add(Backend.machineCode(bits));
      }
    }
    return backends;
  }
}
