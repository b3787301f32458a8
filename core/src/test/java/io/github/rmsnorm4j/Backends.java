package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The backends that there are. */
final class Backends {
  /** Bits of the widest vectors of the Vector API that the machine has, 128 if it has none. */
  static final int WIDEST = Math.max(128, Backend.best().kernelBits());

  /** Those of the Vector API. */
  static final Backend VECTORS = Backend.vector(WIDEST);

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
    List<Backend> backends = new ArrayList<>(List.of(Backend.scalar(), Backend.loops(), VECTORS));
    backends.addAll(machineCode());
    return List.copyOf(backends);
  }

  /** Those to check a call of so many elements on: plain Java, loops, vectors, machine code. */
  static List<Backend> of(long elements) {
    List<Backend> backends = new ArrayList<>(List.of(Backend.scalar(), Backend.loops()));
    for (int bits : new int[] {128, 256, 512}) {
      if (bits <= WIDEST || elements <= EMULATED_ELEMENTS) {
        backends.add(Backend.vector(bits));
      }
    }
    backends.addAll(machineCode());
    return backends;
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
      if (bits <= Machine.here().bits()) {
        backends.add(Backend.machineCode(bits));
      }
    }
    return backends;
  }
}
