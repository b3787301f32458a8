package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Quantizer;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.formats.testing.GgufBytes;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class DequantizedFileTest {
  @TempDir Path folder;

  static Stream<QuantizedType> types() {
    return QuantizedType.all().stream().filter(type -> !type.toString().endsWith(":given"));
  }

  /** Writes rows of drawn numbers, and returns them as they are after that. */
  private static float[] write(Path path, QuantizedType type, int rows, int width)
      throws IOException {
    QuantizedTensor tensor = new QuantizedTensor("h", type, List.of((long) rows, (long) width));
    SplittableRandom random = new SplittableRandom(width);
    float[] x = new float[rows * width];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment codes = arena.allocate(tensor.codes().bytes());
      MemorySegment scales = arena.allocate(tensor.scales().map(Tensor::bytes).orElse(0L), 4);
      QuantizedRows q =
          tensor.scales().isEmpty()
              ? QuantizedRows.of(codes, type, rows, width)
              : QuantizedRows.of(codes, scales, type, rows, width);
      Quantizer.defaults().quantize(Rows.of(x, width), q);
      q.dequantize(Rows.of(x, width));
      List<Tensor> tensors =
          Stream.concat(Stream.of(tensor.codes()), tensor.scales().stream()).toList();
      Map<String, String> metadata = Map.ofEntries(tensor.metadata());
      try (TensorWriter writer = TensorWriter.create(path, tensors, metadata, true)) {
        for (Tensor next : writer.order()) {
          writer.write(next.equals(tensor.codes()) ? codes : scales);
        }
        writer.commit();
      }
    }
    return x;
  }

  @ParameterizedTest
  @MethodSource("types")
  void anyRangeIsReadAsTheLibraryReadsTheWhole(QuantizedType type) throws IOException {
    Path path = folder.resolve("q.safetensors");
    // More elements than a piece has; one row of them, where the row is the block.
    for (int width : new int[] {256, 70_400}) {
      int rows = width == 256 ? 500 : 2;
      int whole = width / type.block(width) * type.block(width);
      float[] wanted = write(path, type, rows, whole);
      SplittableRandom random = new SplittableRandom(3);
      try (DequantizedFile file = DequantizedFile.open(path);
          Arena arena = Arena.ofConfined()) {
        Tensor tensor = file.tensor("h");
        assertThat(file.tensors()).containsExactly(tensor);
        assertThat(tensor.shape()).containsExactly((long) rows, (long) whole);
        assertThat(file.type(tensor)).contains(type);
        MemorySegment into = arena.allocate(wanted.length * 4L, 4);
        for (int k = 0; k < 50; k++) {
          int first = k == 0 ? 0 : random.nextInt(wanted.length);
          int count = k == 0 ? wanted.length : random.nextInt(wanted.length - first + 1);
          count = k % 2 == 0 ? count : Math.min(count, 40);
          file.read(tensor, first, count, into);
          for (int i = 0; i < count; i++) {
            assertThat(into.getAtIndex(ValueLayout.JAVA_FLOAT, i)).isEqualTo(wanted[first + i]);
          }
        }
      }
    }
  }

  @Test
  void aTensorOfTheSameNameIsNotRead() throws IOException {
    Path path = folder.resolve("q.safetensors");
    write(path, QuantizedType.Q8_0, 2, 32);
    try (DequantizedFile file = DequantizedFile.open(path)) {
      for (Dtype dtype : List.of(Dtype.F32, Dtype.F16)) {
        Tensor stranger = new Tensor("h", dtype, List.of(1L, 32L));
        assertThatIllegalArgumentException().isThrownBy(() -> Values.all(file, stranger));
      }
    }
  }

  @Test
  void otherTensorsAreAsStored() throws IOException {
    Path path = folder.resolve("x.safetensors");
    Tensor first = new Tensor("first", Dtype.F32, List.of(1L));
    Tensor tensor = new Tensor("x", Dtype.F32, List.of(2L));
    Map<String, String> metadata = Map.of("format", "pt");
    try (TensorWriter writer = TensorWriter.create(path, List.of(first, tensor), metadata, true)) {
      writer.write(MemorySegment.ofArray(GgufBytes.floats(7, -2.5f, 3)));
      writer.commit();
    }
    try (DequantizedFile file = DequantizedFile.open(path)) {
      assertThat(file.tensors()).containsExactly(first, tensor);
      assertThat(file.metadata()).isEqualTo(metadata);
      assertThat(file.type(tensor)).isEmpty();
      assertThat(Values.all(file, tensor)).containsExactly(-2.5, 3);
      byte[] bytes = new byte[8];
      file.readBytes(tensor, 0, MemorySegment.ofArray(bytes));
      assertThat(bytes).isEqualTo(GgufBytes.floats(-2.5f, 3));
    }
  }

  /** Other programs know the types of codes by these names. */
  @ParameterizedTest
  @CsvSource({
    "int8:row, I8, 64",
    "int8:32, I8, 64",
    "f8e4m3:row, F8_E4M3, 64",
    "f8e5m2:32, F8_E5M2, 64",
    "q8_0, U8, 68",
  })
  void codesHaveTheTypeOfTheirFormat(String type, Dtype dtype, long last) {
    QuantizedTensor tensor = new QuantizedTensor("x", QuantizedType.ofName(type), List.of(2L, 64L));
    assertThat(tensor.codes()).isEqualTo(new Tensor("x", dtype, List.of(2L, last)));
  }

  @Test
  void closesTheFile() throws IOException {
    Path path = folder.resolve("q.safetensors");
    write(path, QuantizedType.Q8_0, 2, 32);
    OpenFiles.assertNoneIsLeftBy(() -> DequantizedFile.open(path).close());
    Tensor codes = new Tensor("x", Dtype.U8, List.of(35L));
    try (TensorWriter writer =
        TensorWriter.create(path, List.of(codes), Map.of("quantized.x", "q8_0"), true)) {
      writer.write(MemorySegment.ofArray(new byte[35]));
      writer.commit();
    }
    OpenFiles.assertNoneIsLeftBy(
        () ->
            assertThatThrownBy(() -> DequantizedFile.open(path))
                .isInstanceOf(FormatException.class));
  }

  /** Without rows there is no byte, and the elements would be of more than 2^63 bytes. */
  @Test
  void elementsWhoseBytesOverflow64BitsAreOneError() throws IOException {
    Path path = folder.resolve("x.safetensors");
    Tensor tensor = new Tensor("x", Dtype.U8, List.of(0L, 1L << 57, 34L));
    Map<String, String> metadata = Map.of("quantized.x", "q8_0");
    try (TensorWriter writer = TensorWriter.create(path, List.of(tensor), metadata, true)) {
      writer.commit();
    }
    assertThatThrownBy(() -> DequantizedFile.open(path))
        .isInstanceOf(FormatException.class)
        .hasMessage(
            path
                + ": says that the tensor x is quantized as q8_0, but has the shape"
                + " [0, 144115188075855872, 32], whose size in bytes overflows 64 bits");
  }

  @Test
  void scalesAreThoseOfCodesThatAreThere() throws IOException {
    Path path = folder.resolve("x.safetensors");
    List<Tensor> tensors =
        List.of(
            new Tensor("a", Dtype.I8, List.of(2L, 32L)),
            new Tensor("a.scale", Dtype.F32, List.of(2L, 1L)),
            new Tensor("b.scale", Dtype.F32, List.of(2L, 1L)),
            new Tensor("c", Dtype.I8, List.of(2L, 32L)),
            new Tensor("c.scale", Dtype.F32, List.of(2L, 1L)));
    Map<String, String> metadata = Map.of("quantized.a", "int8:32", "quantized.b", "int8:32");
    try (TensorWriter writer = TensorWriter.create(path, tensors, metadata, true)) {
      for (Tensor tensor : writer.order()) {
        writer.write(MemorySegment.ofArray(new byte[(int) tensor.bytes()]));
      }
      writer.commit();
    }
    try (DequantizedFile file = DequantizedFile.open(path)) {
      assertThat(QuantizedTensor.scales(file.stored())).containsExactly("a.scale");
      assertThat(file.tensors())
          .extracting(Tensor::name)
          .containsExactly("a", "b.scale", "c", "c.scale");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "q9; U8; 34; type is 'q9', it may be one of [",
        "q8_0; U8; 35; the file has no such codes and scales",
        "q8_0; U8; 0; rows are 0 wide, for q8_0 they must be a multiple of 32",
        "q8_0; I8; 34; rows are 34 wide, for q8_0 they must be a multiple of 32",
        "int8:32; I8; 32; the file has no such codes and scales",
        "int8:32; U8; 32; the file has no such codes and scales",
        "f8e4m3:given; F8_E4M3; 32; a file has no place for the scale of f8e4m3:given",
      })
  void metadataThatIsNotTrueIsOneError(String type, Dtype dtype, long last, String why)
      throws IOException {
    Path path = folder.resolve("x.safetensors");
    Tensor tensor = new Tensor("x", dtype, List.of(2L, last));
    try (TensorWriter writer =
        TensorWriter.create(path, List.of(tensor), Map.of("quantized.x", type), true)) {
      writer.write(MemorySegment.ofArray(new byte[(int) tensor.bytes()]));
      writer.commit();
    }
    assertThatThrownBy(() -> DequantizedFile.open(path))
        .isInstanceOf(FormatException.class)
        .hasMessageStartingWith(
            path + ": says that the tensor x is quantized as " + type + ", but " + why);
  }

  @Test
  void rowsAreWholeBlocks() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new QuantizedTensor("x", QuantizedType.Q8_K, List.of(2L, 300L)))
        .withMessage("rows are 300 wide, for q8_k they must be a multiple of 256");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new QuantizedTensor("x", QuantizedType.Q8_0, List.of()))
        .withMessage("rows are 0 wide, for q8_0 they must be a multiple of 32");
  }
}
