package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** A program in JVMs with and without vectors: the same results, and advice that says why. */
class BackendFallbackTest {
  private static final String NATIVE = "--enable-native-access=io.github.rmsnorm4j";
  private static final String NO_MACHINE_CODE = "-Drmsnorm4j.machineCode=false";
  private static final String INCUBATOR = "WARNING: Using incubator modules: jdk.incubator.vector";
  private static final String EXPORTS =
      "io.github.rmsnorm4j/io.github.rmsnorm4j.internal.first=app";
  private static final String PROGRAM =
      """
      package app;

      import io.github.rmsnorm4j.*;
      import io.github.rmsnorm4j.internal.first.Advice;
      import java.lang.foreign.*;

      public class Program {
        public static void main(String[] args) {
          long checksum = 1;
          Arena arena = Arena.ofAuto();
          for (ElementType type : ElementType.values()) {
            for (int width : new int[] {1, 33, 1000, 2500}) {
              MemorySegment x = arena.allocate(5L * width * type.bytes());
              for (long i = 0; i < x.byteSize(); i++) {
                x.set(ValueLayout.JAVA_BYTE, i, (byte) (i % type.bytes() == type.bytes() - 1
                    ? 0x3f : i * 0x9e3779b97f4a7c15L >>> 40));
              }
              MemorySegment y = arena.allocate(x.byteSize());
              Rows in = Rows.of(x, type, 5, width);
              Rows out = Rows.of(y, type, 5, width);
              RmsNorm.builder(width).build().apply(in, out);
              LayerNorm.builder(width).build().apply(out, in);
              for (byte b : x.toArray(ValueLayout.JAVA_BYTE)) checksum = 31 * checksum + b;
              for (byte b : y.toArray(ValueLayout.JAVA_BYTE)) checksum = 31 * checksum + b;
            }
          }
          System.out.println(checksum);
          System.out.println(Backend.best().describe());
          System.out.println(Backend.best().reason());
          System.err.println("start");
          Advice.give();
          Advice.give();
        }
      }
      """;

  @TempDir private static Path folder;
  private static String library;
  private static String expected;

  private record Answer(String checksum, String backend, String reason, List<String> errors) {
    /**
     * The calls log nothing. The advice, given twice, is logged once, under a line of its own that
     * tells when.
     */
    void logsOnce() {
      assertThat(errors).hasSize(3);
      assertThat(errors.get(0)).isEqualTo("start");
      assertThat(errors.get(1)).contains("io.github.rmsnorm4j");
      assertThat(errors.get(2)).isEqualTo("INFO: " + backend + ": " + reason);
      assertThat(checksum).isEqualTo(expected);
    }

    /** No flag would make calls faster. */
    void logsNothing() {
      assertThat(errors).containsExactly("start");
      assertThat(checksum).isEqualTo(expected);
    }
  }

