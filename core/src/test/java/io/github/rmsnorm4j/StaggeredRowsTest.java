package io.github.rmsnorm4j;

import io.github.rmsnorm4j.RandomRows.Mix;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Float32 rows that are summed while others are written have the contract's bits: every memory,
 * norm and residual, at the widths where that begins and ends, with rows out of range in the middle
 * and a chunk that is not whole at the end.
 */
class StaggeredRowsTest {
  /** A call, of which every number has other choices. */
  private static Case drawn(int call, int chunks, int width) {
    boolean heap = (call & 1) != 0;
    boolean centred = (call & 2) != 0;
    boolean plain = call / 32 % 3 > 0; // Otherwise a residual may be of another type.
    int rows = chunks * Direction.FORWARD.chunk(width) + 1;
    Shape shape =
        new Shape(Direction.FORWARD, ElementType.FLOAT32, heap, centred, plain, rows, width);
    return Case.of(call, shape, Mix.LONE, (call + call / 4) % Recipe.CHOICES);
  }

  /** Chunks enough to begin, to begin anew, and one that is not whole. */
  @ParameterizedTest
  @CsvSource({
    "1024,128",
    "1025,128",
    "2055,128",
    "4096,128",
    "5003,128",
    "1024,256",
    "1025,256",
    "2055,256",
    "4096,256",
    "5003,256",
    "1024,512",
    "1025,512",
    "2055,512",
    "32,256",
    "64,256",
    "96,256",
    "128,256",
    "256,256",
    "32,512",
    "64,512",
    "256,512"
  })
  void haveTheBitsOfTheContract(int width, int bits) {
    for (int call = 0; call < 96; call++) {
      if (Backends.ALL_DRAWS || (call + width) % 6 == 0) {
        drawn(call, 5, width).check(Backend.vector(bits), 1);
      }
    }
  }

  /**
   * From 32 chunks on, the kernel that does two chunks at once does the first and the last one,
   * too.
   */
  @ParameterizedTest
  @CsvSource({"1024,128", "1024,256", "1025,512", "4096,512", "64,256", "64,512"})
  void manyChunks(int width, int bits) {
    for (int call = 0; call < 96; call++) {
      if (call % 8 == 0 || (call + call / 4) % Recipe.CHOICES / 4 % 2 == 1 && call % 5 == 0) {
        drawn(call, 33, width).check(Backend.vector(bits), 1);
      }
    }
  }

  /**
   * A residual of 16 bits that is not rounded first is stored with the output: also by the kernel
   * for the first chunk. Few calls with rows of any type and memory are such calls.
   */
  @ParameterizedTest
  @ValueSource(ints = {256, 512})
  void manyChunksWithAnyResidual(int bits) {
    int rows = 33 * Direction.FORWARD.chunk(32) + 1;
    for (int call = 0; call < 150; call++) {
      Shape shape =
          new Shape(Direction.FORWARD, ElementType.FLOAT32, false, false, false, rows, 32);
      if (bits == 512 || Backends.isInTurn(0, call)) {
        Case.of(call, shape, Mix.ORDINARY, Recipe.RESIDUAL).check(Backend.vector(bits), 1);
      }
    }
  }

  /** As wide as a super-block, and enough for threads to pay. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void theWidestToo(int threads) {
    for (int call = 0; call < 16; call++) {
      if (call % 4 == call / 4) {
        drawn(call, 5, 65_536).check(Backend.best(), threads);
      }
    }
  }
}
