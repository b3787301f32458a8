package io.github.rmsnorm4j;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/** A forward call on rows between guard pages. */
final class GuardedForward extends GuardedCall {
  private final ElementType type = type();
  private final ElementType to = kind.nextInt(4) > 0 ? type : type();
  private final boolean adds = gate == Gate.NONE && kind.nextBoolean();
  private final boolean inPlace = to == type && kind.nextInt(4) == 0;

  GuardedForward(SplittableRandom random, int width, boolean atEnd, Backend backend) {
    super(random, width, atEnd, backend, false, false);
  }

  void check(GuardedMemories memories) {
    boolean gated = gate != Gate.NONE;
    MemorySegment in = filled(memories.x(), type);
    MemorySegment out = inPlace ? in : room(memories.y(), to);
    MemorySegment second = adds || gated ? filled(memories.second(), type) : null;
    Rows gain = gain(memories);
    Rows bias = bias(memories);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment plainIn = copy(in, arena);
      MemorySegment wanted = inPlace ? plainIn : copy(out, arena);
      MemorySegment wantedSecond = second == null ? null : copy(second, arena);
      run(plain, plainIn, wantedSecond, gain, bias, wanted);
      run(norm, in, second, gain, bias, out);
      requireSame(out, wanted, to);
      if (second != null) {
        requireSame(second, wantedSecond, type);
      }
    }
  }

  private void run(
      Norm norm, MemorySegment x, MemorySegment second, Rows gain, Rows bias, MemorySegment y) {
    if (gate != Gate.NONE) {
      norm.applyGated(rows(x, type), rows(second, type), rows(y, to));
    } else {
      Norm of = norm.withParameters(gain, bias);
      if (second == null) {
        of.apply(rows(x, type), rows(y, to));
      } else {
        of.addAndApply(rows(x, type), rows(second, type), rows(y, to));
      }
    }
  }

  @Override
  public String toString() {
    return "%s to %s, residual %s, in place %s".formatted(type, to, adds, inPlace);
  }
}
