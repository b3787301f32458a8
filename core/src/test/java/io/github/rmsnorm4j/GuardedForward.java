package io.github.rmsnorm4j;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/** A forward call on rows between guard pages. */
final class GuardedForward extends GuardedCall {
  private final ElementType type = type();
  private final ElementType to = kind.nextInt(4) > 0 ? type : type();
  private final boolean adds = kind.nextBoolean();
  private final boolean inPlace = to == type && kind.nextInt(4) == 0;

  GuardedForward(SplittableRandom random, int width, boolean atEnd, Backend backend) {
    super(random, width, atEnd, backend, false);
  }

  void check(GuardedMemory x, GuardedMemory y, GuardedMemory residual) {
    MemorySegment in = filled(x, type);
    MemorySegment out = inPlace ? in : room(y, to);
    MemorySegment sum = adds ? filled(residual, type) : null;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment plainIn = copy(in, arena);
      MemorySegment wanted = inPlace ? plainIn : copy(out, arena);
      MemorySegment wantedSum = adds ? copy(sum, arena) : null;
      run(plain, plainIn, wantedSum, wanted);
      run(norm, in, sum, out);
      requireSame(out, wanted, to);
      if (adds) {
        requireSame(sum, wantedSum, type);
      }
    }
  }

  private void run(Norm norm, MemorySegment x, MemorySegment residual, MemorySegment y) {
    if (adds) {
      norm.addAndApply(rows(x, type), rows(residual, type), rows(y, to));
    } else {
      norm.apply(rows(x, type), rows(y, to));
    }
  }

  @Override
  public String toString() {
    return "%s to %s, residual %s, in place %s".formatted(type, to, adds, inPlace);
  }
}
