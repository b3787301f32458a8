package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.testing.GgufBytes;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NpyFileTest {
  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "f4.npy             | F32 | [2, 3]",
        "f2.npy             | F16 | [5]",
        "f8.npy             | F64 | [2, 1, 3]",
        "scalar.npy         | F32 | []",
        "empty.npy          | F32 | [0, 3]",
        "long.npy           | F16 | [1000, 2]",
        "f4_big.npy         | F32 | [2, 3]",
        "f2_big.npy         | F16 | [5]",
        "f8_big.npy         | F64 | [2, 1, 3]",
        "f4_fortran.npy     | F32 | [2, 3, 4]",
        "f8_fortran_big.npy | F64 | [3, 5]",
        "v2.npy             | F32 | [2, 3]",
        "v3.npy             | F32 | [2, 3]",
      })
  void readsWhatNumPyWrites(String name, Dtype dtype, String shape) throws IOException {
    try (TensorFile file = TensorFile.open(TestFiles.golden(name, folder))) {
      assertThat(file.metadata()).isEmpty();
      Tensor tensor = file.tensors().getFirst();
      assertThat(file.tensors()).hasSize(1);
      assertThat(tensor.dtype()).isEqualTo(dtype);
      assertThat(tensor.shape()).hasToString(shape);
      assertThat(Values.all(file, tensor)).isEqualTo(Values.ramp((int) tensor.elements()));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"f4.npy", "f2.npy", "f8.npy", "scalar.npy", "empty.npy", "long.npy"})
  void writesTheBytesThatNumPyWrites(String name) throws IOException {
    byte[] golden = TestFiles.golden(name);
    Path copy = folder.resolve("copy.npy");
    try (TensorFile file = TensorFile.open(TestFiles.golden(name, folder));
        TensorWriter writer = TensorWriter.create(copy, file.tensors(), Map.of(), false)) {
      Tensor tensor = file.tensors().getFirst();
      MemorySegment piece = MemorySegment.ofArray(new byte[(int) tensor.bytes()]);
      file.readBytes(tensor, 0, piece);
      writer.write(piece);
      writer.commit();
    }
    assertThat(copy).hasBinaryContent(golden);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'descr':'<f4','fortran_order':False,'shape':(2,3)}",
        "{'shape': (2, 3,), 'descr': \"<f4\", 'fortran_order': False}\n",
        "  { 'fortran_order' : False,\n 'shape' : ( 2L , 3L ) , 'descr' : 'f4' , } \t\n",
        "{'descr': '=f4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '|f4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 6, 1)}",
      })
  void acceptsOtherSpellingsOfTheSameLiteral(String literal) throws IOException {
    Path path = Files.write(folder.resolve("a.npy"), TestFiles.npy(literal, 24));
    try (TensorFile file = TensorFile.open(path)) {
      assertThat(file.tensors().getFirst().elements()).isEqualTo(6);
      assertThat(file.tensors().getFirst().dtype()).isEqualTo(Dtype.F32);
    }
  }

  /** The names and letters of numpy.dtype. A letter may have a byte order, a name may not. */
  @ParameterizedTest
  @CsvSource({
    "float16, F16",
    "half, F16",
    "e, F16",
    "<e, F16",
    "float32, F32",
    "single, F32",
    "f, F32",
    "=f, F32",
    "float64, F64",
    "double, F64",
    "float, F64",
    "d, F64",
    "|d, F64",
  })
  void readsTheNamesOfTypesThatNumPyReads(String name, Dtype dtype) throws IOException {
    byte[] data = new byte[dtype.bits() / 8];
    data[data.length - 1] = 0x40; // 2.0
    byte[] content = GgufBytes.join(TestFiles.npy(TestFiles.literal(name, "(1,)"), 0), data);
    try (TensorFile file = TensorFile.of(Path.of("x"), content)) {
      assertThat(file.tensors().getFirst().dtype()).isEqualTo(dtype);
      assertThat(Values.all(file, file.tensor(""))).containsExactly(2);
    }
    byte[] other = TestFiles.npy(TestFiles.literal("<" + name, "(0,)"), 0);
    if (name.matches("[a-z]+[0-9]*") && name.length() > 1) {
      assertThatThrownBy(() -> TensorFile.of(Path.of("x"), other))
          .hasMessageContaining("has the type '<" + name + "'");
    }
  }

  @Test
  void readsTheByteOrderOfALetter() throws IOException {
    byte[] two = {0x40, 0, 0, 0};
    byte[] content = GgufBytes.join(TestFiles.npy(TestFiles.literal(">f", "(1,)"), 0), two);
    try (TensorFile file = TensorFile.of(Path.of("x"), content)) {
      assertThat(Values.all(file, file.tensor(""))).containsExactly(2);
    }
  }

  @Test
  void theContentDecidesWhateverTheName() throws IOException {
    Path path = Files.write(folder.resolve("a.safetensors"), TestFiles.golden("f4.npy"));
    try (TensorFile file = TensorFile.open(path)) {
      assertThat(file).isInstanceOf(NpyFile.class);
    }
  }

  /** Every element holds its own C-order index, so a gather that goes astray shows. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void readsAnyRangeOfAnyFortranShape(long seed) throws IOException {
    Random random = new Random(seed);
    for (int round = 0; round < 40; round++) {
      List<Long> shape = new ArrayList<>();
      int axes = 1 + random.nextInt(5);
      for (int axis = 0; axis < axes; axis++) {
        shape.add(1L + random.nextInt(axes > 3 ? 5 : 30));
      }
      boolean bigEndian = random.nextBoolean();
      try (TensorFile file = TensorFile.open(fortran(shape, bigEndian))) {
        Tensor tensor = file.tensors().getFirst();
        for (int range = 0; range < 10; range++) {
          int first = random.nextInt((int) tensor.elements() + 1);
          int count = random.nextInt((int) tensor.elements() - first + 1);
          double[] expected = new double[count];
          for (int i = 0; i < count; i++) {
            expected[i] = first + i;
          }
          assertThat(Values.range(file, tensor, first, count))
              .describedAs("seed %d, %s from %d", seed, tensor, first)
              .isEqualTo(expected);
        }
      }
    }
  }

  @Test
  void anArrayWithoutElementsHasNoOrder() throws IOException {
    for (List<Long> shape : List.of(List.of(0L, 3L, 2L), List.of(3L, 2L, 0L))) {
      try (TensorFile file = TensorFile.open(fortran(shape, true))) {
        assertThat(Values.all(file, file.tensor(""))).isEmpty();
      }
    }
  }

  @Test
  void readsFloat16InFortranOrder() throws IOException {
    byte[] header =
        new NpyHeader(Dtype.F16, ByteOrder.LITTLE_ENDIAN, true, List.of(2L, 3L)).toBytes();
    byte[] inFileOrder = GgufBytes.halves(0, 3, 1, 4, 2, 5);
    Path path = Files.write(folder.resolve("a.npy"), GgufBytes.join(header, inFileOrder));
    try (TensorFile file = TensorFile.open(path)) {
      Tensor tensor = file.tensors().getFirst();
      assertThat(Values.all(file, tensor)).containsExactly(0, 1, 2, 3, 4, 5);
    }
  }

  private Path fortran(List<Long> shape, boolean bigEndian) throws IOException {
    Tensor tensor = new Tensor("", Dtype.F32, shape);
    int elements = (int) tensor.elements();
    NpyHeader header =
        new NpyHeader(
            Dtype.F32, bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN, true, shape);
    byte[] prefix = header.toBytes();
    ByteBuffer out = ByteBuffer.allocate(prefix.length + 4 * elements).order(header.order());
    out.put(prefix);
    for (int i = 0; i < elements; i++) {
      out.putFloat(cIndex(i, shape));
    }
    return Files.write(folder.resolve("fortran.npy"), out.array());
  }

  /** The index in C order of the element that comes {@code i}-th in Fortran order. */
  private static int cIndex(int i, List<Long> shape) {
    int index = 0;
    int stride = 1;
    int[] position = new int[shape.size()];
    for (int axis = 0; axis < position.length; axis++) {
      position[axis] = (int) (i % shape.get(axis));
      i /= (int) (long) shape.get(axis);
    }
    for (int axis = position.length - 1; axis >= 0; axis--) {
      index += position[axis] * stride;
      stride *= (int) (long) shape.get(axis);
    }
    return index;
  }

  @Test
  void refusesRangesThatAreNotInTheTensor() throws IOException {
    try (TensorFile file = TensorFile.open(TestFiles.golden("f4.npy", folder))) {
      Tensor tensor = file.tensors().getFirst();
      MemorySegment into = MemorySegment.ofArray(new byte[24]);
      assertThatThrownBy(() -> file.read(tensor, 1, 6, into))
          .hasMessage("elements 1 to 1 + 6 of 6");
      assertThatThrownBy(() -> file.read(tensor, -1, 1, into))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> file.read(tensor, Long.MAX_VALUE, Long.MAX_VALUE, into))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> file.read(tensor, 0, 6, into.asSlice(0, 23)))
          .hasMessage("into has 23 bytes, 6 elements of 4 bytes are asked for");
      assertThatThrownBy(() -> file.readBytes(tensor, 1, into))
          .hasMessage("bytes 1 to 1 + 24 of 24");
      Tensor other = new Tensor("other", Dtype.F32, List.of(6L));
      assertThatThrownBy(() -> file.read(other, 0, 6, into))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("has no tensor other f32 [6]");
    }
  }

  @Test
  void aFileThatIsTruncatedWhileItIsReadIsAFormatException() throws IOException {
    Path path = TestFiles.golden("f4.npy", folder);
    try (TensorFile file = TensorFile.open(path)) {
      try (var channel = Files.newByteChannel(path, StandardOpenOption.WRITE)) {
        channel.truncate(140);
      }
      MemorySegment into = MemorySegment.ofArray(new byte[24]);
      assertThatThrownBy(() -> file.read(file.tensors().getFirst(), 0, 6, into))
          .isInstanceOf(FormatException.class)
          .hasMessage(path + ": ends at byte 140 of 152: it was truncated while it was read");
    }
  }
}
