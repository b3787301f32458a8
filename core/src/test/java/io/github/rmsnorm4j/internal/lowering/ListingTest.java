package io.github.rmsnorm4j.internal.lowering;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ChildJvm;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Memory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With {@code RMSNORM_KERNELS} a stack trace leads to the line of a kernel that threw. */
class ListingTest {
  private static final Value X = Value.element(Forward.X, ElementType.FLOAT32);

  @TempDir private Path folder;

  /** Runs kernels on rows that their arrays are too short for, and prints what they throw. */
  static final class Program {
    public static void main(String[] args) {
      Map<Tensor, Memory> heap = Map.of(Forward.X, Memory.HEAP, Forward.Y, Memory.HEAP);
      Kernels kernels = new Kernels(256, heap, 300, false);
      Value square = X.widened().times(X.widened());
      run(kernels, new Stage.Builder().sum(Forward.SQUARES, square).build(), 32, 400);
      run(kernels, stored(), 400, 32);
      run(kernels, stored(), 290, 400);
      run(kernels, stored(), 400, 290);
    }

    private static Stage stored() {
      return new Stage.Builder().store(Forward.Y, ElementType.FLOAT32, X.plus(X)).build();
    }

    private static void run(Kernels kernels, Stage stage, int x, int y) {
      Frame frame = new Frame();
      frame.place(Forward.X, new float[x], 0, 1200);
      frame.place(Forward.Y, new float[y], 0, 1200);
      try {
        kernels.of(stage, 0).run(frame, 1, 0, 300);
        System.out.println("nothing was thrown");
      } catch (IndexOutOfBoundsException e) {
        System.out.println("-- " + e.getClass().getName());
        for (StackTraceElement element : e.getStackTrace()) {
          System.out.println(element);
        }
      }
    }
  }

  private static List<String> run(String kernels, int expected) throws Exception {
    List<String> flags = ChildJvm.flags("-XX:+UnlockDiagnosticVMOptions", "-XX:+ShowHiddenFrames");
    ProcessBuilder program = ChildJvm.program(flags, Program.class);
    program.environment().put("RMSNORM_KERNELS", kernels);
    ChildJvm child = ChildJvm.run(program);
    List<String> lines = child.output().lines().toList();
    assertThat(child.status()).as("%s", lines).isEqualTo(expected);
    return lines;
  }

  @Test
  void aStackTraceNamesTheLineThatThrew() throws Exception {
    Path kernels = folder.resolve("made").resolve("kernels");
    List<String> lines = run(kernels.toString(), 0);
    assertThat(lines).as("%s", lines).doesNotContain("nothing was thrown");
    List<String> threw = new ArrayList<>();
    Pattern place = Pattern.compile(".*\\.(\\w+)\\((\\w+\\.txt):(\\d+)\\)");
    boolean top = false;
    for (String line : lines) {
      top |= line.startsWith("-- ");
      Matcher matcher = place.matcher(line);
      if (top && matcher.matches()) {
        top = false;
        List<String> listing = Files.readAllLines(kernels.resolve(matcher.group(2)));
        int number = Integer.parseInt(matcher.group(3));
        threw.add(matcher.group(1) + ": " + listing.get(number - 1).strip());
        assertThat(listing.get(number - 1)).startsWith("%4d  ".formatted(number));
      }
    }
    assertThat(threw).as("%s", lines).hasSize(4);
    assertThat(threw.get(0)).matches("elements: .*load x\\[i\\] \\+ \\d+, float32");
    assertThat(threw.get(1)).matches("elements: .*store y\\[i\\] \\+ \\d+, float32");
    assertThat(threw.get(2)).matches("tail0: .*y\\[i\\] = \\(x\\[i\\] \\+ x\\[i\\]\\)");
    assertThat(threw.get(3)).matches("tail0: .*y\\[i\\] = \\(x\\[i\\] \\+ x\\[i\\]\\)");
  }

  @Test
  void everyListingEndsWithItsDescription() throws Exception {
    run(folder.toString(), 0);
    List<String> texts = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.sorted().toList()) {
        texts.add(Files.readString(file));
      }
    }
    assertThat(texts).hasSize(2);
    assertThat(texts.get(0)).contains("y[i] = (x[i] + x[i])\n");
    assertThat(texts.get(1)).contains("S2 = rowsum(((double) x[i] * (double) x[i]))\n");
  }

  /** One call of a norm that takes machine code, where that is possible. */
  static final class OneCall {
    public static void main(String[] args) {
      float[] x = new float[1024 * 2];
      Backend backend = Backend.hasMachineCode() ? Backend.machineCode(256) : Backend.loops();
      RmsNorm norm = RmsNorm.builder(1024).backend(backend).build();
      for (int call = 0; call < 32; call++) {
        norm.apply(x, x);
      }
    }
  }

  /** Nothing says that a kernel failed its trial: only the folder is wrong. */
  @Test
  void aCallNamesAFolderThatCannotBeAndNothingElse() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "");
    ProcessBuilder program = ChildJvm.program(ChildJvm.flags(), OneCall.class);
    program.environment().put("RMSNORM_KERNELS", file.toString());
    ChildJvm child = ChildJvm.run(program);
    assertThat(child.status()).as(child.output()).isEqualTo(1);
    assertThat(child.output())
        .containsOnlyOnce("RMSNORM_KERNELS is " + file + ", it must be a folder")
        .doesNotContain("is not used");
  }

  @Test
  void aFolderThatCannotBeIsNamed() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "");
    List<String> lines = run(file.toString(), 1);
    assertThat(lines)
        .anyMatch(line -> line.contains("RMSNORM_KERNELS is " + file + ", it must be a folder"));
  }
}
