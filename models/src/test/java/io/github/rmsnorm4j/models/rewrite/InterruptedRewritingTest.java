package io.github.rmsnorm4j.models.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Wish;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is left when a rewriting dies, or when others are at work in the same place. */
class InterruptedRewritingTest {
  private static final String FIRST_SHARD = "model-00001-of-00008.safetensors";
  private static final int SHARDS = 8;
  private static final int KILLS = Boolean.getBoolean("tests.all") ? 12 : 5;
  private static final long SEED = 5;

  @TempDir private Path folder;
  private Path in;
  private Path out;
  private Path partial;
  private Map<String, String> model;

  @BeforeEach
  void write() throws IOException {
    in = TestModel.llama("llama", true, 256).write(folder.resolve("in"), Dtype.F32, SHARDS);
    out = folder.resolve("out");
    partial = folder.resolve("out.partial");
    model = RewritingTest.files(in);
  }

  /** The process: folds its first argument to its second, and prints a letter as it begins. */
  static final class Folding {
    public static void main(String[] args) throws IOException {
      try (Rewriting rewriting =
          Rewriting.open(Path.of(args[0]), new Wish(Goal.FOLD, Optional.empty(), true, true))) {
        System.out.println("r");
        rewriting.write(Path.of(args[1]), true, _ -> {});
      } catch (FileSystemException e) {
        System.err.println(e.getMessage());
        System.exit(1);
      }
    }
  }

  private Process start(String... wrapper) throws IOException {
    List<String> command = new ArrayList<>(List.of(wrapper));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(Folding.class.getName(), in.toString(), out.toString()));
    return new ProcessBuilder(command).start();
  }

  private Map<String, String> uninterrupted() throws IOException {
    Path whole = folder.resolve("whole");
    fold(whole);
    return RewritingTest.files(whole);
  }

  private void fold(Path to) throws IOException {
    Wish wish = new Wish(Goal.FOLD, Optional.empty(), true, true);
    try (Rewriting rewriting = Rewriting.open(in, wish)) {
      assertThat(rewriting.write(to, true, _ -> {}).difference()).isEmpty();
    }
  }

  @Test
  void killedAtAnyMomentTheResultIsAbsentOrWhole() throws Exception {
    Map<String, String> whole = uninterrupted();
    Random random = new Random(SEED);
    int caught = 0;
    // Until a kill was in the middle.
    for (int kill = 0; kill < KILLS || caught == 0; kill++) {
      Process process = start();
      try {
        assertThat(process.getInputStream().read()).isEqualTo('r');
        if (kill % 4 == 0) {
          awaitTheFirstShard(process);
        } else {
          // From the first shard to the proof, and sometimes after the end.
          Thread.sleep(random.nextInt(1200 * (kill + 1) / KILLS), random.nextInt(1_000_000));
        }
      } finally {
        process.destroyForcibly().waitFor();
      }
      assertThat(RewritingTest.files(in)).as("the model").isEqualTo(model);
      if (Files.exists(out)) {
        assertThat(RewritingTest.files(out)).as("kill %d, seed %d", kill, SEED).isEqualTo(whole);
        delete(out);
      } else if (Files.exists(partial)) {
        caught++;
        assertThatThrownBy(() -> fold(out))
            .hasMessage(
                partial
                    + ": exists: another command is writing OUT, or was killed; if none is running, delete it");
        delete(partial);
        fold(out);
        assertThat(RewritingTest.files(out)).isEqualTo(whole);
        delete(out);
      }
    }
  }

  private void awaitTheFirstShard(Process process) throws InterruptedException {
    while (process.isAlive() && Files.notExists(partial.resolve(FIRST_SHARD))) {
      Thread.sleep(1);
    }
  }

  private static void delete(Path folder) throws IOException {
    for (String file : RewritingTest.files(folder).keySet()) {
      Files.delete(folder.resolve(file));
    }
    Files.delete(folder);
  }

  /** A limit on the size of files fails a write as a full disk does; the last shard is larger. */
  @Test
  void withAFullDiskNothingIsLeft() throws Exception {
    Map<String, String> whole = uninterrupted();
    long largest = Files.size(folder.resolve("whole/model-00008-of-00008.safetensors"));
    Process process =
        start("bash", "-c", "ulimit -f " + (largest / 1024 - 1) + " && exec \"$@\"", "bash");
    assertThat(new String(process.getErrorStream().readAllBytes()))
        .contains("cannot write: File too large");
    assertThat(process.waitFor()).isEqualTo(1);
    assertThat(out).doesNotExist();
    assertThat(partial).doesNotExist();
    assertThat(RewritingTest.files(in)).isEqualTo(model);
    fold(out);
    assertThat(RewritingTest.files(out)).isEqualTo(whole);
  }

  /** Does something once while the model is read. */
  private void foldWhile(Runnable meanwhile) throws IOException {
    AtomicBoolean done = new AtomicBoolean();
    Wish wish = new Wish(Goal.FOLD, Optional.empty(), true, true);
    try (Rewriting rewriting = Rewriting.open(in, wish)) {
      rewriting.write(
          out,
          true,
          _ -> {
            if (done.compareAndSet(false, true)) {
              meanwhile.run();
            }
          });
    }
  }

  @Test
  void ofTwoAtATimeTheSecondIsRefused() throws IOException {
    Map<String, String> whole = uninterrupted();
    foldWhile(
        () -> assertThatThrownBy(() -> fold(out)).hasMessageStartingWith(partial + ": exists"));
    assertThat(RewritingTest.files(out)).isEqualTo(whole);
    assertThat(partial).doesNotExist();
  }

  @Test
  void whatStopsHalfWayIsDeleted() {
    assertThatThrownBy(
            () ->
                foldWhile(
                    () -> {
                      throw new IllegalStateException("stopped");
                    }))
        .hasMessage("stopped");
    assertThat(out).doesNotExist();
    assertThat(partial).doesNotExist();
  }

  /** What others put at OUT, or into OUT.partial, stays, and the result is not put in place. */
  @Test
  void whatAppearsMeanwhileStays() throws IOException {
    assertThatThrownBy(() -> foldWhile(() -> write(partial.resolve("thesis.txt"))))
        .hasMessage(partial + ": was changed by another program");
    assertThat(RewritingTest.files(partial)).containsOnlyKeys("thesis.txt");
    delete(partial);
    assertThatThrownBy(() -> foldWhile(() -> write(out.resolve("thesis.txt"))))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining(out.toString());
    assertThat(RewritingTest.files(out)).containsOnlyKeys("thesis.txt");
    assertThat(partial).doesNotExist();
  }

  private static void write(Path file) {
    try {
      Files.createDirectories(file.getParent());
      Files.writeString(file, "mine");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
