package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TensorWriterTest {
  @TempDir Path folder;

  private static Tensor tensor(String name, Dtype dtype, Long... shape) {
    return new Tensor(name, dtype, List.of(shape));
  }

  /** Carries every tensor's bytes over, in pieces of a size that divides nothing. */
  private static void copy(TensorFile in, Path out) throws IOException {
    try (TensorWriter writer = TensorWriter.create(out, in.tensors(), in.metadata(), false);
        Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(7);
      for (Tensor tensor : writer.order()) {
        for (long at = 0; at < tensor.bytes(); at += 7) {
          MemorySegment piece = buffer.asSlice(0, Math.min(7, tensor.bytes() - at));
          in.readBytes(tensor, at, piece);
          writer.write(piece);
        }
      }
      writer.commit();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"mixed.safetensors", "nothing.safetensors"})
  void writesTheBytesThatTheReferenceWrites(String name) throws IOException {
    Path out = folder.resolve("copy.safetensors");
    try (TensorFile in = TensorFile.open(TestFiles.golden(name, folder))) {
      copy(in, out);
    }
    assertThat(out).hasBinaryContent(TestFiles.golden(name));
  }

  /** Also a header that this library would write otherwise: spaces, the order of the data. */
  @Test
  void aFileLikeAnotherHasItsHeaderByteForByte() throws IOException {
    String header =
        "{ %s, \"__metadata__\": {\"b\": \"1\", \"a\":\"2\"},\t%s }   "
            .formatted(
                TestFiles.entry("second", "F32", "[ 2]", 4, 12),
                TestFiles.entry("first", "BF16", "[1,2]", 0, 4));
    byte[] whole = TestFiles.safetensors(header, 12);
    for (int i = 1; i <= 12; i++) {
      whole[whole.length - i] = (byte) i;
    }
    Path model = Files.write(folder.resolve("model.safetensors"), whole);
    Path out = folder.resolve("out.safetensors");
    try (TensorFile in = TensorFile.open(model);
        TensorWriter writer = TensorWriter.like(out, (SafetensorsFile) in, false)) {
      assertThat(writer.order()).extracting(Tensor::name).containsExactly("first", "second");
      for (Tensor tensor : writer.order()) {
        byte[] bytes = new byte[(int) tensor.bytes()];
        in.readBytes(tensor, 0, MemorySegment.ofArray(bytes));
        writer.write(MemorySegment.ofArray(bytes));
      }
      writer.commit();
    }
    assertThat(out).hasBinaryContent(whole);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void readsBackWhatItWrote(long seed) throws IOException {
    Random random = new Random(seed);
    List<Dtype> dtypes = Stream.of(Dtype.values()).filter(dtype -> !dtype.isBlock()).toList();
    List<Tensor> tensors = new ArrayList<>();
    Map<String, String> metadata = new LinkedHashMap<>();
    for (int i = 0; i < 30; i++) {
      Dtype dtype = dtypes.get(random.nextInt(dtypes.size()));
      long width = 4 * random.nextInt(5);
      tensors.add(tensor("t\u00e9\ud83d\ude00\\\"\n" + i, dtype, (long) random.nextInt(4), width));
      metadata.put("key " + random.nextInt(), "\u0000 \u2028 " + i);
    }
    Path path = folder.resolve("a.safetensors");
    long bytes = tensors.stream().mapToLong(Tensor::bytes).sum();
    byte[] data = new byte[(int) bytes];
    random.nextBytes(data);
    List<Tensor> order;
    try (TensorWriter writer = TensorWriter.create(path, tensors, metadata, false)) {
      order = writer.order();
      writer.write(MemorySegment.ofArray(data));
      writer.commit();
    }
    try (TensorFile file = TensorFile.open(path)) {
      assertThat(file.tensors()).describedAs("seed %d", seed).isEqualTo(tensors);
      assertThat(file.metadata()).containsExactlyEntriesOf(metadata);
      int at = 0;
      for (Tensor tensor : order) {
        byte[] read = new byte[(int) tensor.bytes()];
        file.readBytes(tensor, 0, MemorySegment.ofArray(read));
        assertThat(read).isEqualTo(Arrays.copyOfRange(data, at, at + read.length));
        at += read.length;
      }
    }
  }

  @Test
  void keepsTheOrderGivenWhileTensorsStayAligned() throws IOException {
    List<Tensor> tensors = List.of(tensor("b", Dtype.F16, 4L), tensor("a", Dtype.F64, 1L));
    assertThat(SafetensorsLayout.of(tensors, Map.of()).order()).isEqualTo(tensors);
  }

  @Test
  void putsLargerElementsFirstWhereTensorsWouldNotBeAligned() {
    Tensor b = tensor("b", Dtype.F16, 3L);
    Tensor a = tensor("a", Dtype.F32, 1L);
    Tensor c = tensor("c", Dtype.F32, 1L);
    SafetensorsLayout layout = SafetensorsLayout.of(List.of(b, a, c), Map.of());
    assertThat(layout.order()).containsExactly(a, c, b);
    assertThat(new String(layout.header(), 8, layout.header().length - 8))
        .isEqualTo(
            ("{'b':{'dtype':'F16','shape':[3],'data_offsets':[8,14]},"
                    + "'a':{'dtype':'F32','shape':[1],'data_offsets':[0,4]},"
                    + "'c':{'dtype':'F32','shape':[1],'data_offsets':[4,8]}}       ")
                .replace('\'', '"'));
  }

  @Test
  void recomputesOffsetsWhereATypeChanges() {
    Tensor a = tensor("a", Dtype.F32, 2L);
    Tensor b = tensor("b", Dtype.F32, 2L);
    byte[] header = SafetensorsLayout.of(List.of(a.as(Dtype.F64), b), Map.of()).header();
    assertThat(new String(header))
        .contains("\"data_offsets\":[0,16]")
        .contains("\"data_offsets\":[16,24]");
    assertThat(header.length % 8).isZero();
  }

  @Test
  void refusesWhatAFileCannotHold() {
    Tensor f32 = tensor("a", Dtype.F32, 1L);
    Path npy = folder.resolve("a.npy");
    Path safetensors = folder.resolve("a.safetensors");
    assertThatThrownBy(() -> TensorWriter.create(npy, List.of(f32.as(Dtype.BF16)), Map.of(), true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(npy + ": .npy has no bfloat16; write a .safetensors file or another type");
    assertThatThrownBy(() -> TensorWriter.create(npy, List.of(f32, f32), Map.of(), true))
        .hasMessage(npy + ": a .npy file holds one tensor, not 2; use .safetensors");
    assertThatThrownBy(() -> TensorWriter.create(npy, List.of(f32), Map.of("a", "b"), true))
        .hasMessage(npy + ": a .npy file holds no metadata; use .safetensors");
    assertThatThrownBy(() -> TensorWriter.create(npy, List.of(f32.as(Dtype.I8)), Map.of(), true))
        .hasMessage(npy + ": only f16, f32 and f64 are written to .npy, not a i8 [1]");
    assertThatThrownBy(
            () -> TensorWriter.create(folder.resolve("a.bin"), List.of(f32), Map.of(), true))
        .hasMessage(folder.resolve("a.bin") + ": the name must end in .npy or .safetensors");
    assertThatThrownBy(() -> TensorWriter.create(safetensors, List.of(f32, f32), Map.of(), true))
        .hasMessage("two tensors are named 'a'");
    Tensor reserved = tensor("__metadata__", Dtype.F32, 1L);
    assertThatThrownBy(() -> TensorWriter.create(safetensors, List.of(reserved), Map.of(), true))
        .hasMessage("no tensor can be named __metadata__ in .safetensors");
    Tensor block = tensor("q", Dtype.Q4_0, 1L, 32L);
    assertThatThrownBy(() -> TensorWriter.create(safetensors, List.of(block), Map.of(), true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("tensor q q4_0 [1, 32] is of a quantised type that .safetensors does not have");
    assertThatThrownBy(() -> TensorWriter.create(npy, List.of(block), Map.of(), true))
        .hasMessage(npy + ": only f16, f32 and f64 are written to .npy, not q q4_0 [1, 32]");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void countsTheBytes() throws IOException {
    Path path = folder.resolve("a.npy");
    MemorySegment bytes = MemorySegment.ofArray(new byte[5]);
    List<Tensor> tensors = List.of(tensor("", Dtype.F32, 2L));
    try (TensorWriter writer = TensorWriter.create(path, tensors, Map.of(), false)) {
      writer.write(bytes);
      assertThatThrownBy(() -> writer.write(bytes)).hasMessage("5 bytes after 5 of 8");
      assertThatThrownBy(writer::commit).hasMessage("5 of 8 bytes have been written");
    }
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void headersOfManyAxesAreStillOfVersionOne() throws IOException {
    Path path = folder.resolve("a.npy");
    Tensor tensor = new Tensor("", Dtype.F32, Collections.nCopies(64, 1L));
    try (TensorWriter writer = TensorWriter.create(path, List.of(tensor), Map.of(), false)) {
      writer.write(MemorySegment.ofArray(new byte[4]));
      writer.commit();
    }
    assertThat(Files.readAllBytes(path)[6]).isEqualTo((byte) 1);
    try (TensorFile file = TensorFile.open(path)) {
      assertThat(file.tensors()).containsExactly(tensor);
    }
  }
}
