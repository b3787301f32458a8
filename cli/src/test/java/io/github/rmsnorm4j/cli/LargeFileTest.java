package io.github.rmsnorm4j.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.cli.testing.ChildJvm;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.reference.Definitions;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A file of 1 GiB, most of it a hole, in a JVM of its own with a heap of 64 MiB. It takes half a
 * minute:
 *
 * <p>{@code ./mvnw -pl cli -am test -Dtest=LargeFileTest -DexcludedGroups=
 * -Dsurefire.failIfNoSpecifiedTests=false}
 */
@Tag("long")
class LargeFileTest {
  private static final int WIDTH = 4096;
  private static final long ROWS = 65536;
  private static final long[] FILLED = {0, 1, 12345, ROWS - 1};
  private static final int HEADER = 128;

  @TempDir Path folder;

  private Path in;
  private Path out;

  @BeforeEach
  void sparseInput() throws IOException {
    in = folder.resolve("x.npy");
    out = folder.resolve("y.npy");
    String literal =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }".formatted(ROWS, WIDTH);
    ByteBuffer header = ByteBuffer.allocate(HEADER).order(ByteOrder.LITTLE_ENDIAN);
    header.put("\u0093NUMPY\1\0".getBytes(ISO_8859_1)).putShort((short) (HEADER - 10));
    header.put(literal.getBytes(UTF_8));
    while (header.hasRemaining()) {
      header.put((byte) ' ');
    }
    try (RandomAccessFile file = new RandomAccessFile(in.toFile(), "rw")) {
      file.write(header.array());
      file.setLength(HEADER + ROWS * WIDTH * Float.BYTES);
      for (long row : FILLED) {
        ByteBuffer bytes = ByteBuffer.allocate(WIDTH * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (double value : row(row)) {
          bytes.putFloat((float) value);
        }
        file.seek(HEADER + row * WIDTH * Float.BYTES);
        file.write(bytes.array());
      }
    }
  }

  private static double[] row(long row) {
    Random random = new Random(row);
    double[] values = new double[WIDTH];
    Arrays.setAll(values, i -> (float) random.nextGaussian());
    return values;
  }

  private Process start(List<String> wrapper, Object... options) throws IOException {
    Object[] args =
        Stream.concat(Stream.of("normalize", in, "-o", out, "--force"), Arrays.stream(options))
            .toArray();
    List<String> command = ChildJvm.command(Rmsnorm.class, List.of("-Xmx64m"), args);
    return new ProcessBuilder(Stream.concat(wrapper.stream(), command.stream()).toList()).start();
  }

