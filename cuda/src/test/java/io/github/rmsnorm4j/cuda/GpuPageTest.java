package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cuda.driver.StubDriver;
import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** docs/gpu.md: its lines of Java do what it says, and kept results of GPUs have no difference. */
class GpuPageTest {
  private static final Path PAGE = Path.of("..", "docs", "gpu.md");
  private static final Pattern JAVA = Pattern.compile("(?s)```java\n(.*?)```");

  /** The lines of each block, what they use, and what they must have done. */
  private static final String PROGRAM =
      """
      package io.github.rmsnorm4j.cuda;

      import io.github.rmsnorm4j.*;
      import io.github.rmsnorm4j.cuda.driver.StubDriver;
      import java.lang.foreign.*;
      import java.util.Arrays;

      public class Lines {
        static float[] numbers(int length) {
          float[] numbers = new float[length];
          for (int i = 0; i < length; i++) {
            numbers[i] = (i * 7 %% 31 - 15) / 8f + 0.01f;
          }
          return numbers;
        }

        static CudaRows rows(CudaDevice device, Arena arena, float[] numbers, int rows) {
          CudaMemory memory = device.allocate(4L * numbers.length, arena);
          memory.copyFrom(MemorySegment.ofArray(numbers));
          return CudaRows.of(memory, ElementType.FLOAT32, rows, numbers.length / rows);
        }

        static void same(CudaRows there, float[] wanted, String what) {
          float[] numbers = new float[wanted.length];
          there.memory().copyTo(MemorySegment.ofArray(numbers));
          if (!Arrays.equals(numbers, wanted)) {
            throw new AssertionError(what);
          }
        }

        static void first() {
          float[] gain = numbers(4096), hidden = numbers(2 * 4096), y = new float[2 * 4096];
          RmsNorm.builder(4096).epsilon(1e-5).gain(gain).build().apply(hidden, y);
          %s
          if (!Arrays.equals(hidden, y)) {
            throw new AssertionError("the first call");
          }
        }

        static void copies(StubDriver stub) {
          float[] gain = numbers(64), hidden = numbers(3 * 64), wanted = new float[3 * 64];
          RmsNorm cpu = RmsNorm.builder(64).gain(gain).build();
          cpu.apply(hidden, wanted);
          stub.lazy();
          try (CudaDevice device = CudaDevice.open().orElseThrow();
              CudaStream copies = device.stream();
              CudaStream kernels = device.stream();
              CudaEvent arrived = device.event();
              CudaEvent normalized = device.event();
              Arena arena = Arena.ofConfined()) {
            CudaNorm norm = device.norm(cpu, arena);
            CudaRows x = rows(device, arena, new float[hidden.length], 3);
            CudaRows y = rows(device, arena, new float[hidden.length], 3);
            CudaMemory memory = x.memory(), result = y.memory();
            %s
            float[] numbers = pinned.toArray(ValueLayout.JAVA_FLOAT);
            if (!Arrays.equals(numbers, wanted)) {
              throw new AssertionError("copies beside kernels");
            }
          }
        }

        static void parameters() {
          int rows = 6, width = 40;
          float[] in = numbers(rows * width), scales = numbers(3 * width), shifts = scales.clone();
          Norm cpu =
              LayerNorm.builder(width)
                  .gainOffset(1)
                  .build()
                  .withParameters(Rows.of(scales, width), Rows.of(shifts, width));
          float[] yOfCpu = new float[in.length], dxOfCpu = new float[in.length];
          float[] dscaleOfCpu = new float[3 * width], dshiftOfCpu = new float[3 * width];
          Saved kept = new Saved(Keep.INPUT, rows);
          Rows inOfCpu = Rows.of(in, width);
          cpu.apply(inOfCpu, Rows.of(yOfCpu, width), kept);
          ParameterGradients both = ParameterGradients.assigned(dscaleOfCpu, dshiftOfCpu);
          cpu.backward(inOfCpu, kept, Rows.of(dxOfCpu, width), both);
          try (CudaDevice device = CudaDevice.open().orElseThrow();
              CudaStream stream = device.stream();
              Arena arena = Arena.ofConfined()) {
            CudaRows x = rows(device, arena, in, rows), dy = rows(device, arena, in, rows);
            CudaRows y = rows(device, arena, in, rows), dx = rows(device, arena, in, rows);
            CudaRows scale = rows(device, arena, scales, 3);
            CudaRows shift = rows(device, arena, shifts, 3);
            CudaRows dscale = rows(device, arena, scales, 3);
            CudaRows dshift = rows(device, arena, scales, 3);
            %s
            same(y, yOfCpu, "y");
            same(dx, dxOfCpu, "dx");
            same(dscale, dscaleOfCpu, "dscale");
            same(dshift, dshiftOfCpu, "dshift");
          }
        }

        static void gradients() {
          int rows = 40, width = 33;
          float[] in = numbers(rows * width), gain = numbers(width);
          RmsNorm cpu = RmsNorm.builder(width).gain(gain).build();
          float[] yOfCpu = new float[in.length], dxOfCpu = new float[in.length];
          float[] dgainOfCpu = new float[width];
          Saved kept = new Saved(Keep.INPUT, rows);
          Rows inOfCpu = Rows.of(in, width);
          cpu.apply(inOfCpu, Rows.of(yOfCpu, width), kept);
          ParameterGradients ofGain = ParameterGradients.assigned(dgainOfCpu, null);
          cpu.backward(inOfCpu, kept, Rows.of(dxOfCpu, width), ofGain);
          try (CudaDevice device = CudaDevice.open().orElseThrow();
              CudaStream stream = device.stream();
              Arena arena = Arena.ofConfined()) {
            CudaNorm norm = device.norm(cpu, arena);
            CudaRows x = rows(device, arena, in, rows), dy = rows(device, arena, in, rows);
            CudaRows y = rows(device, arena, in, rows), dx = rows(device, arena, in, rows);
            CudaRows dgain = rows(device, arena, gain, 1);
            %s
            same(y, yOfCpu, "y");
            same(dx, dxOfCpu, "dx");
            same(dgain, dgainOfCpu, "dgain");
          }
        }

        static void codes() {
          int rows = 3;
          float[] in = numbers(rows * 4096), gain = numbers(4096), scalesOfCpu = new float[rows];
          byte[] codesOfCpu = new byte[in.length], codesThere = new byte[in.length];
          try (CudaDevice device = CudaDevice.open().orElseThrow();
              CudaStream stream = device.stream();
              Arena arena = Arena.ofConfined()) {
            CudaRows x = rows(device, arena, in, rows);
            %s
            Rows inOfCpu = Rows.of(in, 4096);
            llama.apply(inOfCpu, null, QuantizedRows.of(codesOfCpu, scalesOfCpu, type, 4096));
            same(CudaRows.of(scales, ElementType.FLOAT32, 1, rows), scalesOfCpu, "scales");
            codes.copyTo(MemorySegment.ofArray(codesThere));
            if (!Arrays.equals(codesThere, codesOfCpu)) {
              throw new AssertionError("codes");
            }
          }
        }

        public static String run() throws Throwable {
          StubDriver stub = InterpretedDevice.behind(StubDriver.fresh());
          System.setProperty("rmsnorm4j.cuda.library", stub.library());
          try {
            first();
            gradients();
            copies(stub);
            parameters();
            codes();
          } finally {
            System.clearProperty("rmsnorm4j.cuda.library");
          }
          stub.rethrow();
          return stub.leaks();
        }
      }
      """;

