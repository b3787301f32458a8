package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where there is machine code, where there is none, and what is said then. */
class MachineCodeTest {
  @ParameterizedTest
  @ValueSource(ints = {0, 64, 128, 255, 1024})
  void otherWidthsAreRefused(int bits) {
    assertThatThrownBy(() -> Backend.machineCode(bits))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("bits is " + bits + ", it may be 256 or 512");
  }

  @Test
  void tellsWhatItIs() {
    assumeThat(Backends.machineCode()).as("there is no machine code here").isNotEmpty();
    for (Backend backend : Backends.machineCode()) {
      assertThat(backend)
          .hasToString("machine code, " + backend.vectorBits() + "-bit vectors, native access");
      assertThat(backend.reason()).startsWith("machine code can be run; other calls take ");
    }
  }

  @Test
  @EnabledOnOs(value = OS.LINUX, architectures = "amd64")
  void withoutNativeAccessThereIsNone() throws Exception {
    List<String> flags = List.of(ChildJvm.VECTORS, "--illegal-native-access=deny");
    assertThat(ChildJvm.output(flags, Program.class, "refused"))
        .contains("no machine code of 256 bits: native access is off");
  }

  @Test
  void itIsTheBestWhereItIs() throws Exception {
    String expected = Backends.machineCode().isEmpty() ? "no machine code" : "machine code, ";
    assertThat(ChildJvm.output(ChildJvm.flags(), Program.class, "best"))
        .contains(expected)
        .contains("right");
    assertThat(Backend.hasMachineCode()).isEqualTo(!Backends.machineCode().isEmpty());
  }

  @Test
  void thePropertySwitchesItOff() throws Exception {
    List<String> flags = ChildJvm.flags("-Drmsnorm4j.machineCode=false");
    assertThat(ChildJvm.output(flags, Program.class, "best"))
        .contains("no machine code: rmsnorm4j.machineCode is false")
        .contains("right");
  }

  @Test
  void whatIsSwitchedOffCannotBeAskedFor() throws Exception {
    List<String> flags = ChildJvm.flags("-Drmsnorm4j.machineCode=false");
    assertThat(ChildJvm.output(flags, Program.class, "refused"))
        .contains("no machine code of 256 bits: rmsnorm4j.machineCode is false");
  }

  /** Direct memory is the program's own: it may all be in use. */
  @Test
  void directMemoryIsNotNeeded() throws Exception {
    List<String> flags = ChildJvm.flags("-XX:MaxDirectMemorySize=1k");
    assertThat(ChildJvm.output(flags, Program.class, "long"))
        .contains("right")
        .doesNotContain("is not used");
  }

  @Test
  void oneNormGoesWithoutIt() {
    Backend without = Backend.withoutMachineCode();
    assertThat(without.machineBits()).isZero();
    assertThat(without.vectorBits()).isEqualTo(without.kernelBits());
    assertThat(without.reason()).isEqualTo("the Vector API is there");
  }

  /**
   * On a system that forbids execution of written memory, the library works without machine code.
   */
  @Test
  @EnabledOnOs(value = OS.LINUX, architectures = "amd64")
  void withoutMemoryThatCanBeExecutedThereIsNone() throws Exception {
    assertThat(ChildJvm.output(ChildJvm.flags(), Program.class, "denied"))
        .contains(
            "no machine code of 256 bits: the system refuses to execute memory that was written")
        .contains("-bit vectors")
        .contains("right");
  }

  /**
   * Outputs of 16 MiB and more go past the caches if they are aligned and not over their input; all
   * have the bits of plain Java.
   */
  @ParameterizedTest
  @CsvSource({
    "FLOAT32, 4096, 1024",
    "BFLOAT16, 4096, 2048",
    "FLOAT16, 4096, 2048",
    "FLOAT32, 64, 65536",
    "FLOAT32, 4112, 1024"
  })
  void longOutputs(ElementType type, int width, int rows) {
    long bytes = (long) rows * width * type.bytes();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment in = arena.allocate(bytes, 64);
      for (long i = 0; i < bytes / Short.BYTES; i++) {
        in.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) (i * 40_503 & 0xbfff));
      }
      MemorySegment wanted = arena.allocate(bytes, 64);
      norm(width, Backend.scalar()).apply(rows(in, type, width), rows(wanted, type, width));
      MemorySegment out = arena.allocate(bytes + 64, 64);
      for (Backend backend : Backends.machineCode()) {
        for (int offset : new int[] {0, 4, 32, 64}) {
          MemorySegment y = out.asSlice(offset, bytes);
          norm(width, backend).apply(rows(in, type, width), rows(y, type, width));
          assertThat(y.mismatch(wanted)).as("%s, offset %d", backend, offset).isEqualTo(-1);
        }
        MemorySegment inPlace = out.asSlice(0, bytes).copyFrom(in);
        norm(width, backend).apply(rows(inPlace, type, width), rows(inPlace, type, width));
        assertThat(inPlace.mismatch(wanted)).as("%s, in place", backend).isEqualTo(-1);
      }
    }
  }

  private static RmsNorm norm(int width, Backend backend) {
    return RmsNorm.builder(width).threads(2).backend(backend).build();
  }

  private static Rows rows(MemorySegment segment, ElementType type, int width) {
    return Rows.of(
        segment, type, Math.toIntExact(segment.byteSize() / type.bytes() / width), width);
  }

  /** A process that has machine code, or not. */
  static final class Program {
    private static final int PR_SET_MDWE = 65;
    private static final long REFUSE_EXECUTABLE_MEMORY = 1;

    private Program() {}

    public static void main(String[] args) throws Throwable {
      if (args[0].equals("denied")) {
        deny();
      }
      if (args[0].equals("long")) {
        float[] ones = new float[1 << 23];
        Arrays.fill(ones, 3);
        RmsNorm.builder(4096).epsilon(0).build().apply(ones, ones);
        System.out.println(ones[0] == 1 && ones[ones.length - 1] == 1 ? "right" : "wrong");
        return;
      }
      if (!args[0].equals("best")) {
        try {
          System.out.println(Backend.machineCode(256));
        } catch (UnsupportedOperationException e) {
          System.out.println(e.getMessage());
        }
      }
      if (!args[0].equals("refused")) {
        System.out.println(Backend.best() + ": " + Backend.best().reason());
        float[] y = new float[2];
        RmsNorm.builder(2).epsilon(0).build().apply(new float[] {3, 3}, y);
        System.out.println(y[0] == 1 && y[1] == 1 ? "right" : "wrong");
      }
    }

    @SuppressWarnings("restricted")
    private static void deny() throws Throwable {
      Linker linker = Linker.nativeLinker();
      MethodHandle prctl =
          linker.downcallHandle(
              linker.defaultLookup().findOrThrow("prctl"),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT,
                  ValueLayout.JAVA_INT,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_LONG));
      int done = (int) prctl.invokeExact(PR_SET_MDWE, REFUSE_EXECUTABLE_MEMORY, 0L, 0L, 0L);
      System.out.println("prctl " + done);
    }
  }
}
