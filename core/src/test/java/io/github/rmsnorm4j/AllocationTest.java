package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Once compiled, a call allocates as much for many rows as for one, and as much for wide ones as
 * for narrow ones. A vector that the JIT puts in a box, 3 to 100 times slower than one that it does
 * not, shows here and nowhere else.
 */
class AllocationTest {
  /**
   * The first seed to draw kinds of calls from. Of the first six this one showed most when the test
   * was made: boxed vectors at every vector width.
   */
  private static final long SEED = Long.getLong("allocations.seed", 4);

  /** How many seeds, each with all kinds at every vector width; 0 for the draw of every build. */
  private static final int SEEDS = Integer.getInteger("allocations.seeds", 0);

  private static final List<Integer> VECTOR_BITS =
      Stream.of(0, 128, 256, 512).filter(bits -> bits <= Backends.WIDEST).toList();

  /**
   * Kinds of calls from a seed, at one vector width.
   *
   * @param sharing the vector widths that share the kinds
   */
  private record Draw(long seed, int bits, List<Integer> sharing) {
    @Override
    public String toString() {
      return "seed " + seed + ", " + (bits == 0 ? "plain Java" : bits + "-bit vectors");
    }
  }

  /**
   * In one JVM for all kinds, and in that once: what the JIT makes of a kernel differs from run to
   * run, and a kernel that allocates in one run of three is no good (docs/kernels.md).
   */
  @ParameterizedTest
  @MethodSource("draws")
  void growsNeitherWithRowsNorWithWidth(Draw draw) throws Exception {
    String sharing = draw.sharing.stream().map(String::valueOf).collect(Collectors.joining(","));
    assertNoneOver(
        draw.toString(),
        AllocationCount.class,
        Integer.toString(draw.bits),
        Long.toString(draw.seed),
        sharing);
  }

  /** In every build the widths share the kinds: all of them at each take longer to compile. */
  static Stream<Draw> draws() {
    return SEEDS == 0
        ? VECTOR_BITS.stream().map(bits -> new Draw(SEED, bits, VECTOR_BITS))
        : LongStream.range(SEED, SEED + SEEDS)
            .boxed()
            .flatMap(seed -> VECTOR_BITS.stream().map(bits -> new Draw(seed, bits, List.of(bits))));
  }

  /** 128 and 64 MiB of rows. */
  @ParameterizedTest
  @ValueSource(strings = {"float32", "bfloat16"})
  void fewCallsOfManyRowsAreEnough(String type) throws Exception {
    assertNoneOver(type, LargeCallAllocation.class, type);
  }

  @Test
  void wideRowsOnManyThreadsFitInWhatIsKept() throws Exception {
    assertNoneOver("wide rows", LargeCallAllocation.class, LargeCallAllocation.WIDE);
  }

  private static void assertNoneOver(String what, Class<?> main, String... args) throws Exception {
    List<String> lines = ChildJvm.output(ChildJvm.flags(), main, args).lines().toList();
    String counted = lines.isEmpty() ? "" : lines.getLast();
    assertThat(counted).as("%s: %s", what, lines).startsWith(AllocationCount.COUNTED);
    System.out.println("AllocationTest, " + what + ", " + counted);
    assertThat(lines.stream().filter(line -> line.startsWith(AllocationCount.OVER)))
        .as("%s, %s", what, counted)
        .isEmpty();
  }
}
