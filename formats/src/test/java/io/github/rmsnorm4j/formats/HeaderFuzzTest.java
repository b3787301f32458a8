package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.rmsnorm4j.formats.testing.Allocated;
import io.github.rmsnorm4j.formats.testing.GgufBytes;
import io.github.rmsnorm4j.formats.testing.Mutation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Thousands of files that are nearly right. Each either opens, and then every element it promises
 * can be read and is what other readers find there, or is refused by a {@link FormatException} of
 * one line, in little memory.
 */
class HeaderFuzzTest {
  private static final long MOST_NANOS = 10_000_000_000L;
  private static final int ROUNDS = Integer.getInteger("fuzz.rounds", 300);
  private static final long MOST_ALLOCATED = 8 << 20;

  private static final List<String> NPY =
      List.of("f4.npy", "f8_big.npy", "f4_fortran.npy", "f8_fortran_big.npy", "v2.npy", "v3.npy");

  /** A kind of file, by the extension of its name. */
  private enum Kind {
    NPY,
    SAFETENSORS,
    GGUF,
    SPLIT,
    JSON;

    /** A file that is right. */
    byte[] content(Random random) {
      return switch (this) {
        case NPY -> TestFiles.golden(HeaderFuzzTest.NPY.get(random.nextInt(6)));
        case SAFETENSORS -> TestFiles.golden("mixed.safetensors");
        case GGUF -> TestFiles.golden("mixed.gguf");
        case SPLIT -> part(0).tensor("t", GgufBytes.F32, new byte[8], 2).toBytes();
        case JSON -> INDEX.replace('\'', '"').getBytes();
      };
    }

    Path path(Path folder) {
      return folder.resolve(
          this == SPLIT ? FIRST_PART : "fuzzed." + name().toLowerCase(Locale.ROOT));
    }
  }

  private static final String INDEX =
      """
      {'metadata': {'total_size': 16, 'by': 'x'},
       'weight_map': {'t': 'a.safetensors', 'u': 'b.safetensors', 'v': 'b.safetensors'}}
      """;

  private static final String FIRST_PART = "fuzzed-00001-of-00002.gguf";

  @TempDir Path folder;

  private long refused;
  private long opened;

  /** The first file of a kind loads classes, which allocates more than any file may. */
  @BeforeAll
  static void loadClasses(@TempDir Path folder) throws Exception {
    writeShards(folder);
    for (Kind kind : Kind.values()) {
      Path path = Files.write(kind.path(folder), kind.content(new Random(0)));
      try (TensorFile file = TensorFile.open(path)) {
        readAll(file);
      }
    }
  }

  private static GgufBytes part(int number) {
    return new GgufBytes()
        .uint32("split.no", number)
        .uint32("split.count", 2)
        .uint32("split.tensors.count", 2);
  }

  private static void writeShards(Path folder) throws IOException {
    byte[] second = part(1).tensor("u", GgufBytes.F32, new byte[4], 1).toBytes();
    Files.write(folder.resolve(FIRST_PART.replace("01", "02")), second);
    String t = TestFiles.entry("t", "F32", "[2]", 0, 8);
    String u = TestFiles.entry("u", "F32", "[1]", 0, 4);
    String v = TestFiles.entry("v", "F32", "[1]", 4, 8);
    Files.write(folder.resolve("a.safetensors"), TestFiles.safetensors("{" + t + "}", 8));
    Files.write(folder.resolve("b.safetensors"), TestFiles.safetensors("{" + u + "," + v + "}", 8));
  }

  static Stream<Arguments> kindsAndSeeds() {
    return Stream.of(Kind.values())
        .flatMap(kind -> LongStream.rangeClosed(1, 3).mapToObj(seed -> arguments(kind, seed)));
  }

  @ParameterizedTest
  @MethodSource("kindsAndSeeds")
  void noFileDoesAnythingButOpenOrBeRefused(Kind kind, long seed) throws Exception {
    writeShards(folder);
    Random random = new Random(seed);
    Path path = kind.path(folder);
    for (int round = 0; round < ROUNDS; round++) {
      Files.write(path, Mutation.some(kind.content(random), random));
      check(path, "%s, seed %d, round %d".formatted(kind, seed, round));
    }
    // Otherwise the mutations would be too wild or too tame to test anything.
    assertThat(refused).isGreaterThan(ROUNDS / 2);
    assertThat(opened).isGreaterThan(ROUNDS / 100);
  }

  @Tag("measure")
  @ParameterizedTest
  @MethodSource("kindsAndSeeds")
  void noFileTakesMuchMemoryOrTime(Kind kind, long seed) throws Exception {
    writeShards(folder);
    Random random = new Random(seed);
    Path path = kind.path(folder);
    for (int round = 0; round < ROUNDS; round++) {
      Files.write(path, Mutation.some(kind.content(random), random));
      long before = Allocated.bytes();
      long start = System.nanoTime();
      try (TensorFile file = TensorFile.open(path)) {
        readAll(file);
      } catch (FormatException ignored) {
        // Refused, in as little.
      }
      assertThat(Allocated.bytes() - before)
          .describedAs("%s, seed %d, round %d", kind, seed, round)
          .isLessThan(MOST_ALLOCATED);
      assertThat(System.nanoTime() - start)
          .describedAs("%s, seed %d, round %d", kind, seed, round)
          .isLessThan(MOST_NANOS);
    }
  }

  private void check(Path path, String which) throws Exception {
    String message = null;
    List<Tensor> tensors = null;
    List<Path> files = null;
    try (TensorFile file = TensorFile.open(path)) {
      readAll(file);
      tensors = file.tensors();
      files = path.toString().endsWith(".json") ? List.of(path) : file.files();
      opened++;
    } catch (FormatException e) {
      refused++;
      message = e.getMessage();
    } catch (Throwable e) {
      fail(which, e);
    }
    if (message != null) {
      assertThat(message).describedAs(which).matches("[^\\p{Cntrl}]{1,1000}");
    }
    if (tensors != null && !path.toString().endsWith(".npy")) {
      List<String> names = new ArrayList<>();
      for (Path file : files) {
        names.addAll(OtherReaders.names(file));
      }
      assertThat(names(tensors)).describedAs(which).containsExactlyInAnyOrderElementsOf(names);
    }
  }

  /** With their shapes, sorted. */
  private static List<String> names(List<Tensor> tensors) {
    return tensors.stream().map(OtherReaders::name).sorted().toList();
  }

  /** Its size is that of the file, which is small: what a header promises has been checked. */
  private static void readAll(TensorFile file) throws Exception {
    for (Tensor tensor : file.tensors()) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment into = arena.allocate(tensor.bytes());
        file.readBytes(tensor, 0, into);
        if (tensor.dtype().elementType().isPresent()) {
          file.read(tensor, 0, tensor.elements(), into);
        }
      }
    }
  }
}
