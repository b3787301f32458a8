package io.github.rmsnorm4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.internal.machine.CallersState;
import io.github.rmsnorm4j.internal.norm.Unguarded;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Codes that machine code has a function for are written by it. Plain Java has the same bytes. But
 * the scales are subnormal, and where a thread flushes subnormal numbers to zero, only machine code
 * has them: without it all codes are 0.
 */
class QuantizedMachineCodeTest {
  private static final int ROWS = 7;

  @BeforeEach
  void needsMachineCode() {
    assumeThat(Backends.machineCode()).as("there is no machine code here").isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "q8_0",
        "int8:32",
        "int8:64",
        "int8:128",
        "int8:row",
        "f8e4m3:32",
        "f8e4m3:128",
        "f8e4m3:row",
        "f8e5m2:64",
        "f8e5m2:row"
      })
  void everyCallHasSubnormalScales(String name) {
    QuantizedType type = QuantizedType.ofName(name);
    for (Backend backend : Backends.machineCode()) {
      for (int width : new int[] {96, 256, 4096, 4224}) {
        for (CodeFactor factor : new CodeFactor[] {CodeFactor.RATIO, CodeFactor.INVERSE}) {
          for (boolean isNative : new boolean[] {false, true}) {
            if (width % type.block(width) == 0) {
              Call call = new Call(backend, type, width, factor, isNative);
              assertThat(call.differs()).as("%s", call).isEqualTo(-1);
            }
          }
        }
      }
    }
  }

  /** What the others rest on: a rule that machine code has no function for. */
  @Test
  void plainJavaHasNone() {
    for (Backend backend : Backends.machineCode()) {
      QuantizedType type = QuantizedType.int8(32);
      Call call = new Call(backend, type, 256, CodeFactor.DIVISION, true);
      assertThat(call.differs()).isNotNegative();
    }
  }

  private record Call(
      Backend backend, QuantizedType type, int width, CodeFactor factor, boolean isNative) {
    /** The first byte that is not as wanted; -1 if all are. */
    int differs() {
      Call plain = new Call(Backend.scalar(), type, width, factor, isNative);
      return Arrays.mismatch(bytes(CallersState.FLUSHES), plain.bytes(CallersState.OF_JVM));
    }

    /** Codes, then scales if these are in memory of their own. */
    byte[] bytes(int state) {
      float[] gain = new float[width];
      for (int i = 0; i < width; i++) {
        gain[i] = (1 + i % 5) * 0x1.6p-123f;
      }
      Norm norm =
          RmsNorm.builder(width)
              .gain(gain)
              .backend(backend)
              .threads(1)
              .quantizer(Quantizer.defaults().withFactor(factor))
              .build();
      int codeBytes = (int) (ROWS * type.rowBytes(width));
      int scaleBytes = ROWS * type.scales(width) * Float.BYTES;
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment x = memory(arena, ROWS * width * Float.BYTES);
        MemorySegment codes = memory(arena, codeBytes);
        MemorySegment scales = memory(arena, scaleBytes);
        for (int i = 0; i < ROWS * width; i++) {
          x.setAtIndex(JAVA_FLOAT, i, i % 7 - 3);
        }
        QuantizedRows q =
            scaleBytes == 0
                ? QuantizedRows.of(codes, type, ROWS, width)
                : QuantizedRows.of(codes, scales, type, ROWS, width);
        Rows rows = Rows.of(x, ElementType.FLOAT32, ROWS, width);
        Unguarded.during(state, () -> norm.apply(rows, null, q));
        byte[] bytes = new byte[codeBytes + scaleBytes];
        MemorySegment.copy(codes, JAVA_BYTE, 0, bytes, 0, codeBytes);
        MemorySegment.copy(scales, JAVA_BYTE, 0, bytes, codeBytes, scaleBytes);
        return bytes;
      }
    }

    private MemorySegment memory(Arena arena, int bytes) {
      return isNative
          ? arena.allocate(bytes, Float.BYTES)
          : MemorySegment.ofArray(new float[bytes / Float.BYTES + 1]).asSlice(0, bytes);
    }
  }
}
