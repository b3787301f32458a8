package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A dx of 16 MiB and more goes past the caches if it is aligned and not over dy. Without gradients
 * of gain and bias it need not be aligned. All have the bits of plain Java.
 */
class LongGradientsTest {
  private static final int[] OFFSETS = {0, 4, 64};

  @ParameterizedTest
  @CsvSource({
    "FLOAT32, 4096, 1024, true",
    "FLOAT32, 4112, 1024, true",
    "FLOAT32, 2081, 2040, false",
    "FLOAT32, 64, 65536, false",
    "BFLOAT16, 4096, 2048, false",
    "FLOAT16, 4096, 2048, true"
  })
  void haveTheBitsOfPlainJava(ElementType type, int width, int rows, boolean centred) {
    long bytes = (long) rows * width * type.bytes();
    try (Arena arena = Arena.ofConfined()) {
      Call call = new Call(type, width, centred, drawn(arena, bytes, 1), drawn(arena, bytes, 3));
      MemorySegment wanted = arena.allocate(bytes, 64);
      float[] gain = call.run(Backend.scalar(), call.dy, wanted);
      MemorySegment memory = arena.allocate(bytes + 64, 64);
      for (Backend backend : Backends.machineCode()) {
        for (int offset : OFFSETS) {
          MemorySegment dx = memory.asSlice(offset, bytes);
          assertThat(call.run(backend, call.dy, dx)).as("%s, %d", backend, offset).isEqualTo(gain);
          assertThat(dx.mismatch(wanted)).as("%s, offset %d", backend, offset).isEqualTo(-1);
          dx.fill((byte) 0);
          call.run(backend, call.dy, dx, null);
          assertThat(dx.mismatch(wanted)).as("%s, offset %d, alone", backend, offset).isEqualTo(-1);
        }
        MemorySegment inPlace = memory.asSlice(0, bytes).copyFrom(call.dy);
        assertThat(call.run(backend, inPlace, inPlace)).as("%s, in place", backend).isEqualTo(gain);
        assertThat(inPlace.mismatch(wanted)).as("%s, in place", backend).isEqualTo(-1);
      }
    }
  }

  /** Their kernel goes past the caches where dx has 16 MiB, and not where it has less. */
  @ParameterizedTest
  @CsvSource({"1024, true", "1023, false"})
  void goPastTheCaches(int rows, boolean streams, @TempDir Path kernels) throws Exception {
    assumeThat(Backends.machineCode()).as("there is no machine code here").isNotEmpty();
    ProcessBuilder builder =
        ChildJvm.program(ChildJvm.flags(), Program.class, String.valueOf(rows));
    builder.environment().put("RMSNORM_KERNELS", kernels.toString());
    ChildJvm child = ChildJvm.run(builder);
    assertThat(child.status()).as(child.output()).isZero();
    try (Stream<Path> files = Files.list(kernels)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .filteredOn(name -> name.contains("dx_float32"))
          .hasSize(1)
          .allMatch(name -> name.contains("dx_float32_streaming_machine_256") == streams);
    }
  }

  /** One backward call of rows with 4096 elements. */
  static final class Program {
    private Program() {}

    public static void main(String[] args) {
      int width = 4096;
      long bytes = 4L * width * Integer.parseInt(args[0]);
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment x = arena.allocate(bytes, 64);
        Call call = new Call(ElementType.FLOAT32, width, false, x, arena.allocate(bytes, 64));
        call.run(Backend.machineCode(256), call.dy, arena.allocate(bytes, 64));
      }
    }
  }

  private static MemorySegment drawn(Arena arena, long bytes, int factor) {
    MemorySegment segment = arena.allocate(bytes, 64);
    for (long i = 0; i < bytes / Short.BYTES; i++) {
      segment.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) (i * factor * 40_503 & 0xbfff));
    }
    return segment;
  }

  private record Call(
      ElementType type, int width, boolean centred, MemorySegment x, MemorySegment dy) {
    private int rows() {
      return Math.toIntExact(x.byteSize() / type.bytes() / width);
    }

    private Rows rows(MemorySegment segment) {
      return Rows.of(segment, type, rows(), width);
    }

    private <B extends NormBuilder<B>> Norm norm(B builder, Backend backend) {
      return builder.threads(2).backend(backend).build();
    }

    /** Gives back the gradient of the gain. */
    float[] run(Backend backend, MemorySegment dy, MemorySegment dx) {
      float[] gain = new float[width];
      run(backend, dy, dx, ParameterGradients.assigned(gain, null));
      return gain;
    }

    void run(Backend backend, MemorySegment dy, MemorySegment dx, ParameterGradients gradients) {
      Norm norm =
          centred
              ? norm(LayerNorm.builder(width), backend)
              : norm(RmsNorm.builder(width).gain(gain()), backend);
      Saved saved = new Saved(Keep.INPUT, rows());
      try (Arena arena = Arena.ofConfined()) {
        norm.apply(rows(x), rows(arena.allocate(x.byteSize(), 64)), saved);
        norm.backward(rows(dy), saved, rows(dx), gradients);
      }
    }

    private float[] gain() {
      float[] gain = new float[width];
      for (int i = 0; i < width; i++) {
        gain[i] = 1 + i % 7 / 8f;
      }
      return gain;
    }
  }
}