  @TempDir private Path directory;

  /** The page says that bits are the CPU's: so no kept result may have a difference. */
  @Test
  void noKeptResultHasADifference() throws Exception {
    List<Path> kept;
    try (Stream<Path> files = Files.list(PAGE.resolveSibling("benchmarks"))) {
      kept =
          files.filter(file -> file.getFileName().toString().matches("nvidia-.*\\.json")).toList();
    }
    assertThat(kept).isNotEmpty();
    for (Path file : kept) {
      String results = Files.readString(file);
      if (!results.contains("\"bits\" : null")) { // Times alone.
        assertThat(results).contains("\"differences\" : []");
      }
      assertThat(results).doesNotContain("\"difference\" : \"");
    }
  }

  @Test
  void theLinesOfJavaDoWhatTheySay() throws Exception {
    StubDriver.fresh(); // skips the test where there is no gcc
    List<String> blocks =
        JAVA.matcher(Files.readString(PAGE)).results().map(block -> block.group(1)).toList();
    assertThat(blocks).hasSize(5);
    Path source = directory.resolve("Lines.java");
    Files.writeString(source, PROGRAM.formatted(blocks.toArray()));
    StringWriter messages = new StringWriter();
    PrintWriter out = new PrintWriter(messages);
    String path = System.getProperty("java.class.path");
    int status =
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(out, out, "-cp", path, "-d", directory.toString(), source.toString());
    assertThat(status).as(messages.toString()).isZero();
    // Classes of their own, as the driver is looked for once for a class.
    List<URL> classes = new ArrayList<>(List.of(directory.toUri().toURL()));
    for (String of : path.split(File.pathSeparator)) {
      classes.add(Path.of(of).toUri().toURL());
    }
    try (URLClassLoader loader =
        new URLClassLoader(classes.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      Object leaks =
          loader.loadClass("io.github.rmsnorm4j.cuda.Lines").getMethod("run").invoke(null);
      assertThat(leaks).isEqualTo("");
    }
  }
}
