package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Once compiled, a call allocates as much for many rows as for one, and as much for wide ones as
 * for narrow ones. A vector that the JIT puts in a box, 3 to 100 times slower than one that it does
 * not, shows here and nowhere else.
 */
@Tag("measure")
class AllocationTest {
  /**
   * The first seed to draw kinds of calls from. Of the first six this one showed most when the test
   * was made: boxed vectors at every vector width.
   */
  private static final long SEED = Long.getLong("allocations.seed", 4);

  /** How many seeds, each with all kinds at every vector width; 0 for the draw of every build. */
  private static final int SEEDS = Integer.getInteger("allocations.seeds", 0);

  /** All widths: with {@code -Dtests.all=true}, and where a seed was given. */
  private static final boolean ALL_DRAWS =
      Backends.ALL_DRAWS || System.getProperty("allocations.seed") != null;

  private static final List<Integer> VECTOR_BITS =
      Stream.of(0, 128, 256, 512).filter(bits -> bits <= Backends.WIDEST).toList();

  /**
   * Kinds of calls from a seed, at one vector width.
   *
   * @param sharing the vector widths that share the kinds
   */
  private record Draw(long seed, int bits, List<Integer> sharing, String kernels) {
    @Override
    public String toString() {
      return "seed " + seed + ", " + kernels + " of " + bits + " bits";
    }
  }

  /**
   * In one JVM for all kinds, and in that once: what the JIT makes of a kernel differs from run to
   * run, and a kernel that allocates in one run of three is no good (dev-docs/kernels.md).
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
        sharing,
        draw.kernels);
  }

  /**
   * The widths share the kinds: all of them at each take longer to compile. Without {@code
   * tests.all} there are only the kinds of machine code, or else of the widest vectors.
   */
  static Stream<Draw> draws() {
    if (SEEDS > 0) {
      return LongStream.range(SEED, SEED + SEEDS).boxed().flatMap(seed -> draws(seed, null));
    }
    return draws(SEED, VECTOR_BITS)
        .filter(
            draw ->
                ALL_DRAWS
                    || (Backends.machineCode().isEmpty()
                        ? draw.bits == Backends.WIDEST
                        : draw.kernels.equals(AllocationCount.MACHINE_CODE)));
  }

  /** At each width and, of machine code, at the widest; null where each has all kinds. */
  private static Stream<Draw> draws(long seed, List<Integer> sharing) {
    Stream<Draw> draws =
        VECTOR_BITS.stream().map(bits -> draw(seed, bits, sharing, AllocationCount.OTHER));
    draws = Stream.concat(draws, Stream.of(draw(seed, 0, sharing, AllocationCount.LOOPS)));
    int widest = Backends.machineCode().isEmpty() ? 0 : Machine.here().bits();
    boolean shares = sharing == null || sharing.contains(widest);
    return widest == 0 || !shares
        ? draws
        : Stream.concat(
            draws, Stream.of(draw(seed, widest, sharing, AllocationCount.MACHINE_CODE)));
  }

  private static Draw draw(long seed, int bits, List<Integer> sharing, String kernels) {
    return new Draw(seed, bits, sharing == null ? List.of(bits) : sharing, kernels);
  }

  /** 128 and 64 MiB of rows. */
  @ParameterizedTest
  @ValueSource(strings = {"float32", "bfloat16"})
  void fewCallsOfManyRowsAreEnough(String type) throws Exception {
    assertNoneOver(type, LargeCallAllocation.class, type);
  }

  @Test
  void longRowsAllocateNoMore() throws Exception {
    assertNoneOver("long rows", LargeCallAllocation.class, LargeCallAllocation.LONG);
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