  private Path temporary() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".tmp")).findFirst().orElse(null);
    }
  }

  /** What a process that ends well says; nothing of it on standard output. */
  private static String ended(Process process) throws Exception {
    try {
      String err = new String(process.getErrorStream().readAllBytes(), UTF_8);
      assertThat(process.waitFor()).describedAs(err).isZero();
      assertThat(process.getInputStream().readAllBytes()).isEmpty();
      return err;
    } finally {
      process.destroyForcibly();
    }
  }

  /** Waits until so much has been written that the job is well under way, or for its end. */
  private void awaitWritten(Process process, long bytes) throws Exception {
    while (process.isAlive()) {
      Path temporary = temporary();
      if (temporary != null && temporary.toFile().length() > bytes) {
        return;
      }
      Thread.sleep(1);
    }
    if (process.exitValue() != 0) {
      throw new AssertionError(new String(process.getErrorStream().readAllBytes(), UTF_8));
    }
  }

  /** Whether the job was done before it was stopped: this test may get no processor meanwhile. */
  private boolean wasDone() throws IOException {
    return Files.size(out) == Files.size(in);
  }

  @Test
  void passesThroughASmallHeap() throws Exception {
    assertThat(ended(start(List.of()))).startsWith(out + ": 65536 rows of 4096, f32, ");
    try (TensorFile file = TensorFile.open(out);
        Arena arena = Arena.ofConfined()) {
      Tensor tensor = file.tensors().getFirst();
      MemorySegment piece = arena.allocate(256L * WIDTH * Float.BYTES);
      MemorySegment zeros = arena.allocate(piece.byteSize());
      for (long row = 0; row < ROWS; row += 256) {
        file.read(tensor, row * WIDTH, 256L * WIDTH, piece);
        for (long filled : FILLED) {
          if (filled >= row && filled < row + 256) {
            checkAndClear(filled, piece.asSlice((filled - row) * WIDTH * Float.BYTES));
          }
        }
        assertThat(piece.mismatch(zeros)).describedAs("rows from %d on", row).isEqualTo(-1);
      }
    }
  }

  /** Three files of 1 GiB at once: the rows, added to themselves, and both results. */
  @Test
  void aResidualPassesThroughASmallHeapToo() throws Exception {
    Path sums = folder.resolve("sums.npy");
    List<String> residual = List.of("--residual=" + in, "--residual-out=" + sums);
    assertThat(ended(start(List.of(), residual.toArray())))
        .startsWith(out + ": 65536 rows of 4096, f32 added to f32, ");
    try (TensorFile y = TensorFile.open(out);
        TensorFile sum = TensorFile.open(sums);
        Arena arena = Arena.ofConfined()) {
      MemorySegment row = arena.allocate((long) WIDTH * Float.BYTES);
      for (long filled : FILLED) {
        double[] doubled = Arrays.stream(row(filled)).map(value -> value + value).toArray();
        sum.read(sum.tensors().getFirst(), filled * WIDTH, WIDTH, row);
        assertRow(doubled, 0, row);
        y.read(y.tensors().getFirst(), filled * WIDTH, WIDTH, row);
        assertRow(Definitions.rmsNorm(doubled, null, null, 1e-6), 1e-6f, row);
      }
    }
  }

  /** Back through a norm whose output's gradient is its input, so that DX is about 0. */
  @Test
  void gradientsPassThroughASmallHeapToo() throws Exception {
    Path dgain = folder.resolve("dgain.npy");
    Object[] args = {"gradient", in, "--dy=" + in, "-o", out, "--dgain=" + dgain};
    Process process =
        new ProcessBuilder(ChildJvm.command(Rmsnorm.class, List.of("-Xmx64m"), args)).start();
    assertThat(ended(process)).startsWith(out + ": 65536 rows of 4096, x f32, dy f32, dx f32, ");
    double[] expected = new double[WIDTH];
    for (long filled : FILLED) {
      double[] x = row(filled);
      double[] y = Definitions.rmsNorm(x, null, null, 1e-6);
      Arrays.setAll(expected, i -> expected[i] + x[i] * y[i]);
    }
    try (TensorFile dx = TensorFile.open(out);
        TensorFile sum = TensorFile.open(dgain);
        Arena arena = Arena.ofConfined()) {
      MemorySegment row = arena.allocate((long) WIDTH * Float.BYTES);
      sum.read(sum.tensors().getFirst(), 0, WIDTH, row);
      assertRow(expected, 1e-5f, row);
      for (long filled : FILLED) {
        dx.read(dx.tensors().getFirst(), filled * WIDTH, WIDTH, row);
        assertRow(new double[WIDTH], 1e-5f, row);
      }
    }
  }

  private static void assertRow(double[] expected, float tolerance, MemorySegment actual) {
    for (int i = 0; i < WIDTH; i++) {
      assertThat(actual.getAtIndex(ValueLayout.JAVA_FLOAT, i))
          .isCloseTo((float) expected[i], within(tolerance));
    }
  }

  private static void checkAndClear(long row, MemorySegment actual) {
    assertRow(Definitions.rmsNorm(row(row), null, null, 1e-6), 1e-6f, actual);
    actual.asSlice(0, (long) WIDTH * Float.BYTES).fill((byte) 0);
  }

  /** Ctrl-C and SIGTERM; env undoes what a background job inherits, which is to be deaf to one. */
  @Test
  void stoppedItLeavesWhatWasThere() throws Exception {
    for (String signal : List.of("INT", "TERM")) {
      int status;
      do {
        Files.writeString(out, "old");
        Process process = start(List.of("env", "--default-signal=INT"));
        awaitWritten(process, 8 << 20);
        new ProcessBuilder("kill", "-" + signal, "" + process.pid()).start().waitFor();
        status = process.waitFor();
      } while (wasDone());
      assertThat(status).isEqualTo(signal.equals("INT") ? 130 : 143);
      assertThat(out).hasContent("old");
      assertThat(temporary()).isNull();
    }
  }

  @Test
  void killedItLeavesWhatWasThere() throws Exception {
    Random random = new Random(3);
    for (int kill = 0; kill < 4; kill++) {
      do {
        Files.writeString(out, "old");
        Process process = start(List.of());
        awaitWritten(process, random.nextInt(64 << 20));
        process.destroyForcibly().waitFor();
      } while (wasDone());
      assertThat(out).hasContent("old");
      Files.move(temporary(), folder.resolve("leftover"), StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /** A limit on the size of files fails a write as a full disk does. */
  @Test
  void onAFullDiskItLeavesWhatWasThere() throws Exception {
    Files.writeString(out, "old");
    Process process = start(List.of("bash", "-c", "ulimit -f 20000 && exec \"$@\"", "bash"));
    assertThat(new String(process.getErrorStream().readAllBytes(), UTF_8))
        .isEqualToIgnoringNewLines("rmsnorm normalize: " + out + ": cannot write: File too large");
    assertThat(process.waitFor()).isEqualTo(1);
    assertThat(out).hasContent("old");
    assertThat(temporary()).isNull();
  }
}
