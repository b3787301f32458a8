package io.github.rmsnorm4j.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.rmsnorm4j.cuda.CudaVersion;
import java.io.IOException;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The types of the driver's functions, as Java has them, against those of C. */
class EntryPointTest {
  /** What a format of the stub says of an argument; gcc has compared formats with prototypes. */
  private static final Map<String, MemoryLayout> TYPES =
      Map.of("%d", JAVA_INT, "%u", JAVA_INT, "%zu", JAVA_LONG, "0x%llx", JAVA_LONG, "%p", ADDRESS);

  @Test
  void everyArgumentArrivesWithItsType() throws DriverUnavailable {
    StubDriver stub = StubDriver.fresh();
    DriverLibrary library = DriverLibrary.load(stub.library(), new CudaVersion(0, 0));
    stub.echo();
    for (EntryPoint entry : EntryPoint.values()) {
      check(stub, library, entry);
    }
  }

  private static void check(StubDriver stub, DriverLibrary library, EntryPoint entry) {
    List<MemoryLayout> types = entry.type().argumentLayouts();
    List<Object> arguments = new ArrayList<>();
    List<Long> values = new ArrayList<>();
    for (MemoryLayout type : types) {
      long value = 0x7123_4567_89AB_CD00L + arguments.size();
      arguments.add(
          type.equals(JAVA_INT)
              ? (Object) (int) (value >>> 33)
              : type.equals(JAVA_LONG) ? (Object) value : MemorySegment.ofAddress(value));
      values.add(type.equals(JAVA_INT) ? value >>> 33 : value);
    }
    stub.calls();
    assertThat(library.call(entry, arguments.toArray())).isZero();

    List<String> said = stub.calls();
    assertThat(said).hasSize(2);
    String format = said.getFirst();
    String name = entry.symbol();
    assertThat(words(format).map(TYPES::get)).as(name).isEqualTo(types);
    assertThat(said.getLast()).startsWith(name + "(").endsWith(")");
    String printed = said.getLast().substring(name.length() + 1, said.getLast().length() - 1);
    assertThat(words(printed).map(Long::decode)).as(name).isEqualTo(values);
    assertThat(entry.type().returnLayout()).contains(JAVA_INT);
  }

  private static Words words(String text) {
    return new Words(text.equals("%s") || text.isEmpty() ? List.of() : List.of(text.split(", ")));
  }

  private record Words(List<String> all) {
    <T> List<T> map(Function<String, T> word) {
      return all.stream().map(word).toList();
    }
  }

  /** gcc refuses a function that is not as NVIDIA's header declares it. */
  @Test
  void theStubHasThePrototypesOfNvidiasHeader() throws IOException {
    StubCompiler.library();
    List<Path> headers;
    try (Stream<Path> folders = Files.list(Path.of("/usr/local"))) {
      headers =
          folders
              .map(folder -> folder.resolve("include").resolve("cuda.h"))
              .filter(Files::exists)
              .toList();
    }
    assumeTrue(!headers.isEmpty(), "no cuda.h in a folder of /usr/local");
    for (Path header : headers) {
      assertThat(new HashSet<>(List.of(Files.readString(header).split("\\W+"))))
          .containsAll(Stream.of(EntryPoint.values()).map(EntryPoint::symbol).toList());
      assertThat(StubCompiler.library("-DCUDA_HEADER=\"" + header + "\"")).exists();
    }
  }
}
