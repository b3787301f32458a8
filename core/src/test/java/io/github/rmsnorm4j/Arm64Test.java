package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.incubator.vector.FloatVector;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The bits of an emulated ARM64 processor, at the vector width that was asked for, and that they
 * are those of vector instructions, which the JIT's second compiler writes.
 *
 * <p>{@code .ci/arm64 neon}, or {@code sve256}, {@code sve512}; the script says how to draw more
 * calls than 12.
 */
@EnabledIfSystemProperty(
    named = "rmsnorm4j.arm64.bits",
    matches = "128|256|512",
    disabledReason = ".ci/arm64 runs it")
class Arm64Test {
  /** The width that the processor was asked for; 0 where none is emulated. */
  static final int BITS = Integer.getInteger("rmsnorm4j.arm64.bits", 0);

  /** Calls of each direction: forward and backward. */
  private static final int DRAWS = Integer.getInteger("rmsnorm4j.arm64.draws", 12);

  /** A kernel that is compiled while the first is made computes one of the later ones. */
  private static final int TIMES = 3;

  /** A line of the JIT about a method of a kernel, which has a number, at level 4: by C2. */
  private static final Pattern COMPILED =
      Pattern.compile(
          "\\s4\\s+io\\.github\\.rmsnorm4j\\.internal\\.lowering\\.((?!loops_)\\w+_\\d+)/");

  private static final int WIDTH = 8192;
  private static final int CALLS = 10;

  /**
   * More than the few objects that a kernel leaves outside of its loop; one for each vector of a
   * row has three times as much at least.
   */
  private static final long MOST_BYTES = 8 * CountedCall.FEW_BYTES;

  private static final double MOST_SECONDS = 60;

  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  @Test
  void theProcessorIsTheOneAskedFor() {
    assertThat(System.getProperty("os.arch")).isEqualTo("aarch64");
    assertThat(FloatVector.SPECIES_PREFERRED.vectorBitSize()).isEqualTo(BITS);
    assertThat(Backend.best())
        .hasToString("plain Java, later " + BITS + "-bit vectors, native access");
    assertThat(Backend.best().reason()).startsWith("the Vector API is there; no machine code: ");
  }

  /**
   * Some of the calls, at each width others; and more until C2 has compiled kernels meanwhile,
   * which it does in a thread of its own.
   */
  @Tag("measure")
  @ParameterizedTest
  @EnumSource
  void anyCall(Direction direction) throws IOException {
    List<Recipe> recipes = Recipe.all(direction);
    Collections.shuffle(recipes, new Random(BITS));
    Set<String> before = compiled();
    Set<String> compiled = Set.of();
    int draws = 0;
    while (draws < DRAWS || compiled.size() < DRAWS / 4) {
      Case drawn = Case.of(recipes.get(draws++ % recipes.size()));
      drawn.check(Backend.scalar(), 1);
      drawn.check(Backend.loops(), 1);
      for (int i = 0; i < TIMES; i++) {
        drawn.check(Backends.VECTORS, 1 + i % 2);
      }
      if (draws >= DRAWS) {
        compiled = compiled();
        compiled.removeAll(before);
      }
    }
    System.out.println(direction + ", kernels compiled by C2: " + compiled);
  }

  /** The kernels that C2 has compiled, by the log that this JVM writes. */
  private static Set<String> compiled() throws IOException {
    Path log = Path.of("target", "arm64-jit-" + ProcessHandle.current().pid() + ".log");
    try (Stream<String> lines = Files.lines(log)) {
      return lines
          .map(COMPILED::matcher)
          .filter(Matcher::find)
          .map(line -> line.group(1))
          .collect(Collectors.toSet());
    }
  }

  /** Vectors that are no instructions are objects, hundreds of them in a row. */
  @Tag("measure")
  @ParameterizedTest
  @EnumSource
  void kernelsAreVectorInstructions(ElementType type) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment in = arena.allocate((long) WIDTH * type.bytes(), 64);
      for (long i = 0; i < in.byteSize(); i++) {
        boolean highest = i % type.bytes() == type.bytes() - 1;
        in.set(ValueLayout.JAVA_BYTE, i, (byte) (highest ? 0x3f : i * 0x9e3779b97f4a7c15L >>> 40));
      }
      Rows x = Rows.of(in, type, 1, WIDTH);
      Rows expected = Rows.of(arena.allocate(in.byteSize(), 64), type, 1, WIDTH);
      norm(Backend.scalar()).apply(x, expected);
      Rows y = Rows.of(arena.allocate(in.byteSize(), 64), type, 1, WIDTH);
      assertThat(bytesPerCall(norm(Backends.VECTORS), x, y)).isLessThan(MOST_BYTES);
      assertThat(y.segment().mismatch(expected.segment())).isEqualTo(-1);
    }
  }

  private static RmsNorm norm(Backend backend) {
    return RmsNorm.builder(WIDTH).backend(backend).threads(1).build();
  }

  /** What a call allocates once it is compiled; the last of the calls was compiled. */
  private static long bytesPerCall(RmsNorm norm, Rows x, Rows y) {
    double end = seconds() + MOST_SECONDS;
    long bytes;
    do {
      long before = CountedCall.allocatedBytes(false);
      for (int i = 0; i < CALLS; i++) {
        norm.apply(x, y);
      }
      bytes = (CountedCall.allocatedBytes(false) - before) / CALLS;
    } while (bytes >= MOST_BYTES && seconds() < end);
    return bytes;
  }

  /** Of the processor, so that it does not matter what else the machine does. */
  private static double seconds() {
    return SYSTEM.getProcessCpuTime() * 1e-9;
  }
}
