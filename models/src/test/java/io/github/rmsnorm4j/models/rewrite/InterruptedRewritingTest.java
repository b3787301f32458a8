package io.github.rmsnorm4j.models.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.Dtype;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is left when a rewriting dies, and what the same command makes of it. */
class InterruptedRewritingTest {
  private static final String FIRST_SHARD = "model/model-00001-of-00008.safetensors";
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
          Rewriting.open(Path.of(args[0]), Optional.empty(), Goal.FOLD, true)) {
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

  private long fold(Path to) throws IOException {
    AtomicLong reads = new AtomicLong();
    try (Rewriting rewriting = Rewriting.open(in, Optional.empty(), Goal.FOLD, true)) {
      assertThat(rewriting.write(to, true, _ -> reads.incrementAndGet()).isInPlace()).isTrue();
    }
    return reads.get();
  }

  @Test
  void killedAtAnyMomentTheResultIsAbsentOrWhole() throws Exception {
    Map<String, String> whole = uninterrupted();
    Random random = new Random(SEED);
    int caught = 0;
    int resumed = 0;
    // Until a kill was in the middle, and another after a finished shard.
    for (int kill = 0; kill < KILLS || caught == 0 || resumed == 0; kill++) {
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
      } else {
        caught++;
        // Every other time the next process takes over what this one left.
        if (kill % 2 == 0) {
          resumed += Files.exists(partial.resolve(FIRST_SHARD)) ? 1 : 0;
          fold(out);
          assertThat(RewritingTest.files(out)).isEqualTo(whole);
          assertThat(partial).doesNotExist();
          delete(out);
        }
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
  void withAFullDiskTheResultIsAbsentAndFinishedFilesAreKept() throws Exception {
    Map<String, String> whole = uninterrupted();
    long largest = Files.size(folder.resolve("whole/model-00008-of-00008.safetensors"));
    Process process =
        start("bash", "-c", "ulimit -f " + (largest / 1024 - 1) + " && exec \"$@\"", "bash");
    assertThat(new String(process.getErrorStream().readAllBytes()))
        .contains("cannot write: File too large");
    assertThat(process.waitFor()).isEqualTo(1);
    assertThat(out).doesNotExist();
    assertThat(RewritingTest.files(in)).isEqualTo(model);
    List<Path> kept =
        List.of(
            partial.resolve(FIRST_SHARD),
            partial.resolve("model/model-00002-of-00008.safetensors"));
    List<FileTime> times = new ArrayList<>();
    for (Path file : kept) {
      times.add(Files.getLastModifiedTime(file));
    }
    fold(out);
    for (Path file : kept) {
      assertThat(Files.getLastModifiedTime(out.resolve(file.getFileName())))
          .isEqualTo(times.get(kept.indexOf(file)));
    }
    assertThat(RewritingTest.files(out)).isEqualTo(whole);
  }

  /** Rounding is counted over all shards, also over those that another process wrote. */
  @Test
  void whatWasFinishedIsCountedAgain() throws Exception {
    RoundingCount[] counts = new RoundingCount[2];
    try (Rewriting rewriting = Rewriting.open(in, Optional.empty(), Goal.FOLD, true)) {
      counts[0] = rewriting.write(folder.resolve("whole"), true, _ -> {}).rounding();
    }
    stopAfter(12);
    try (Rewriting rewriting = Rewriting.open(in, Optional.empty(), Goal.FOLD, true)) {
      Rewriting.Result result = rewriting.write(out, true, _ -> {});
      assertThat(result.kept()).isBetween(1, SHARDS - 1);
      counts[1] = result.rounding();
    }
    assertThat(counts[1]).isEqualTo(counts[0]);
  }

  /** Ends a rewriting after so many blocks that were read. */
  private void stopAfter(int blocks) throws IOException {
    AtomicLong left = new AtomicLong(blocks);
    try (Rewriting rewriting = Rewriting.open(in, Optional.empty(), Goal.FOLD, true)) {
      assertThatThrownBy(
              () ->
                  rewriting.write(
                      out,
                      true,
                      _ -> {
                        if (left.decrementAndGet() == 0) {
                          throw new IllegalStateException("stopped");
                        }
                      }))
          .hasMessage("stopped");
    }
    assertThat(out).doesNotExist();
    assertThat(partial).isDirectory();
  }

  @Test
  void aModelThatHasChangedIsNotTakenUp() throws IOException {
    stopAfter(12);
    Path shard = in.resolve("model-00008-of-00008.safetensors");
    FileTime time = Files.getLastModifiedTime(shard);
    Files.setLastModifiedTime(shard, FileTime.fromMillis(time.toMillis() + 1000));
    assertThatThrownBy(() -> fold(out))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("the model has changed since: delete it, or write elsewhere");
    Files.setLastModifiedTime(shard, time);
    fold(out);
  }

  @Test
  void anotherPlanDoesNotTakeItUp() throws IOException {
    stopAfter(12);
    try (Rewriting rewriting = Rewriting.open(in, Optional.empty(), Goal.FOLD, false)) {
      assertThatThrownBy(() -> rewriting.write(out, true, _ -> {}))
          .isInstanceOf(FileSystemException.class)
          .hasMessageContaining("is of another command");
    }
  }

  @Test
  void twoAtATimeAreRefused() throws IOException {
    try (Rewriting rewriting = Rewriting.open(in, Optional.empty(), Goal.FOLD, true);
        Rewriting other = Rewriting.open(in, Optional.empty(), Goal.FOLD, true)) {
      List<Throwable> refusals = new ArrayList<>();
      rewriting.write(
          out,
          true,
          _ -> {
            if (refusals.isEmpty()) {
              try {
                other.write(out, true, _ -> {});
              } catch (IOException e) {
                refusals.add(e);
              }
            }
          });
      assertThat(refusals.getFirst()).hasMessage(partial + ": another process is at work there");
    }
    assertThat(out).isDirectory();
  }
}
