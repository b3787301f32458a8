package io.github.rmsnorm4j;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;

/** A call with quantised output on rows, codes and scales between guard pages. */
final class GuardedQuantized extends GuardedCall {
  private static final float GIVEN = 0.01f;

  private final ElementType type = type();
  private final boolean adds = kind.nextBoolean();
  private final boolean keepsOutput = kind.nextInt(3) == 0;
  private final QuantizedType quantized;

  GuardedQuantized(SplittableRandom random, int width, boolean atEnd, Backend backend) {
    super(random, width, atEnd, backend, false, true);
    List<QuantizedType> fit =
        QuantizedType.all().stream().filter(any -> width % any.block(width) == 0).toList();
    quantized = fit.get(random.nextInt(fit.size()));
  }

  void check(GuardedMemories memories) {
    MemorySegment in = filled(memories.x(), type);
    MemorySegment sum = adds ? filled(memories.second(), type) : null;
    MemorySegment out = keepsOutput ? room(memories.y(), type) : null;
    long scaleBytes = 4L * rows * quantized.scales(width);
    MemorySegment codes = bytes(memories.dx(), rows * quantized.rowBytes(width));
    MemorySegment scales = scaleBytes == 0 ? null : bytes(memories.dz(), scaleBytes);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment wantedSum = adds ? copy(sum, arena) : null;
      MemorySegment wantedOut = keepsOutput ? copy(out, arena) : null;
      MemorySegment wanted = arena.allocate(codes.byteSize());
      MemorySegment wantedScales = scales == null ? null : arena.allocate(scaleBytes);
      run(plain, copy(in, arena), wantedSum, wantedOut, view(wanted, wantedScales));
      run(norm, in, sum, out, view(codes, scales));
      require(codes.mismatch(wanted) < 0);
      require(scales == null || scales.mismatch(wantedScales) < 0);
      if (adds) {
        requireSame(sum, wantedSum, type);
      }
      if (keepsOutput) {
        requireSame(out, wantedOut, type);
      }
    }
  }

  private QuantizedRows view(MemorySegment codes, MemorySegment scales) {
    if (scales != null) {
      return QuantizedRows.of(codes, scales, quantized, rows, width);
    }
    return quantized.toString().endsWith("given")
        ? QuantizedRows.of(codes, GIVEN, quantized, rows, width)
        : QuantizedRows.of(codes, quantized, rows, width);
  }

  private void run(
      Norm norm, MemorySegment x, MemorySegment sum, MemorySegment y, QuantizedRows q) {
    if (adds && keepsOutput) {
      norm.addAndApply(rows(x, type), rows(sum, type), rows(y, type), q);
    } else if (adds) {
      norm.addAndApply(rows(x, type), rows(sum, type), null, q);
    } else if (keepsOutput) {
      norm.apply(rows(x, type), rows(y, type), q);
    } else {
      norm.apply(rows(x, type), null, q);
    }
  }

  @Override
  public String toString() {
    return "%s to %s, residual %s, output %s".formatted(type, quantized, adds, keepsOutput);
  }
}
