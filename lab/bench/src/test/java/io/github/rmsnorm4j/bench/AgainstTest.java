package io.github.rmsnorm4j.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.cli.WrongUseException;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.measure.MachineLoad;
import io.github.rmsnorm4j.measure.ModuleBuild;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgainstTest {
  private static final String HASH = "0123456789abcdef0123456789abcdef01234567";

  @Test
  void aRatioIsShownWhereAllPairsAreOnOneSideOfOne() {
    assertThat(words(row(List.of(1000.0, 2000.0, 3000.0), List.of(900.0, 1600.0, 2850.0))))
        .as("the median of 0.90, 0.80 and 0.95")
        .isEqualTo("RMSNorm 2.00 1.60 0.90 (0.80 to 0.95)");
    assertThat(words(row(List.of(1000.0, 1000.0), List.of(1010.0, 1030.0))))
        .isEqualTo("RMSNorm 1.00 1.02 1.02 (1.01 to 1.03)");
  }

  @Test
  void noDifferenceIsFoundWhereTheSpreadIncludesOne() {
    assertThat(words(row(List.of(1000.0, 1000.0, 1000.0), List.of(700.0, 800.0, 1010.0))))
        .isEqualTo("RMSNorm 1.00 0.80 no difference found (0.70 to 1.01)");
    assertThat(words(row(List.of(1000.0, 1000.0), List.of(1004.0, 1300.0))))
        .as("1 as it is printed")
        .isEqualTo("RMSNorm 1.00 1.15 no difference found (1.00 to 1.30)");
    assertThat(row(List.of(1000.0, 1000.0), List.of(500.0, 996.0))).contains("no difference found");
  }

  @Test
  void onePairHasNoSpread() {
    assertThat(words(row(List.of(1000.0), List.of(1500.0)))).isEqualTo("RMSNorm 1.00 1.50 1.50");
    assertThat(AgainstTable.legend(1)).singleElement().asString().contains("told from noise");
    assertThat(table(0.5, 1))
        .noneMatch(line -> line.contains("(lowest") || line.contains("in brackets"));
  }

  @Test
  void theHeadingSaysHowOftenChanceShowsARatio() {
    assertThat(String.join(" ", AgainstTable.legend(5)))
        .contains("5 pairs of JVMs", "in up to 6.3 % of the rows, by chance");
    assertThat(String.join(" ", AgainstTable.legend(2))).contains("in up to 50.0 % of the rows");
  }

  @Test
  void aBusyMachineIsNamed() {
    String warning =
        "The machine was busy: at the start its load was 1.5, with 2 processors. Do not trust these"
            + " figures.";
    assertThat(table(1.5, 2)).contains(warning);
    assertThat(table(1.0, 2)).noneMatch(line -> line.contains("busy"));
    assertThat(table(-1, 2)).as("no such figure").noneMatch(line -> line.contains("busy"));
  }

  @Test
  void wrongUseIsSaidBeforeAnythingIsBuilt() {
    assertThat(wrongUse("HEAD", "--traps")).contains("--against excludes --traps");
    assertThat(wrongUse("HEAD", "--jvms", "0")).contains("--jvms is 0, it may be 1 to 100");
    assertThat(wrongUse("HEAD")).contains("--against takes a checkout, by ./rmsnorm");
    System.setProperty(ModuleBuild.HOME, Shell.CHECKOUT.toString());
    try {
      assertThat(wrongUse("no-such-commit"))
          .startsWith("rmsnorm bench: --against is 'no-such-commit', it must be a commit of this")
          .hasLineCount(1);
    } finally {
      System.clearProperty(ModuleBuild.HOME);
    }
  }

  @Test
  void aTitleThatIsNotMeasuredIsRefused() {
    List<String> titles = List.of("RMSNorm float32 1 x 4096", "LayerNorm float32 1 x 4096");
    assertThatCode(() -> Against.requireTitle(titles, "LayerNorm")).doesNotThrowAnyException();
    assertThatCode(() -> Against.requireTitle(titles, "")).doesNotThrowAnyException();
    assertThatThrownBy(() -> Against.requireTitle(titles, "nosuch"))
        .isInstanceOf(WrongUseException.class)
        .hasMessage(
            "--only is 'nosuch', it must be in the title of a contest: RMSNorm float32 1 x 4096;"
                + " LayerNorm float32 1 x 4096");
  }

  @Test
  void theCauseIsOneLine() {
    String exception = "Exception in thread \"main\" java.lang.NoSuchMethodError: no()";
    assertThat(Against.cause("WARNING: incubator\n" + exception + "\n\tat a.B.c(B.java:1)\n"))
        .isEqualTo(exception);
    assertThat(Against.cause("tar: one\ntar: two\n\n")).isEqualTo("tar: two");
    assertThat(Against.cause("\n")).isEqualTo("it said nothing");
  }

  /** A younger folder may be that of a build at work; a library that is kept has no age. */
  @Test
  void whatAnEndedBuildLeftIsDeletedAfterADay(@TempDir Path folder) throws IOException {
    Path old = tree(folder.resolve("build123"));
    Path young = tree(folder.resolve("build456"));
    Path kept = tree(folder.resolve(HASH));
    FileTime before = FileTime.from(Instant.now().minus(Duration.ofHours(25)));
    Files.setLastModifiedTime(old, before);
    Files.setLastModifiedTime(kept, before);
    CommitLibrary.deleteLeftovers(folder);
    assertThat(folder.toFile().list()).containsExactlyInAnyOrder("build456", HASH);
    assertThat(young.resolve("a/b.txt")).exists();
    assertThat(kept.resolve("a/b.txt")).exists();
  }

  @Test
  void aFolderThatAnotherStartHasBuiltIsTaken(@TempDir Path folder) throws IOException {
    Path work = tree(folder.resolve("build123"));
    Path kept = tree(folder.resolve(HASH));
    Files.writeString(kept.resolve("first"), "");
    CommitLibrary.keep(work, kept);
    assertThat(work).doesNotExist();
    assertThat(kept.resolve("first")).exists();
    CommitLibrary.keep(kept, work);
    assertThat(work.resolve("first")).exists();
    assertThatThrownBy(() -> CommitLibrary.keep(kept, folder.resolve("none")))
        .isInstanceOf(NoSuchFileException.class);
  }

  private static Path tree(Path folder) throws IOException {
    Files.createDirectories(folder.resolve("a"));
    Files.writeString(folder.resolve("a/b.txt"), "");
    return folder;
  }

  private static List<String> table(double load, int pairs) {
    List<Double> times = List.of(1000.0, 1001.0).subList(0, pairs);
    Map<String, List<Double>> all = Map.of("RMSNorm", times);
    return new AgainstTable(HASH, all, all, new MachineLoad(load, 2)).lines();
  }

  private static String row(List<Double> before, List<Double> after) {
    return AgainstTable.row("RMSNorm", before, after);
  }

  private static String words(String row) {
    return row.replaceAll(" +", " ");
  }

  private static String wrongUse(String... arguments) {
    List<String> words = new ArrayList<>(List.of("bench", "--against"));
    words.addAll(List.of(arguments));
    CommandResult result = CommandResult.of(words.toArray(String[]::new));
    assertThat(result.status()).isEqualTo(2);
    return result.err();
  }
}
