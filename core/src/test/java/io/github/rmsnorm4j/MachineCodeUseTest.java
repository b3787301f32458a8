package io.github.rmsnorm4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.internal.machine.CallersState;
import io.github.rmsnorm4j.internal.norm.Unguarded;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls that machine code serves are done by machine code. Other ways have the same bits, so
 * nothing else would tell. But where a thread flushes subnormal numbers to zero, only machine code
 * has them: Java code counts on the state that the JVM had.
 */
class MachineCodeUseTest {
  private static final int WIDTH = 100;
  private static final int ROWS = 5;

  @BeforeEach
  void needsMachineCode() {
    assumeThat(Backends.machineCode()).as("there is no machine code here").isNotEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "FLOAT32, FLOAT32",
    "FLOAT32, BFLOAT16",
    "BFLOAT16, FLOAT32",
    "BFLOAT16, BFLOAT16",
    "FLOAT64, FLOAT64"
  })
  void everyCallHasSubnormalNumbers(ElementType type, ElementType to) {
    for (Backend backend : Backends.machineCode()) {
      for (boolean centred : new boolean[] {false, true}) {
        for (boolean adds : new boolean[] {false, true}) {
          for (boolean isNative : new boolean[] {false, true}) {
            Call call = new Call(backend, centred, type, to, adds, isNative);
            assertThat(call.output(CallersState.FLUSHES)).as("%s", call).isEqualTo(call.wanted());
          }
        }
      }
    }
  }

  /** Rows of one kernel, rows with a part outside of the statistic, and long rows. */
  @ParameterizedTest
  @CsvSource({
    "FLOAT32, 100, 100",
    "FLOAT32, 100, 40",
    "FLOAT64, 100, 100",
    "FLOAT64, 100, 40",
    "BFLOAT16, 100, 40",
    "FLOAT32, 70000, 70000",
    "FLOAT32, 70000, 66000",
    "FLOAT64, 70000, 70000"
  })
  void everyGradientHasSubnormalNumbers(ElementType type, int width, int part) {
    for (Backend backend : Backends.machineCode()) {
      for (Keep keep : List.of(Keep.NOTHING, Keep.INPUT)) {
        byte[] wanted = gradient(Backend.scalar(), type, width, part, keep, CallersState.OF_JVM);
        byte[] dx = gradient(backend, type, width, part, keep, CallersState.FLUSHES);
        assertThat(dx).as("%s, %s", backend, keep).isEqualTo(wanted);
        byte[] flushed = gradient(Backend.scalar(), type, width, part, keep, CallersState.FLUSHES);
        assertThat(flushed).as("plain Java has none").isNotEqualTo(wanted);
      }
    }
  }

  /** Of elements so large, and a dy so small, that dx alone is subnormal. */
  private static byte[] gradient(
      Backend backend, ElementType type, int width, int part, Keep keep, int state) {
    boolean float64 = type == ElementType.FLOAT64;
    try (Arena arena = Arena.ofConfined()) {
      Rows x = rows(arena, type, width, 7, float64 ? 0x1p400 : 0x1p60);
      Rows dy = rows(arena, type, width, 5, float64 ? 0x1p-650 : 0x1p-70);
      MemorySegment dx = arena.allocate(x.segment().byteSize(), Double.BYTES);
      RmsNorm norm = RmsNorm.builder(width).part(part).threads(1).backend(backend).build();
      Saved saved = new Saved(keep, ROWS);
      norm.apply(x, Rows.of(arena.allocate(dx.byteSize(), 8), type, ROWS, width), saved);
      Rows to = Rows.of(dx, type, ROWS, width);
      ParameterGradients sums = ParameterGradients.assigned(new double[width], null);
      Unguarded.during(state, () -> norm.backward(dy, saved, to, sums));
      return dx.toArray(JAVA_BYTE);
    }
  }

  private static Rows rows(Arena arena, ElementType type, int width, int period, double scale) {
    MemorySegment segment = arena.allocate((long) ROWS * width * type.bytes(), Double.BYTES);
    for (int i = 0; i < ROWS * width; i++) {
      type.set(segment, i, (1 + i % period) * scale);
    }
    return Rows.of(segment, type, ROWS, width);
  }

  /** What the others rest on. */
  @Test
  void plainJavaHasNone() {
    ElementType type = ElementType.FLOAT32;
    Call call = new Call(Backend.scalar(), false, type, type, false, true);
    assertThat(call.output(CallersState.FLUSHES)).isNotEqualTo(call.wanted());
  }

  /** Kernels are made when they are first needed, which may be in another state. */
  @ParameterizedTest
  @ValueSource(ints = {CallersState.FLUSHES, CallersState.OF_JVM | 0x4000})
  void theFirstCallMayBeInAnotherState(int state) throws Exception {
    assertThat(ChildJvm.output(ChildJvm.flags(), FirstCall.class, String.valueOf(state)))
        .doesNotContain("is not used")
        .contains("right");
  }

  /** A process whose first call is in a state, on arrays and then on native memory. */
  static final class FirstCall {
    private FirstCall() {}

    public static void main(String[] args) {
      int state = Integer.parseInt(args[0]);
      ElementType type = ElementType.FLOAT32;
      for (boolean isNative : new boolean[] {false, true}) {
        Call call = new Call(Backend.machineCode(256), !isNative, type, type, true, isNative);
        byte[] output = call.output(state);
        System.out.println(Arrays.equals(output, call.wanted()) ? "right" : "is not used");
      }
    }
  }

  /** Rows whose gain is subnormal, so that every output is. */
  private record Call(
      Backend backend,
      boolean centred,
      ElementType type,
      ElementType to,
      boolean adds,
      boolean isNative) {
    private Norm norm(Backend backend) {
      double[] gain = new double[WIDTH];
      Arrays.fill(gain, (type == ElementType.FLOAT64 ? Double.MIN_NORMAL : Float.MIN_NORMAL) / 8);
      return centred
          ? LayerNorm.builder(WIDTH).gain(gain).threads(1).backend(backend).build()
          : RmsNorm.builder(WIDTH).gain(gain).threads(1).backend(backend).build();
    }

    byte[] wanted() {
      return output(norm(Backend.scalar()), CallersState.OF_JVM);
    }

    byte[] output(int state) {
      return output(norm(backend), state);
    }

    private byte[] output(Norm norm, int state) {
      try (Arena arena = Arena.ofConfined()) {
        Rows x = rows(arena, type);
        Rows residual = rows(arena, type);
        MemorySegment y = segment(arena, to);
        Rows output = Rows.of(y, to, ROWS, WIDTH);
        Runnable call = () -> run(norm, x, residual, output);
        int left = Unguarded.during(state, call);
        assertThat(left).isEqualTo(state);
        return y.toArray(JAVA_BYTE);
      }
    }

    private void run(Norm norm, Rows x, Rows residual, Rows y) {
      if (adds) {
        norm.addAndApply(x, residual, y);
      } else {
        norm.apply(x, y);
      }
    }

    private MemorySegment segment(Arena arena, ElementType type) {
      int n = ROWS * WIDTH;
      if (isNative) {
        return arena.allocate((long) n * type.bytes(), Double.BYTES);
      }
      return switch (type) {
        case FLOAT64 -> MemorySegment.ofArray(new double[n]);
        case FLOAT32 -> MemorySegment.ofArray(new float[n]);
        case FLOAT16, BFLOAT16 -> MemorySegment.ofArray(new short[n]);
      };
    }

    private Rows rows(Arena arena, ElementType type) {
      MemorySegment segment = segment(arena, type);
      for (int i = 0; i < ROWS * WIDTH; i++) {
        type.set(segment, i, 1 + i % 7);
      }
      return Rows.of(segment, type, ROWS, WIDTH);
    }
  }

  /** A long output has a kernel of its own, which goes past the caches. */
  @ParameterizedTest
  @CsvSource({
    "NATIVE, 0, 1024, true",
    "NATIVE, 4, 1024, false",
    "NATIVE, 4, 2048, true",
    "NATIVE, 1, 2048, false",
    "ARRAY, 0, 2048, true",
    "NATIVE, 0, 64, true",
    "NATIVE, 4, 64, false",
    "IN_PLACE, 0, 1024, false"
  })
  void longOutputsGoPastTheCaches(
      String memory, int offset, int width, boolean streams, @TempDir Path kernels)
      throws Exception {
    ProcessBuilder builder =
        ChildJvm.program(
            ChildJvm.flags(),
            LongOutput.class,
            memory,
            String.valueOf(offset),
            String.valueOf(width));
    builder.environment().put("RMSNORM_KERNELS", kernels.toString());
    ChildJvm child = ChildJvm.run(builder);
    assertThat(child.status()).as(child.output()).isZero();
    try (Stream<Path> files = Files.list(kernels)) {
      List<String> names = files.map(file -> file.getFileName().toString()).toList();
      assertThat(names)
          .filteredOn(name -> name.contains("_streaming_machine_256"))
          .hasSize(streams ? 1 : 0);
      assertThat(names).filteredOn(name -> name.contains("_machine_256")).hasSize(1);
    }
  }

  /** With short headers an array of bytes begins at 12, where no double is aligned. */
  @Test
  void longOutputsInArraysOfBytesNeedNoAlignment() throws Exception {
    ProcessBuilder builder =
        ChildJvm.program(
            ChildJvm.flags("-XX:+UseCompactObjectHeaders", "-Xmx1g"), DoublesInBytes.class);
    ChildJvm child = ChildJvm.run(builder);
    assertThat(child.status()).as(child.output()).isZero();
  }

  /** A call with 32 MiB of float64 rows in arrays of bytes. */
  static final class DoublesInBytes {
    private DoublesInBytes() {}

    public static void main(String[] args) {
      int width = 2048;
      byte[] wanted = output(Backend.scalar(), width);
      if (!Arrays.equals(output(Backend.machineCode(256), width), wanted)) {
        throw new IllegalStateException("other bits than plain Java's");
      }
    }

    private static byte[] output(Backend backend, int width) {
      MemorySegment x = MemorySegment.ofArray(new byte[width * width * Double.BYTES]);
      for (int i = 0; i < width * width; i++) {
        ElementType.FLOAT64.set(x, i, i % 127 - 63);
      }
      byte[] y = new byte[(int) x.byteSize()];
      RmsNorm.builder(width)
          .backend(backend)
          .build()
          .apply(
              Rows.of(x, ElementType.FLOAT64, width, width),
              Rows.of(MemorySegment.ofArray(y), ElementType.FLOAT64, width, width));
      return y;
    }
  }

  /** One call with an output of 16 MiB, which must have the bits of plain Java. */
  static final class LongOutput {
    private LongOutput() {}

    public static void main(String[] args) {
      int width = Integer.parseInt(args[2]);
      int rows = (1 << 22) / width;
      float[] numbers = new float[rows * width];
      for (int i = 0; i < numbers.length; i++) {
        numbers[i] = i % 127 - 63;
      }
      float[] expected = new float[numbers.length];
      RmsNorm.builder(width).backend(Backend.scalar()).build().apply(numbers, expected);
      MemorySegment in = MemorySegment.ofArray(numbers);
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment x = memory(args, arena, in.byteSize()).copyFrom(in);
        MemorySegment y = args[0].equals("IN_PLACE") ? x : memory(args, arena, in.byteSize());
        RmsNorm.builder(width)
            .backend(Backend.machineCode(256))
            .build()
            .apply(
                Rows.of(x, ElementType.FLOAT32, rows, width),
                Rows.of(y, ElementType.FLOAT32, rows, width));
        if (y.mismatch(MemorySegment.ofArray(expected)) >= 0) {
          throw new IllegalStateException("other bits than plain Java's");
        }
      }
    }

    private static MemorySegment memory(String[] args, Arena arena, long bytes) {
      return args[0].equals("ARRAY")
          ? MemorySegment.ofArray(new float[(int) (bytes / Float.BYTES)])
          : arena.allocate(bytes + 64, 64).asSlice(Integer.parseInt(args[1]), bytes);
    }
  }
}
