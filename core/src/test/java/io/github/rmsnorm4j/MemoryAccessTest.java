package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Memory that is closed, confined, mapped, huge or of an unusual kind. */
class MemoryAccessTest {
  private static final int WIDTH = 512;

  /** Three MiB in and out in the smallest type, so that a call uses several threads. */
  private static final int MANY_ROWS = 1536;

  private static float[] values(int n) {
    SplittableRandom random = new SplittableRandom(n);
    float[] values = new float[n];
    for (int i = 0; i < n; i++) {
      values[i] = (float) random.nextDouble(-4, 4);
    }
    return values;
  }

  private static float[] normalised(float[] x, int width) {
    float[] y = new float[x.length];
    RmsNorm.builder(width).threads(1).build().apply(x, y);
    return y;
  }

  private static float[] floats(MemorySegment segment, int n) {
    float[] values = new float[n];
    MemorySegment.copy(segment, ValueLayout.JAVA_FLOAT_UNALIGNED, 0, values, 0, n);
    return values;
  }

  private static void fill(MemorySegment segment, float[] values) {
    MemorySegment.copy(values, 0, segment, ValueLayout.JAVA_FLOAT_UNALIGNED, 0, values.length);
  }

  /** Helpers may not touch it through checked copies, whatever the types on either side. */
  @Test
  void theOwnerOfConfinedMemoryMayAskForThreads() {
    for (ElementType in : ElementType.values()) {
      for (ElementType out : ElementType.values()) {
        for (boolean safe : new boolean[] {false, true}) {
          try (Arena arena = Arena.ofConfined()) {
            Block x = new Block(arena, Place.NATIVE, in, MANY_ROWS, WIDTH, WIDTH);
            Block y = new Block(arena, Place.NATIVE, out, MANY_ROWS, WIDTH, WIDTH);
            Block alone = new Block(arena, Place.NATIVE, out, MANY_ROWS, WIDTH, WIDTH);
            RmsNorm.Builder builder = RmsNorm.builder(WIDTH);
            RmsNorm norm = (safe ? builder.safe() : builder).threads(4).build();
            norm.apply(x.rows, y.rows);
            RmsNorm.builder(WIDTH).threads(1).build().apply(x.rows, alone.rows);
            assertThat(y.rows.segment().mismatch(alone.rows.segment()))
                .as("%s to %s, safe %s", in, out, safe)
                .isEqualTo(-1);
          }
        }
      }
    }
  }

  /** Staged sums are stored by calls that check the owner, so they must stay on its thread. */
  @Test
  void aConfinedResidualMayBeAddedToWithThreads() {
    try (Arena arena = Arena.ofConfined()) {
      Block residual = new Block(arena, Place.NATIVE, FLOAT32, 2048, WIDTH, WIDTH);
      Rows half = Rows.of(new short[2048 * WIDTH], ElementType.FLOAT16, WIDTH);
      RmsNorm norm = RmsNorm.builder(WIDTH).threads(4).build();
      norm.addAndApply(half, residual.rows, Rows.of(new float[2048 * WIDTH], WIDTH));
    }
  }

  @Test
  void segmentsOfEveryKindOfArray() {
    float[] x = values(3 * 64);
    float[] expected = normalised(x, 64);
    int bytes = 4 * x.length;
    MemorySegment[] segments = {
      MemorySegment.ofArray(new byte[bytes]),
      MemorySegment.ofArray(new byte[bytes + 1]).asSlice(1),
      MemorySegment.ofArray(new byte[bytes + 3]).asSlice(3),
      MemorySegment.ofArray(new char[bytes / 2]),
      MemorySegment.ofArray(new short[bytes / 2]),
      MemorySegment.ofArray(new int[bytes / 4]),
      MemorySegment.ofArray(new long[bytes / 8]),
      MemorySegment.ofArray(new double[bytes / 8]),
      MemorySegment.ofArray(new float[bytes / 4 + 1]).asSlice(2, bytes),
    };
    for (MemorySegment from : segments) {
      fill(from, x);
      for (MemorySegment to : segments) {
        if (to == from) {
          continue;
        }
        RmsNorm.builder(64)
            .build()
            .apply(Rows.of(from, FLOAT32, 3, 64), Rows.of(to, FLOAT32, 3, 64));
        assertThat(floats(to, x.length)).as("%s to %s", from, to).isEqualTo(expected);
        fill(to, x);
      }
      Rows inPlace = Rows.of(from, FLOAT32, 3, 64);
      RmsNorm.builder(64).build().apply(inPlace, inPlace);
      assertThat(floats(from, x.length)).as("in place in %s", from).isEqualTo(expected);
      fill(from, x);
    }
  }