  @BeforeAll
  static void compile() throws Exception {
    Path classes =
        Path.of(Backend.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    library = classes.toString();
    Path source = Files.createDirectories(folder.resolve("app")).resolve("Program.java");
    Files.writeString(source, PROGRAM);
    Path module = folder.resolve("module-info.java");
    Files.writeString(module, "module app { requires io.github.rmsnorm4j; }");
    String[] paths = {
      "-d", folder.resolve("out").toString(), "-p", library, "--add-exports", EXPORTS
    };
    List<String> words = new ArrayList<>(List.of(paths));
    words.addAll(List.of(source.toString(), module.toString()));
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, words.toArray(String[]::new)))
        .isZero();
    Answer plain = onClassPath(ChildJvm.VECTORS, ChildJvm.NATIVE_ACCESS);
    expected = plain.checksum;
  }

  private static Answer onClassPath(String... options) throws Exception {
    return withMachineCode(NO_MACHINE_CODE, options);
  }

  private static Answer withMachineCode(String first, String... options) throws Exception {
    List<String> words = new ArrayList<>(List.of(options));
    words.addFirst(first);
    words.addAll(List.of("-cp", folder.resolve("out") + File.pathSeparator + library));
    words.add("app.Program");
    return run(words);
  }

  private static Answer onModulePath(String... options) throws Exception {
    List<String> words = new ArrayList<>(List.of(options));
    words.addFirst(NO_MACHINE_CODE);
    words.addAll(List.of("-p", folder.resolve("out") + File.pathSeparator + library));
    words.addAll(List.of("--add-exports", EXPORTS, "-m", "app/app.Program"));
    return run(words);
  }

  private static Answer run(List<String> words) throws Exception {
    Path errors = Files.createTempFile(folder, "errors", "");
    ChildJvm child = ChildJvm.run(ChildJvm.java(words).redirectError(errors.toFile()));
    List<String> out = child.output().lines().toList();
    List<String> lines = new ArrayList<>(Files.readAllLines(errors));
    assertThat(child.status()).as("%s", lines).isZero();
    boolean vectors = words.contains(ChildJvm.VECTORS);
    assertThat(lines.remove(INCUBATOR)).isEqualTo(vectors);
    assertThat(out).hasSize(3);
    return new Answer(out.get(0), out.get(1), out.get(2), lines);
  }

  @Test
  void aClassPathWithoutTheVectorApi() throws Exception {
    Answer answer = onClassPath(ChildJvm.NATIVE_ACCESS);
    assertThat(answer.backend).isEqualTo("plain Java, later Java loops, native access");
    assertThat(answer.reason).contains("start java with --add-modules jdk.incubator.vector");
    answer.logsOnce();
  }

  @Test
  void aClassPathWithoutAnything() throws Exception {
    Answer answer = onClassPath();
    assertThat(answer.backend).isEqualTo("plain Java, later Java loops, native memory staged");
    assertThat(answer.reason).contains("--add-modules", ChildJvm.NATIVE_ACCESS);
    answer.logsOnce();
  }

  @Test
  void withoutNativeAccess() throws Exception {
    Answer answer = onClassPath(ChildJvm.VECTORS);
    assertThat(answer.backend).endsWith("native memory staged");
    assertThat(answer.reason).contains(ChildJvm.NATIVE_ACCESS);
    answer.logsNothing();
  }

  @Test
  void modules() throws Exception {
    Answer without = onModulePath();
    assertThat(without.backend).isEqualTo("plain Java, later Java loops, native memory staged");
    assertThat(without.reason).contains("--add-modules", NATIVE);
    without.logsOnce();
    Answer with = onModulePath(ChildJvm.VECTORS, NATIVE);
    assertThat(with.checksum).isEqualTo(expected);
    assertThat(with.backend).endsWith(", native access");
  }

  @Test
  void interpreted() throws Exception {
    Answer answer = onClassPath(ChildJvm.VECTORS, ChildJvm.NATIVE_ACCESS, "-Xint");
    assertThat(answer.backend).startsWith("plain Java, later Java loops");
    assertThat(answer.reason).contains("without its optimising compiler", "interpreted mode");
    answer.logsNothing();
  }

  @Test
  @EnabledIfSystemProperty(named = "os.arch", matches = "amd64")
  void aProcessorWithoutAvx() throws Exception {
    Answer answer = onClassPath(ChildJvm.VECTORS, ChildJvm.NATIVE_ACCESS, "-XX:UseAVX=0");
    assertThat(answer.backend).startsWith("plain Java, later Java loops");
    assertThat(answer.reason).contains("no AVX");
    answer.logsNothing();
  }

  @Test
  @EnabledIfSystemProperty(named = "os.arch", matches = "amd64|aarch64")
  void silentWhereNothingIsMissing() throws Exception {
    Answer answer = onClassPath(ChildJvm.VECTORS, ChildJvm.NATIVE_ACCESS);
    answer.logsNothing();
    if (!answer.backend.contains("Java loops")) {
      assertThat(answer.reason).startsWith("the Vector API is there; no machine code: ");
    }
  }

  /** Without the property the advice names native access, which machine code needs. */
  @Test
  @EnabledIfSystemProperty(named = "os.arch", matches = "amd64")
  void machineCodeWithoutNativeAccess() throws Exception {
    Answer answer = withMachineCode(ChildJvm.VECTORS);
    assertThat(answer.reason).startsWith("native access is off");
    answer.logsOnce();
  }

  /** Machine code needs native access, and not the Vector API. */
  @Test
  void machineCode() throws Exception {
    Assumptions.assumeTrue(Backend.hasMachineCode(), "there is no machine code here");
    Answer answer = withMachineCode(ChildJvm.NATIVE_ACCESS);
    assertThat(answer.backend).startsWith("plain Java, later machine code, ");
    assertThat(answer.reason).contains("other calls take Java loops");
    assertThat(answer.errors).containsExactly("start");
    assertThat(answer.checksum).isEqualTo(expected);
  }
}
