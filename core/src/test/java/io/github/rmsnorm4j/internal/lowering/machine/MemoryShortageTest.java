package io.github.rmsnorm4j.internal.lowering.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ChildJvm;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.machine.Shortage;
import io.github.rmsnorm4j.internal.machine.ShortageClock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The system has no memory for a while: there is no machine code then, and later there is. */
class MemoryShortageTest {
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void passes(boolean machineIsKnown) throws Exception {
    assumeThat(Machine.here().bits()).as(Machine.here().whyNot()).isPositive();
    ProcessBuilder program =
        ChildJvm.program(
            ChildJvm.flags("-Xint", "-XX:+UseSerialGC", "-Xms64m", "-Xmx64m"),
            Program.class,
            String.valueOf(machineIsKnown));
    // What the C library takes for the JVM itself is taken before.
    program.environment().put("MALLOC_ARENA_MAX", "1");
    program.environment().put("MALLOC_TOP_PAD_", String.valueOf(1 << 26));
    program.environment().put("MALLOC_MMAP_THRESHOLD_", String.valueOf(1 << 25));
    ChildJvm child = ChildJvm.run(program);
    assertThat(child.status()).as(child.output()).isZero();
    assertThat(child.output())
        .contains("without memory: none", "almost later: none", "and later: a kernel")
        .containsOnlyOnce(Shortage.MESSAGE);
    assertThat(child.output().lines().filter("applied: 0.0"::equals))
        .hasSize(machineIsKnown ? 2 : 0);
  }

  /** A process that has no memory for a while. */
  static final class Program {
    private static final int RLIMIT_AS = 9;

    private Program() {}

    public static void main(String[] args) throws Throwable {
      ElementType type = ElementType.FLOAT32;
      List<Stage> stages = TrialTest.stages(true, type, type, true, true, true);
      ShortageClock.stop();
      System.getLogger("io.github.rmsnorm4j").log(System.Logger.Level.INFO, "it begins");
      RmsNorm[] norms = {};
      if (Boolean.parseBoolean(args[0])) {
        Machine.here();
        norms = new RmsNorm[] {norm(100), norm(70_000)};
      }
      limit(size());
      limit(size());
      boolean without;
      boolean again;
      try {
        without = kernel(stages);
        again = kernel(stages);
        for (RmsNorm norm : norms) {
          float[] x = new float[norm.width()];
          float[] y = new float[x.length];
          Saved saved = new Saved(Keep.INPUT, 1);
          norm.apply(Rows.of(x, norm.width()), Rows.of(y, norm.width()), saved);
          norm.backward(
              Rows.of(y, norm.width()),
              saved,
              Rows.of(x.clone(), norm.width()),
              ParameterGradients.assigned(x.clone(), null));
          System.out.println("applied: " + y[0]);
        }
      } finally {
        limit(-1);
      }
      say("without memory", without || again);
      ShortageClock.almostPasses();
      say("almost later", kernel(stages));
      ShortageClock.passes();
      say("and later", kernel(stages));
    }

    private static RmsNorm norm(int width) {
      return RmsNorm.builder(width)
          .gain(new float[width])
          .threads(1)
          .backend(Backend.machineCode(256))
          .build();
    }

    private static boolean kernel(List<Stage> stages) {
      return Machine.here().bits() > 0 && MachineKernel.of(stages, 256, 0, false) != null;
    }

    private static void say(String when, boolean kernel) {
      System.out.println(when + (kernel ? ": a kernel" : ": none"));
    }

    /** Bytes of addresses that are taken. */
    private static long size() throws IOException {
      return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[0]) << 12;
    }

    /** Limits the memory of this process to so many bytes, or to what it may have. */
    @SuppressWarnings("restricted")
    private static void limit(long bytes) throws Throwable {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment limits = arena.allocate(ValueLayout.JAVA_LONG, 2);
        if ((int) function("getrlimit").invokeExact(RLIMIT_AS, limits) != 0) {
          throw new IllegalStateException("getrlimit");
        }
        long most = limits.getAtIndex(ValueLayout.JAVA_LONG, 1);
        limits.setAtIndex(ValueLayout.JAVA_LONG, 0, bytes < 0 ? most : bytes);
        if ((int) function("setrlimit").invokeExact(RLIMIT_AS, limits) != 0) {
          throw new IllegalStateException("setrlimit");
        }
      }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle function(String name) {
      Linker linker = Linker.nativeLinker();
      return linker.downcallHandle(
          linker.defaultLookup().findOrThrow(name),
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
    }
  }
}