  static MemorySegment map(Path file, long bytes, Arena arena) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return channel.map(MapMode.READ_WRITE, 0, bytes, arena);
    }
  }

  @Test
  void mappedFilesAsInputAndOutput(@TempDir Path folder) throws IOException {
    float[] x = values(MANY_ROWS * WIDTH);
    long bytes = 4L * x.length;
    try (Arena arena = Arena.ofShared()) {
      MemorySegment in = map(folder.resolve("x"), bytes, arena);
      MemorySegment out = map(folder.resolve("y"), bytes, arena);
      fill(in, x);
      Rows y = Rows.of(out, FLOAT32, MANY_ROWS, WIDTH);
      RmsNorm.builder(WIDTH).build().apply(Rows.of(in, FLOAT32, MANY_ROWS, WIDTH), y);
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment written = map(folder.resolve("y"), bytes, arena);
      assertThat(floats(written, x.length)).isEqualTo(normalised(x, WIDTH));
    }
  }

  /** A sparse file, read as mapped and, by its address alone, as plain native memory. */
  @Test
  @SuppressWarnings("restricted")
  void viewsOverTwoToThe31(@TempDir Path folder) throws IOException {
    int width = 1000;
    long stride = 400_000_001L;
    long rows = 3;
    long span = ((rows - 1) * stride + 2 * width) * 4;
    assertThat(span).isGreaterThan(1L << 31);
    float[] x = values(width);
    float[] expected = normalised(x, width);
    try (Arena arena = Arena.ofShared()) {
      MemorySegment mapped = map(folder.resolve("sparse"), span, arena);
      MemorySegment direct = MemorySegment.ofAddress(mapped.address()).reinterpret(span);
      for (MemorySegment memory : new MemorySegment[] {mapped, direct}) {
        for (int r = 0; r < rows; r++) {
          fill(memory.asSlice(4 * r * stride), x);
        }
        Rows in = Rows.of(memory, FLOAT32, rows, width, stride);
        Rows out = Rows.of(memory.asSlice(4L * width), FLOAT32, rows, width, stride);
        RmsNorm.builder(width).build().apply(in, out);
        for (int r = 0; r < rows; r++) {
          MemorySegment row = memory.asSlice(4 * (r * stride + width));
          assertThat(floats(row, width)).as("row %d of %s", r, memory).isEqualTo(expected);
          row.asSlice(0, 4L * width).fill((byte) 0);
        }
      }
    }
  }

  /** Rows that are copied, as output of the norm and as codes, until one copy met the closing. */
  @ParameterizedTest
  @CsvSource({
    "float32, false",
    "bfloat16, false",
    "float16, false",
    "float32, true",
    "bfloat16, true"
  })
  void closingASharedArenaWhileRowsAreCopiedIsAnException(String name, boolean quantized)
      throws Exception {
    ElementType type = ElementType.ofName(name);
    int interrupted = 0;
    SplittableRandom random = new SplittableRandom(7);
    for (int round = 0; round < 150 || interrupted == 0; round++) {
      RmsNorm norm = RmsNorm.builder(WIDTH).threads(1 + round % 3).safe().build();
      Arena arena = Arena.ofShared();
      Rows x = Rows.of(arena.allocate(1L << 21), type, (1 << 21) / type.bytes() / WIDTH, WIDTH);
      MemorySegment ofCodes = arena.allocate(x.rows() * WIDTH / 32 * 34);
      QuantizedRows codes = QuantizedRows.of(ofCodes, QuantizedType.Q8_0, x.rows(), WIDTH);
      long wait = random.nextLong(600_000);
      Thread closer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    long start = System.nanoTime();
                    while (System.nanoTime() - start < wait) {
                      Thread.onSpinWait();
                    }
                    close(arena);
                  });
      try {
        if (quantized) {
          norm.apply(x, null, codes);
        } else {
          norm.apply(x, x);
        }
      } catch (IllegalStateException e) {
        interrupted += "Already closed".equals(e.getMessage()) ? 1 : 0;
      }
      // The JVM interrupts the thread whose copy it ends, also without a norm around it.
      Thread.interrupted();
      closer.join();
    }
  }

  /**
   * An arena cannot be closed while codes are written into it in place: then closing is repeated.
   */
  private static void close(Arena arena) {
    while (arena.scope().isAlive()) {
      try {
        arena.close();
      } catch (IllegalStateException e) {
        Thread.onSpinWait();
      }
    }
  }
}
