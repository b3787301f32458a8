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
  private final boolean adds = gate == Gate.NONE && kind.nextBoolean();
  private final boolean overDy = to == dy && kind.nextInt(3) == 0;
  private final boolean overResidual = adds && !overDy && kind.nextInt(3) == 0;
  private final ElementType residual = overResidual ? to : type();
  private final float[] dgain = kind.nextInt(4) > 0 ? new float[parameters] : null;
  private final float[] dbias = kind.nextInt(4) > 0 ? new float[parameters] : null;

  GuardedBackward(SplittableRandom random, int width, boolean atEnd, Backend backend) {
    super(random, width, atEnd, backend, true, false);
  }

  /** The output of a partial norm, or of one with a gate, does not lead back. */
  private Keep keep(int drawn) {
    return (part < width || gate != Gate.NONE) && drawn == Keep.OUTPUT.ordinal()
        ? Keep.INPUT
        : Keep.values()[drawn];
  }

  /** The rows of one run. */
  private record Operands(
      MemorySegment x, MemorySegment second, MemorySegment dy, MemorySegment dx, MemorySegment dz) {
    /** The same in memory without guards. */
    Operands copied(Arena arena) {
      MemorySegment slope = copy(dy, arena);
      MemorySegment other = second == null ? null : copy(second, arena);
      MemorySegment ofX = dx == dy ? slope : dx == second ? other : copy(dx, arena);
      return new Operands(copy(x, arena), other, slope, ofX, dz == null ? null : copy(dz, arena));
    }
  }

  void check(GuardedMemories memories) {
    boolean gated = gate != Gate.NONE;
    MemorySegment x = filled(memories.x(), kept);
    MemorySegment slope = filled(memories.y(), dy);
    MemorySegment second = adds || gated ? filled(memories.second(), residual) : null;
    MemorySegment dx = overDy ? slope : overResidual ? second : room(memories.dx(), to);
    MemorySegment dz = gated ? room(memories.dz(), residual) : null;
    Operands operands = new Operands(x, second, slope, dx, dz);
    Rows gain = gain(memories);
    Rows bias = bias(memories);
    try (Arena arena = Arena.ofConfined()) {
      Operands wanted = operands.copied(arena);
      run(plain, wanted, gain, bias, arena);
      float[] wantedGain = dgain == null ? null : dgain.clone();
      float[] wantedBias = dbias == null ? null : dbias.clone();
      run(norm, operands, gain, bias, arena);
      requireSame(dx, wanted.dx, to);
      if (gated) {
        requireSame(dz, wanted.dz, residual);
      }
      require(Arrays.equals(dgain, wantedGain) && Arrays.equals(dbias, wantedBias));
    }
  }

  /** Where the output is kept, it is written over the input. */
  private void run(Norm norm, Operands operands, Rows gain, Rows bias, Arena arena) {
    Saved saved = new Saved(keep, rows * norm.groups);
    Rows x = rows(operands.x, kept);
    Rows y = keep == Keep.OUTPUT ? x : rows(room(arena, kept), kept);
    Rows slope = rows(operands.dy, dy);
    Rows dx = rows(operands.dx, to);
    Rows second = operands.second == null ? null : rows(operands.second, residual);
    ParameterGradients gradients = ParameterGradients.assigned(dgain, dbias);
    if (gate != Gate.NONE) {
      norm.applyGated(x, second, y, saved);
      norm.backwardGated(slope, saved, dx, rows(operands.dz, residual), gradients);
      return;
    }
    norm.withParameters(gain, bias).apply(x, y, saved);
    if (second == null) {
      norm.backward(slope, saved, dx, gradients);
    } else {
      norm.backward(slope, saved, second, dx, gradients);
    }
  }

  @Override
  public String toString() {
    return "%s kept of %s, dy %s, dx %s over it %s, residual or z %s, adds %s over it %s"
        .formatted(keep, kept, dy, to, overDy, residual, adds, overResidual);
  }
}
