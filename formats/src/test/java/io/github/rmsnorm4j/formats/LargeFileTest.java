package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sizes beyond 2^31 and 2^32, in files that are mostly holes. */
class LargeFileTest {
  private static final long ROWS = (1L << 31) + 5;

  @TempDir Path folder;

  private Path sparse(String name, byte[] header, long dataBytes, byte[] end) throws IOException {
    Path path = folder.resolve(name);
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.write(header);
      file.setLength(header.length + dataBytes);
      file.seek(header.length + dataBytes - end.length);
      file.write(end);
    }
    return path;
  }

  @Test
  void readsTheEndOfALargeNpy() throws IOException {
    NpyHeader header = new NpyHeader(Dtype.F32, ByteOrder.LITTLE_ENDIAN, false, List.of(ROWS, 3L));
    byte[] one = {0, 0, (byte) 0x80, 0x3f};
    try (TensorFile file = TensorFile.open(sparse("a.npy", header.toBytes(), ROWS * 12, one))) {
      Tensor tensor = file.tensors().getFirst();
      assertThat(tensor.rows(-1)).isEqualTo(ROWS);
      assertThat(Values.range(file, tensor, ROWS * 3 - 2, 2)).containsExactly(0, 1);
    }
  }

  /** With one axis of more than one element there is nothing to gather, and so no limit. */
  @Test
  void readsTheEndOfALargeFortranNpy() throws IOException {
    NpyHeader header = new NpyHeader(Dtype.F32, ByteOrder.BIG_ENDIAN, true, List.of(1L, ROWS, 1L));
    byte[] one = {0x3f, (byte) 0x80, 0, 0};
    try (TensorFile file = TensorFile.open(sparse("a.npy", header.toBytes(), ROWS * 4, one))) {
      Tensor tensor = file.tensors().getFirst();
      assertThat(Values.range(file, tensor, ROWS - 4, 4)).containsExactly(0, 0, 0, 1);
    }
  }

  @Test
  void fortranOrderIsReadUpToAGibibyte() throws IOException {
    long rows = 1 << 27;
    NpyHeader largest = new NpyHeader(Dtype.F32, ByteOrder.LITTLE_ENDIAN, true, List.of(rows, 2L));
    TensorFile.open(sparse("a.npy", largest.toBytes(), rows * 8, new byte[1])).close();
    NpyHeader larger =
        new NpyHeader(Dtype.F32, ByteOrder.LITTLE_ENDIAN, true, List.of(rows + 1, 2L));
    Path path = sparse("b.npy", larger.toBytes(), rows * 8 + 8, new byte[1]);
    assertThatThrownBy(() -> TensorFile.open(path))
        .isInstanceOf(FormatException.class)
        .hasMessage(
            path
                + ": has 1073741832 bytes in Fortran order, more than fit into memory: in NumPy, save"
                + " numpy.ascontiguousarray(x)");
  }

  @Test
  void fortranOrderThatDoesNotFitIntoMemoryIsOneError() throws IOException {
    NpyHeader header =
        new NpyHeader(Dtype.F32, ByteOrder.LITTLE_ENDIAN, true, List.of(1L << 25, 2L));
    Path path = sparse("a.npy", header.toBytes(), 1 << 28, new byte[1]);
    assertThat(OpeningProcess.open(path, 1024)).isEqualTo("opened");
    assertThat(OpeningProcess.open(path, 64))
        .endsWith(
            "a.npy: has 268435456 bytes in Fortran order, more than fit into memory: in NumPy, save"
                + " numpy.ascontiguousarray(x)");
  }

  @Test
  void readsTheEndOfALargeSafetensors() throws IOException {
    List<Tensor> tensors =
        List.of(
            new Tensor("a", Dtype.BF16, List.of(ROWS, 2L)),
            new Tensor("b", Dtype.F16, List.of(2L)));
    byte[] header = SafetensorsLayout.of(tensors, Map.of()).header();
    byte[] ones = {(byte) 0x80, 0x3f, 0, 0x3c, 0, 0x40};
    Path path = sparse("a.safetensors", header, ROWS * 4 + 4, ones);
    try (TensorFile file = TensorFile.open(path)) {
      assertThat(Values.range(file, file.tensor("a"), ROWS * 2 - 2, 2)).containsExactly(0, 1);
      assertThat(Values.all(file, file.tensor("b"))).containsExactly(1, 2);
    }
  }
}
