package io.github.rmsnorm4j.internal.quantized;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Machine code writes to the memory of the caller only if no byte of it can be missing. */
class CodeMemoryTest {
  private static final int WIDTH = 64;
  private static final int ROW = 68;

  private static CodeMemory memory(MemorySegment codes, long stride) {
    CodeFormat format = new CodeFormat(CodeLayout.Q8_0, 32, null, false);
    return new CodeMemory(format, WIDTH, codes, stride, null, 0, 0);
  }

  @Test
  void arraysAndNativeMemoryAreDirect() {
    try (Arena arena = Arena.ofConfined()) {
      assertThat(memory(arena.allocate(3 * ROW), ROW).isDirect(3)).isTrue();
      assertThat(memory(MemorySegment.ofArray(new byte[3 * ROW]), ROW).isDirect(3)).isTrue();
    }
  }

  @Test
  void rowsThatAreApartAreDirectOneByOne() {
    CodeMemory apart = memory(MemorySegment.ofArray(new byte[3 * ROW + 2]), ROW + 1);
    assertThat(apart.isDirect(1)).isTrue();
    assertThat(apart.isDirect(2)).isFalse();
  }

  @Test
  void aFileIsNotDirect(@TempDir Path folder) throws IOException {
    try (FileChannel file =
            FileChannel.open(
                folder.resolve("codes"),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        Arena arena = Arena.ofConfined()) {
      MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, 3 * ROW, arena);
      assertThat(memory(mapped, ROW).isDirect(1)).isFalse();
    }
  }
}
