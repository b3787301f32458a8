package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.ElementType.FLOAT64;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Rows in a mapped file that somebody cuts short, in a JVM of its own: that JVM might die. */
class TruncatedFileTest {
  private static final int WIDTH = 512;

  @Test
  @EnabledOnOs(OS.LINUX)
  void aTruncatedMappedFileIsAnExceptionAndNotTheEndOfTheJvm(@TempDir Path folder)
      throws Exception {
    List<String> flags =
        ChildJvm.flags("-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=" + folder.resolve("crash"));
    String output = ChildJvm.output(flags, Truncation.class, folder.toString());
    assertThat(output).contains("48 calls ended with an InternalError");
  }

  /** Norms on mapped files that lose their end before or during a call. */
  static final class Truncation {
    private static final int BYTES = 4 << 20;

    private Truncation() {}

    public static void main(String[] args) throws Exception {
      int calls = 0;
      for (ElementType type : new ElementType[] {FLOAT32, FLOAT64, BFLOAT16}) {
        for (int threads : new int[] {1, 3}) {
          for (boolean output : new boolean[] {false, true}) {
            for (boolean during : new boolean[] {false, true}) {
              for (boolean quantized : new boolean[] {false, true}) {
                Path file = Path.of(args[0], "mapped-" + calls++);
                meetTheEnd(file, type, threads, output, during, quantized);
              }
            }
          }
        }
      }
      System.out.println(calls + " calls ended with an InternalError");
    }

    /** Calls a norm until it has met the end, as it has to. */
    private static void meetTheEnd(
        Path file, ElementType type, int threads, boolean output, boolean during, boolean quantized)
        throws Exception {
      try (Arena arena = Arena.ofShared()) {
        int rows = BYTES / type.bytes() / WIDTH;
        Rows mapped = Rows.of(MemoryAccessTest.map(file, BYTES, arena), type, rows, WIDTH);
        Rows other = Rows.of(arena.allocate(BYTES), type, rows, WIDTH);
        QuantizedRows codes =
            QuantizedRows.of(
                output ? mapped.segment() : arena.allocate(BYTES),
                arena.allocate(BYTES),
                QuantizedType.int8(32),
                rows,
                WIDTH);
        RmsNorm norm = RmsNorm.builder(WIDTH).threads(threads).build();
        Rows x = output ? other : mapped;
        Rows y = output ? mapped : other;
        Runnable call = quantized ? () -> norm.apply(x, null, codes) : () -> norm.apply(x, y);
        if (during) {
          call.run(); // The next one takes no time to begin.
          Thread.ofPlatform().start(() -> truncate(file));
        } else {
          truncate(file);
        }
        while (true) {
          call.run();
        }
      } catch (InternalError e) {
        // It has met the end.
      }
    }

    private static void truncate(Path file) {
      try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
        open.setLength(8192);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
