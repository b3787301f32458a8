package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.testing.GgufBytes;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A model of three parts, as llama.cpp splits it: the first has all metadata and no tensor. */
class SplitGgufTest {
  private static final int UINT16 = 2;

  @TempDir Path folder;

  private static byte[] uint16(int value) {
    return new byte[] {(byte) value, (byte) (value >> 8)};
  }

  private static GgufBytes part(int number, int count, int tensors) {
    return new GgufBytes()
        .field("split.no", UINT16, uint16(number))
        .field("split.count", UINT16, uint16(count))
        .field("split.tensors.count", 5, GgufBytes.int32(tensors));
  }

  private Path path(int part) {
    return folder.resolve("model-0000" + part + "-of-00003.gguf");
  }

  private void write(int part, GgufBytes content) throws IOException {
    Files.write(path(part), content.toBytes());
  }

  private static GgufBytes tensor(GgufBytes part, String name, float value) {
    return part.tensor(name, GgufBytes.F32, GgufBytes.floats(value), 1);
  }

  @BeforeEach
  void model() throws IOException {
    write(1, part(0, 3, 3).text("general.architecture", "llama"));
    write(2, tensor(tensor(part(1, 3, 3), "z", 1), "a", 2));
    write(3, tensor(part(2, 3, 3), "m", 3));
  }

  private void assertRefused(Path path, Path named, String problem) throws IOException {
    OpenFiles.assertNoneIsLeftBy(
        () ->
            assertThatThrownBy(() -> TensorFile.open(path).close())
                .isInstanceOf(FormatException.class)
                .hasMessage(named + ": " + problem));
  }

  @Test
  void anyPartOpensAll() throws IOException {
    for (int part = 1; part <= 3; part++) {
      int opened = part;
      OpenFiles.assertNoneIsLeftBy(() -> assertReadsAll(path(opened)));
    }
  }

  private void assertReadsAll(Path part) throws IOException {
    try (TensorFile file = TensorFile.open(part)) {
      assertThat(file).isInstanceOf(GgufFile.class);
      assertThat(file.path()).isEqualTo(path(1));
      assertThat(file.files()).containsExactly(path(1), path(2), path(3));
      assertThat(file.metadata()).containsEntry("general.architecture", "llama");
      assertThat(file.metadata()).containsEntry("split.no", "0");
      assertThat(file.tensors()).extracting(Tensor::name).containsExactly("z", "a", "m");
      for (int i = 0; i < 3; i++) {
        Tensor tensor = file.tensors().get(i);
        assertThat(Values.all(file, tensor)).containsExactly(i + 1);
        byte[] bytes = new byte[4];
        file.readBytes(tensor, 0, MemorySegment.ofArray(bytes));
        assertThat(bytes).isEqualTo(GgufBytes.floats(i + 1));
      }
    }
  }

  /** Hugging Face's cache: a snapshot's files are links to blobs that are named by their hash. */
  @Test
  void linksToBlobsAreFollowed() throws IOException {
    Path blobs = Files.createDirectory(folder.resolve("blobs"));
    for (int part = 1; part <= 3; part++) {
      Files.move(path(part), blobs.resolve("b" + part));
      Files.createSymbolicLink(path(part), Path.of("blobs", "b" + part));
    }
    assertReadsAll(path(2));
    assertRefused(
        blobs.resolve("b2"),
        blobs.resolve("b2"),
        "is part 2 of 3: its name must end in -00002-of-00003.gguf, as those of the other parts"
            + " beside it");
  }

  @Test
  void aFileThatSaysItIsTheOnlyPartIsWhole() throws IOException {
    Path whole = Files.write(folder.resolve("a.gguf"), part(0, 1, 0).toBytes());
    try (TensorFile file = TensorFile.open(whole)) {
      assertThat(file.files()).containsExactly(whole);
    }
  }

  @Test
  void aPartThatIsMissingOrSomethingElseIsNamed() throws IOException {
    Files.write(path(3), TestFiles.golden("mixed.safetensors"));
    assertRefused(path(1), path(3), "is a .safetensors file, not GGUF: rename it");
    Files.writeString(path(3), "version https://git-lfs.github.com/spec/v1");
    assertRefused(path(1), path(3), "is a Git LFS pointer: run git lfs pull");
    Files.delete(path(3));
    for (int part = 1; part <= 2; part++) {
      assertRefused(
          path(part),
          path(part),
          "is one part of several, and model-00003-of-00003.gguf is missing");
    }
  }

  @Test
  void aPartOfAnotherModelIsNamed() throws IOException {
    write(3, tensor(part(2, 3, 4), "m", 3));
    assertRefused(
        path(1),
        path(3),
        "is not part 3 of this model: its split.tensors.count is 4, and should be 3");
    write(3, tensor(part(2, 4, 3), "m", 3));
    assertRefused(
        path(1), path(3), "is not part 3 of this model: its split.count is 4, and should be 3");
    write(3, tensor(part(1, 3, 3), "m", 3));
    assertRefused(
        path(1), path(3), "is not part 3 of this model: its split.no is 1, and should be 2");
    write(3, tensor(new GgufBytes(), "m", 3));
    assertRefused(
        path(1), path(3), "is not part 3 of this model: its split.no is missing, and should be 2");
    write(3, tensor(part(2, 3, 3).text("general.architecture", "gemma"), "m", 3));
    assertRefused(
        path(2),
        path(3),
        "is not part 3 of this model: its general.architecture is gemma, and should be llama");
    write(3, tensor(part(2, 3, 3), "a", 3));
    assertRefused(path(2), path(3), "tensor 'a' is in a part before this one as well");
  }

  @Test
  void countsMustBeThoseOfTheParts() throws IOException {
    write(3, part(2, 3, 3));
    assertRefused(path(3), path(1), "says that there are 3 tensors, and its 3 parts have 2");
    write(1, part(3, 3, 3));
    assertRefused(path(1), path(1), "is part 4 of 3, at most 1000 parts are read");
    write(1, part(0, 1001, 3));
    assertRefused(path(1), path(1), "is part 1 of 1001, at most 1000 parts are read");
    write(1, new GgufBytes().uint32("split.count", 3));
    assertRefused(path(1), path(1), "is one part of several, and has no count split.no");
    write(1, new GgufBytes().text("split.count", "3"));
    assertRefused(path(1), path(1), "is one part of several, and has no count split.count");
    write(1, new GgufBytes().uint32("split.count", -1));
    assertRefused(path(1), path(1), "is one part of several, and has no count split.count");
  }

  @Test
  void theCountsAreOfAnyType() throws IOException {
    List<String> names = List.of("z", "a", "m");
    for (int i = 0; i < 3; i++) {
      GgufBytes part = new GgufBytes().uint32("split.no", i).uint32("split.count", 3);
      part.uint32("split.tensors.count", 3).text("general.architecture", "llama");
      write(i + 1, tensor(part, names.get(i), i + 1));
    }
    assertReadsAll(path(2));
  }
}
