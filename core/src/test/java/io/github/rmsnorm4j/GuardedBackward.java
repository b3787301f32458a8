package io.github.rmsnorm4j;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;

/** A backward call on rows between guard pages. */
final class GuardedBackward extends GuardedCall {
  private final Keep keep = keep(kind.nextInt(Keep.values().length));
  private final ElementType kept = type();
  private final ElementType dy = kind.nextBoolean() ? kept : type();
  private final ElementType to = kind.nextBoolean() ? kept : type();
  private final boolean adds = kind.nextBoolean();
  private final boolean overDy = to == dy && kind.nextInt(3) == 0;
  private final boolean overResidual = adds && !overDy && kind.nextInt(3) == 0;
  private final ElementType residual = overResidual ? to : type();
  private final float[] dgain = kind.nextInt(4) > 0 ? new float[width] : null;
  private final float[] dbias = kind.nextInt(4) > 0 ? new float[width] : null;

  GuardedBackward(SplittableRandom random, int width, boolean atEnd, Backend backend) {
    super(random, width, atEnd, backend, true);
  }

  /** The output of a partial norm does not lead back. */
  private Keep keep(int drawn) {
    return part < width && drawn == Keep.OUTPUT.ordinal() ? Keep.INPUT : Keep.values()[drawn];
  }

  void check(
      GuardedMemory ofKept, GuardedMemory ofDy, GuardedMemory ofResidual, GuardedMemory ofDx) {
    MemorySegment x = filled(ofKept, kept);
    MemorySegment slope = filled(ofDy, dy);
    MemorySegment added = adds ? filled(ofResidual, residual) : null;
    MemorySegment dx = overDy ? slope : overResidual ? added : room(ofDx, to);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment plainX = copy(x, arena);
      MemorySegment plainSlope = copy(slope, arena);
      MemorySegment plainAdded = adds ? copy(added, arena) : null;
      MemorySegment wanted = overDy ? plainSlope : overResidual ? plainAdded : copy(dx, arena);
      run(plain, plainX, plainSlope, plainAdded, wanted, arena);
      float[] wantedGain = dgain == null ? null : dgain.clone();
      float[] wantedBias = dbias == null ? null : dbias.clone();
      run(norm, x, slope, added, dx, arena);
      requireSame(dx, wanted, to);
      require(Arrays.equals(dgain, wantedGain) && Arrays.equals(dbias, wantedBias));
    }
  }

  /** Where the output is kept, it is written over the input. */
  private void run(
      Norm norm,
      MemorySegment x,
      MemorySegment slope,
      MemorySegment added,
      MemorySegment dx,
      Arena arena) {
    Saved saved = new Saved(keep, rows);
    MemorySegment y = keep == Keep.OUTPUT ? x : room(arena, kept);
    norm.apply(rows(x, kept), rows(y, kept), saved);
    ParameterGradients gradients = ParameterGradients.assigned(dgain, dbias);
    if (added == null) {
      norm.backward(rows(slope, dy), saved, rows(dx, to), gradients);
    } else {
      norm.backward(rows(slope, dy), saved, rows(added, residual), rows(dx, to), gradients);
    }
  }

  @Override
  public String toString() {
    return "%s kept of %s, dy %s, dx %s over it %s, residual %s %s over it %s"
        .formatted(keep, kept, dy, to, overDy, adds, residual, overResidual);
  }
}
