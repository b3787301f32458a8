package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.cuda.driver.StubDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CudaRowsTest {
  private static final long BYTES = 1200;

  private final Arena arena = Arena.ofShared();
  private CudaDevice device;
  private CudaMemory memory;

  @BeforeEach
  void open() {
    device = CudaSystem.look(StubDriver.fresh().library()).open().orElseThrow();
    memory = device.allocate(BYTES, arena);
  }

  @AfterEach
  void close() {
    arena.close();
    if (device != null) {
      device.close();
    }
  }

  /** The same rows, or the same exception. */
  @Test
  void rowsOfADeviceAreCheckedAsRowsOfTheHost() {
    MemorySegment host = arena.allocate(BYTES);
    long[] counts = {-1, 0, 1, 3, 75, 76, 1L << 40, Long.MAX_VALUE};
    int[] widths = {-1, 0, 1, 4, 150, 300, 301, Integer.MAX_VALUE};
    long[] strides = {-1, 0, 4, 5, 150, 1L << 62, Long.MAX_VALUE};
    int refused = 0;
    int made = 0;
    for (ElementType type : ElementType.values()) {
      for (long rows : counts) {
        for (int width : widths) {
          Throwable whole = compare(host, type, rows, width, width);
          refused += whole == null ? 0 : 1;
          made += whole == null ? 1 : 0;
          for (long stride : strides) {
            compare(host, type, rows, width, stride);
          }
        }
      }
    }
    assertThat(refused).isGreaterThan(100);
    assertThat(made).isGreaterThan(30);
  }

  private Throwable compare(
      MemorySegment host, ElementType type, long rows, int width, long stride) {
    boolean whole = stride == width;
    Throwable expected =
        catchThrowable(
            () -> {
              Rows on = Rows.of(host, type, rows, width, stride);
              CudaRows made =
                  whole
                      ? CudaRows.of(memory, type, rows, width)
                      : CudaRows.of(memory, type, rows, width, stride);
              assertThat(made).hasToString(on.toString());
              assertThat(made.type()).isEqualTo(on.type());
              assertThat(made.rows()).isEqualTo(on.rows());
              assertThat(made.width()).isEqualTo(on.width());
              assertThat(made.rowStride()).isEqualTo(on.rowStride());
              assertThat(made.memory().byteSize()).isEqualTo(on.segment().byteSize());
              assertThat(made.memory().address()).isEqualTo(memory.address());
            });
    if (expected != null) {
      assertThatThrownBy(
              () -> {
                if (whole) {
                  CudaRows.of(memory, type, rows, width);
                } else {
                  CudaRows.of(memory, type, rows, width, stride);
                }
              })
          .isInstanceOf(expected.getClass())
          .hasMessage(expected.getMessage());
    }
    return expected;
  }

  @Test
  void elementsMustBeAligned() {
    assertThat(CudaRows.of(memory.asSlice(8), ElementType.FLOAT32, 2, 3).memory().address())
        .isEqualTo(memory.address() + 8);
    assertThat(CudaRows.of(memory.asSlice(2), ElementType.BFLOAT16, 2, 3).rows()).isEqualTo(2);
    assertThatThrownBy(() -> CudaRows.of(memory.asSlice(2), ElementType.FLOAT32, 2, 3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "the rows begin at address 0x%x, float32 elements must begin at a multiple of 4"
                .formatted(memory.address() + 2));
  }

  @Test
  void nothingIsNamed() {
    assertThatThrownBy(() -> CudaRows.of(null, ElementType.FLOAT32, 1, 1))
        .isInstanceOf(NullPointerException.class)
        .hasMessage("memory is null");
    assertThatThrownBy(() -> CudaRows.of(memory, null, 1, 1))
        .isInstanceOf(NullPointerException.class)
        .hasMessage("type is null");
  }
}
