package io.github.rmsnorm4j.studies;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.Rmsnorm;
import io.github.rmsnorm4j.cli.testing.ChildJvm;
import io.github.rmsnorm4j.cli.testing.TestJson;
import io.github.rmsnorm4j.report.browser.Browser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rmsnorm train} from end to end, in processes of its own. */
class TrainTest {
  private static final List<String> TINY =
      List.of("--seeds", "2", "--width", "8", "--heads", "2", "--batch", "2");

  @TempDir private Path folder;

  private ProcessBuilder train(List<String> sizes, List<String> more) {
    List<Object> args = new ArrayList<>(List.of("train"));
    args.addAll(sizes);
    args.addAll(more);
    List<String> command =
        ChildJvm.command(
            Rmsnorm.class,
            List.of(
                "-Dorg.bytedeco.javacpp.cachedir="
                    + System.getProperty("org.bytedeco.javacpp.cachedir")),
            args.toArray());
    return new ProcessBuilder(command)
        .directory(folder.toFile())
        .redirectOutput(folder.resolve("out.txt").toFile())
        .redirectError(folder.resolve("err.txt").toFile());
  }

  private String out() throws IOException {
    return Files.readString(folder.resolve("out.txt"));
  }

  private String err() throws IOException {
    return Files.readString(folder.resolve("err.txt"));
  }

  @Test
  void aSignalSavesAndOneLineSaysHowToGoOn() throws IOException, InterruptedException {
    // Much more than a machine trains before it says at which steps it is.
    Process child = train(List.of("--seeds", "2"), List.of("--steps", "200000")).start();
    Path state = folder.resolve("rmsnorm-train");
    try {
      awaitSteps(child);
      // As Ctrl-C does, but that a process started in the background may be deaf to.
      new ProcessBuilder("kill", "-TERM", Long.toString(child.pid())).start().waitFor();
      assertThat(child.waitFor()).as(err()).isEqualTo(143);
    } finally {
      child.destroyForcibly();
    }
    assertThat(out()).isEmpty();
    assertThat(err())
        .contains("rmsnorm train: saved in rmsnorm-train; to go on: ./rmsnorm train --seeds 2")
        .endsWith("--steps 200000 --resume\n");
    assertThat(state).isDirectoryContaining("glob:**.safetensors");
    assertThat(folder).isDirectoryNotContaining("glob:**.tmp");
  }

  /** After the warming up, when a line says at which steps the trainings are. */
  private void awaitSteps(Process child) throws IOException, InterruptedException {
    while (!err().contains("0/4 | step ")) {
      assertThat(child.isAlive()).as(err()).isTrue();
      Thread.sleep(50);
    }
  }

  /** Each figure of the page is the JSON's, to the digits that the page shows. */
  @Tag("long")
  @Test
  void thePagesFiguresAreTheJsonsAndItLoadsInABrowser() throws IOException, InterruptedException {
    Process child =
        train(TINY, List.of("--steps", "60", "--report", "a page.html", "--json", "a.json"))
            .start();
    assertThat(child.waitFor()).as(err()).isZero();
    assertThat(out().lines()).allMatch(line -> line.length() <= 80);
    assertThat(err()).contains("[1/4] ").contains("[4/4] ");
    assertThat(folder.resolve("rmsnorm-train")).doesNotExist();

    Map<?, ?> json = TestJson.read(folder.resolve("a.json"));
    List<String> sentences = TestJson.get(json, "verdicts");
    String printed = out().replaceAll("\\s+", " ");
    assertThat(sentences).hasSizeGreaterThan(4).allMatch(printed::contains);
    assertThat(TestJson.<String>get(json, "results.circumstances.command"))
        .isEqualTo(
            "./rmsnorm train "
                + String.join(" ", TINY)
                + " --steps 60 --report 'a page.html' --json a.json");

    Path page = folder.resolve("a page.html");
    try (Browser browser = Browser.start(folder.resolve("profile"))) {
      ReportInBrowser.open(browser, page);
      assertThat(browser.run("return document.querySelectorAll('canvas').length")).isEqualTo(3L);
      String shown = browser.run("return document.body.textContent").toString();
      assertThat(sentences).allMatch(shown::contains);
      assertSameFigures(json, rows(browser, "worst seed"), rows(browser, "minus"));
    }
  }

  private static List<String[]> rows(Browser browser, String having) {
    Object rows =
        browser.run(
            """
            return [...document.querySelectorAll("table")]
              .filter((t) => !t.closest("details") && t.textContent.includes("%s"))
              .flatMap((t) => [...t.querySelectorAll("tbody tr")])
              .map((r) => [...r.children].map((c) => c.textContent).join("|"))
            """
                .formatted(having));
    return ((List<?>) rows).stream().map(row -> row.toString().split(Pattern.quote("|"))).toList();
  }

  private static void assertSameFigures(
      Map<?, ?> json, List<String[]> norms, List<String[]> differences) {
    List<Object> rows = TestJson.get(json, "rows");
    assertThat(norms).hasSize(rows.size()).hasSize(2);
    for (int i = 0; i < norms.size(); i++) {
      Object row = rows.get(i);
      assertThat(Stream.of(norms.get(i)))
          .containsExactly(
              TestJson.get(row, "name"),
              "2e-3",
              format("%,.0f", TestJson.get(row, "parameters")),
              format("%.4f", TestJson.get(row, "loss.mean")),
              format("%.4f", TestJson.get(row, "loss.deviation")),
              format("%.4f", TestJson.get(row, "loss.low"))
                  + " to "
                  + format("%.4f", TestJson.get(row, "loss.high")),
              format("%.1f %%", 100 * TestJson.<Double>get(row, "accuracy")),
              format("%.1f %%", 100 * TestJson.<Double>get(row, "lowestAccuracy")),
              "-", // So few steps teach nothing.
              format("%.2f ms", TestJson.get(row, "stepMillis.mean")),
              "2",
              "0");
    }
    Object difference = TestJson.get(json, "differences.0");
    assertThat(differences).hasSize(1);
    assertThat(Stream.of(differences.getFirst()))
        .containsExactly(
            "RMSNorm minus LayerNorm",
            interval("%+.4f", difference, "loss"),
            // So few steps teach nothing: there is no column of steps to learn.
            interval("%+.2f ms", difference, "stepMillis"),
            "2");
  }

  private static String interval(String format, Object difference, String of) {
    return "%s (%s to %s)"
        .formatted(
            format(format, TestJson.get(difference, of + ".mean")),
            format(format, TestJson.get(difference, of + ".low")),
            format(format, TestJson.get(difference, of + ".high")));
  }

  private static String format(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }
}
