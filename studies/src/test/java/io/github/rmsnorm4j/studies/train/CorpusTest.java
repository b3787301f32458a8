package io.github.rmsnorm4j.studies.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CorpusTest {
  @TempDir Path folder;

  private Path jdk(String name, String source) throws IOException {
    Path lib = Files.createDirectories(folder.resolve(name).resolve("lib"));
    try (OutputStream file = Files.newOutputStream(lib.resolve("src.zip"));
        ZipOutputStream zip = new ZipOutputStream(file)) {
      for (String entry :
          List.of("java.base/java/util/B.java", "java.base/java/util/A.java", "x")) {
        zip.putNextEntry(new ZipEntry(entry));
        zip.write((entry + source).getBytes(StandardCharsets.UTF_8));
      }
    }
    return folder.resolve(name);
  }

  @Test
  void theSourcesOfTheFirstJdkThatHasThemAreRead() throws IOException {
    Path without = Files.createDirectories(folder.resolve("jre"));
    Task task = Corpus.ofJdk(List.of(without, jdk("jdk", "a".repeat(500)))).task(8, 2);
    assertThat(task.characters()).isEqualTo(2 * (500 + 26));
    assertThat(task.name()).isEqualTo("jdk");
  }

  @Test
  void whereThereAreNoSourcesOneSentenceSaysWhatWouldDo() {
    assertThatThrownBy(() -> Corpus.ofJdk(List.of(folder, folder)))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "--text jdk: there are no sources, lib/src.zip, in %s: a JDK with sources as JAVA_HOME,"
                    .formatted(folder)
                + " or --text FILE, would do");
  }

  @Test
  void theHeldOutTenthIsNotTrainedOn() throws IOException {
    Path file = Files.writeString(folder.resolve("t"), "a".repeat(900) + "b".repeat(100));
    Corpus corpus = Corpus.read(file.toString());
    assertThat(corpus.task(4, 2).vocabulary()).isEqualTo(3);
    int[] tokens = new int[400];
    int[] targets = new int[400];
    corpus.training(4, 1).fill(0, tokens, targets);
    assertThat(tokens).containsOnly(1);
    assertThat(targets).containsOnly(1);
    corpus.heldOut(4).fill(0, tokens, targets);
    assertThat(tokens).containsOnly(2);
  }

  @Test
  void anotherTextIsAnotherTask() throws IOException {
    Path one = Files.writeString(folder.resolve("one"), "ab".repeat(500));
    Task task = Corpus.read(one.toString()).task(4, 2);
    Files.writeString(one, "ba".repeat(500));
    assertThat(Corpus.read(one.toString()).task(4, 2)).isNotEqualTo(task);
  }
}
