package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** docs/troubleshooting.md: its lines are those of the code, and the code has no others. */
class TroubleshootingPageTest {
  private static final Pattern LOGGED =
      Pattern.compile("\\.log\\(\\s*(?:System\\.Logger\\.)?Level\\.\\w+,\\s*\"([^\"]*)\"");
  private static final Pattern PROPERTY = Pattern.compile("\"(rmsnorm4?j?(?:\\.\\w+)+)\"");
  private static final Pattern VARIABLE = Pattern.compile("\\b(RMSNORM_[A-Z]+)\\b");
  private static final Pattern LITERAL = Pattern.compile("\"([^\"]*)\"");
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`|]*)`");

  /** Set by a launcher for its own program. */
  private static final List<String> OF_LAUNCHERS = List.of("rmsnorm.home", "rmsnorm4j.commit");

  /** Where the parts of a warning are put together: a class of the core, and its methods. */
  private static final Map<String, List<String>> REASONS =
      Map.of(
          "Backend", List.of("String reason()", "String whyNoVectors()"),
          "internal/lowering/machine/Machine", List.of("String obstacle()", "Machine find()"),
          "internal/machine/ExecutableMemory", List.of("MemorySegment of("));

  @Test
  void everyLineThatIsLoggedIsExplained() throws IOException {
    String page = page();
    List<String> formats = new ArrayList<>();
    for (Path source : sources()) {
      Matcher logged = LOGGED.matcher(Files.readString(source));
      while (logged.find()) {
        formats.add(logged.group(1));
      }
    }
    assertThat(formats).hasSizeGreaterThan(7);
    for (String format : formats) {
      assertThat(pieces(format, "\\{\\d}")).as(format).allSatisfy(text -> in(page, text));
    }
  }

  @Test
  void everyReasonIsExplained() throws IOException {
    String page = page();
    int found = 0;
    for (Map.Entry<String, List<String>> entry : REASONS.entrySet()) {
      String source = Files.readString(core(entry.getKey()));
      for (String method : entry.getValue()) {
        int from = source.indexOf(" " + method);
        assertThat(from).as("%s of %s", method, entry.getKey()).isPositive();
        Matcher literal = LITERAL.matcher(source.substring(from, source.indexOf("\n  }\n", from)));
        while (literal.find()) {
          for (String text : pieces(literal.group(1), "%s")) {
            if (text.contains(" ") && !text.equals("Linux amd64")) {
              in(page, text);
              found++;
            }
          }
        }
      }
    }
    assertThat(found).isGreaterThan(8);
  }

  @Test
  void everyAdviceOfDoctorIsExplained() throws IOException {
    String page = page();
    Path doctor = Shell.CHECKOUT.resolve("cli/src/main/java/io/github/rmsnorm4j/cli/Doctor.java");
    String source = Files.readString(doctor);
    int from = source.indexOf(" String advice(");
    assertThat(from).isPositive();
    List<String> advice =
        LITERAL
            .matcher(source.substring(from, source.indexOf("\n  }\n", from)))
            .results()
            .map(literal -> literal.group(1))
            .filter(text -> text.contains(" "))
            .toList();
    assertThat(advice).hasSize(4).allSatisfy(text -> in(page, text));
  }

  @Test
  void noLineOfThePageIsGoneFromTheCode() throws IOException {
    StringBuilder code = new StringBuilder();
    for (Path source : sources()) {
      code.append(Files.readString(source).replaceAll("\"\\s*\\+\\s*\"", ""));
    }
    code.append(Files.readString(Shell.CHECKOUT.resolve("rmsnorm")));
    String page = page();
    String lines =
        page.substring(page.indexOf("## Lines in the log"), page.indexOf("## Flags"))
            + page.substring(page.indexOf("## The command line"));
    int found = 0;
    Matcher row = ROW.matcher(lines);
    while (row.find()) {
      String line = row.group(1).replace("cuda, which", "..., which");
      line = line.replace("rmsnorm4j.machineCode is false", "... is false");
      if (!line.startsWith("WARNING: Using incubator")) {
        assertThat(pieces(line, "\\.\\.\\.")).as(line).allSatisfy(text -> in(code, text));
        found++;
      }
    }
    assertThat(found).isGreaterThan(20);
  }

