package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.cuda.interpret.GlobalMemory;
import io.github.rmsnorm4j.internal.quantized.CodeFormat;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Set;
import java.util.SplittableRandom;

/** Quantised rows in arrays of bytes, with bytes around and between them that nobody may change. */
final class QuantizedBytes {
  private static final byte GUARD = 0x5a;
  private static final int NAN = 0x7fc00000;

  private final QuantizedType type;
  private final CodeFormat format;
  private final int rows;
  private final int width;
  private final int codesBefore;
  private final int codeStride;
  private final int scaleStride;
  private final float given;
  private final byte[] codes;

  /** The scales are elements of these; null where one is given. */
  private final TestRows scales;

  QuantizedBytes(
      QuantizedType type,
      CodeFormat format,
      int rows,
      int width,
      boolean aligned,
      SplittableRandom random) {
    this.type = type;
    this.format = format;
    this.rows = rows;
    this.width = width;
    codesBefore = aligned ? 8 * random.nextInt(2) : random.nextInt(1, 9);
    codeStride = width + (aligned ? Math.floorMod(-width, 8) : random.nextInt(9));
    codes = new byte[codesBefore + rows * codeStride + 3];
    Arrays.fill(codes, GUARD);
    int n = format.scales(width);
    scaleStride = n + random.nextInt(3);
    scales =
        format.given()
            ? null
            : TestRows.of(ElementType.FLOAT32, rows, n, random.nextInt(3), scaleStride - n);
    given = format.given() ? Math.scalb(random.nextFloat(1, 2), random.nextInt(-12, 3)) : 0;
  }

  private QuantizedBytes(QuantizedBytes of) {
    type = of.type;
    format = of.format;
    rows = of.rows;
    width = of.width;
    codesBefore = of.codesBefore;
    codeStride = of.codeStride;
    scaleStride = of.scaleStride;
    given = of.given;
    codes = of.codes.clone();
    scales = of.scales == null ? null : of.scales.copy();
  }

  QuantizedBytes copy() {
    return new QuantizedBytes(this);
  }

  QuantizedRows onCpu() {
    MemorySegment ofCodes = MemorySegment.ofArray(codes).asSlice(codesBefore);
    if (scales == null) {
      return QuantizedRows.of(ofCodes, codeStride, given, type, rows, width);
    }
    MemorySegment ofScales = MemorySegment.ofArray(scales.bytes()).asSlice(scales.offset());
    return QuantizedRows.of(ofCodes, codeStride, ofScales, scaleStride, type, rows, width);
  }

  CodeMemory on(GlobalMemory memory) {
    long ofCodes = memory.allocate("codes", codes, false) + codesBefore;
    long ofScales =
        scales == null ? 0 : memory.allocate("scales", scales.bytes(), false) + scales.offset();
    return new CodeMemory(
        format,
        width,
        MemorySegment.ofAddress(ofCodes),
        codeStride,
        scales == null ? null : MemorySegment.ofAddress(ofScales),
        scaleStride * (long) Float.BYTES,
        given);
  }

  CudaQuantizedRows on(DeviceCopies copies) {
    CudaMemory ofCodes = copies.bytes(codes).asSlice(codesBefore);
    if (scales == null) {
      return CudaQuantizedRows.of(ofCodes, codeStride, given, type, rows, width);
    }
    CudaMemory ofScales = copies.bytes(scales.bytes()).asSlice(scales.offset());
    return CudaQuantizedRows.of(ofCodes, codeStride, ofScales, scaleStride, type, rows, width);
  }

  /** The first difference from others, guards included; null if there is none. */
  String difference(QuantizedBytes wanted) {
    int at = Arrays.mismatch(codes, wanted.codes);
    if (at >= 0) {
      int place = at - codesBefore;
      return "code %d of row %d is %d, wanted %d"
          .formatted(
              Math.floorMod(place, codeStride),
              Math.floorDiv(place, codeStride),
              codes[at],
              wanted.codes[at]);
    }
    int scale = scales == null ? -1 : Arrays.mismatch(scales.bytes(), wanted.scales.bytes());
    return scale < 0
        ? null
        : "byte %d of the scales is %d, wanted %d"
            .formatted(scale, scales.bytes()[scale], wanted.scales.bytes()[scale]);
  }

  /** Says which scales and codes there are. */
  void reach(Set<String> reached) {
    for (int r = 0; scales != null && r < rows; r++) {
      for (int i = 0; i < scales.width(); i++) {
        float scale = (float) scales.get(r, i);
        boolean one = Float.floatToRawIntBits(scale) == NAN;
        reached.add(
            type
                + (one
                    ? " NaN"
                    : Float.isInfinite(scale)
                        ? " infinite"
                        : scale == 0 ? " zero" : scale < Float.MIN_NORMAL ? " subnormal" : ""));
      }
    }
    for (int r = 0; scales == null && r < rows; r++) {
      for (int i = 0; i < width; i++) {
        int code = codes[codesBefore + r * codeStride + i] & 0x7f;
        reached.add(type + (code == 0x7f ? " NaN" : code == 0 ? " zero" : ""));
      }
    }
  }
}