  @Test
  void everyPropertyAndVariableIsExplained() throws IOException {
    String page = page();
    List<String> names = new ArrayList<>();
    for (Path source : sources()) {
      String text = Files.readString(source);
      if (text.contains("getProperty(")) {
        PROPERTY.matcher(text).results().map(found -> found.group(1)).forEach(names::add);
      }
      VARIABLE.matcher(text).results().map(found -> found.group(1)).forEach(names::add);
    }
    names.removeAll(OF_LAUNCHERS);
    assertThat(names)
        .contains("rmsnorm4j.machineCode", "RMSNORM_KERNELS")
        .allSatisfy(name -> in(page, name));
  }

  /** In the order of the page. */
  @Test
  void theErrorsAreThoseOfCalls() throws IOException {
    RmsNorm norm = RmsNorm.builder(4096).build();
    float[] x = new float[4096];
    MemorySegment two = MemorySegment.ofArray(new float[8192]);
    Rows first = Rows.of(two, ElementType.FLOAT32, 1, 4096);
    Rows later = Rows.of(two.asSlice(4), ElementType.FLOAT32, 1, 4096);
    Saved saved = new Saved(Keep.INPUT, 1);
    ParameterGradients gradients = ParameterGradients.assigned(new float[4096], null);
    Arena closed = Arena.ofShared();
    Rows gone = Rows.of(closed.allocate(4L * 4096), ElementType.FLOAT32, 1, 4096);
    closed.close();
    try (Arena here = Arena.ofConfined()) {
      Rows confined = Rows.of(here.allocate(4L * 4096), ElementType.FLOAT32, 1, 4096);
      List<ThrowingCallable> calls =
          List.of(
              () -> RmsNorm.builder(4096).gain(new float[4095]).build().apply(x, x),
              () -> norm.apply(x, new float[8192]),
              () -> norm.apply(first, later),
              () -> norm.addAndApply(first, first, Rows.of(x, 4096)),
              () -> norm.backward(first, saved, first, gradients),
              () -> norm.apply(gone, gone),
              () -> CompletableFuture.runAsync(() -> norm.apply(confined, confined)).join());
      String page = page();
      String errors =
          page.substring(page.indexOf("## Errors of a call"), page.indexOf("## The command line"));
      List<String> texts =
          ROW.matcher(errors)
              .results()
              .map(row -> row.group(1))
              .filter(text -> text.contains(" "))
              .toList();
      assertThat(texts).hasSameSizeAs(calls);
      for (int i = 0; i < calls.size(); i++) {
        assertThatThrownBy(calls.get(i)).hasMessageContaining(texts.get(i));
      }
    }
  }

  /** A row of equal elements, so that their square is its mean of squares. */
  @ParameterizedTest
  @CsvSource({"1, 4.5e-6, 0.05e-6", "0.01, 0.04e-2, 0.005e-2", "0.0001, 4.4e-2, 0.05e-2"})
  void theErrorsOfAWrongEpsilon(double meanSquare, double error, double rounding) {
    double[] x = {Math.sqrt(meanSquare)};
    double[] wrong = new double[1];
    double[] right = new double[1];
    Rows row = Rows.of(x, 1);
    RmsNorm.builder(1).epsilon(1e-6).build().apply(row, Rows.of(wrong, 1));
    RmsNorm.builder(1).epsilon(1e-5).build().apply(row, Rows.of(right, 1));
    assertThat(wrong[0] / right[0] - 1).isCloseTo(error, within(rounding));
  }

  /** What stands between the words that differ, if it has letters. */
  private static List<String> pieces(String text, String hole) {
    return Arrays.stream(text.split(hole))
        .map(piece -> piece.replaceAll("^\\W+|[^\\w.]+$", ""))
        .filter(piece -> piece.matches("(?s).*[a-zA-Z]{2}.*"))
        .toList();
  }

  private static void in(CharSequence whole, String part) {
    assertThat(whole.toString().contains(part)).as(part).isTrue();
  }

  private static Path core(String name) {
    return Shell.CHECKOUT.resolve("core/src/main/java/io/github/rmsnorm4j/" + name + ".java");
  }

  /** Of the modules that a user runs. */
  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    try (Stream<Path> modules = Shell.modules()) {
      for (Path module : modules.map(path -> path.resolve("src/main/java")).toList()) {
        if (Files.isDirectory(module)) {
          try (Stream<Path> files = Files.walk(module)) {
            files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
          }
        }
      }
    }
    assertThat(sources).hasSizeGreaterThan(100);
    return sources;
  }

  private static String page() throws IOException {
    return Files.readString(Shell.CHECKOUT.resolve("docs/troubleshooting.md"));
  }
}
