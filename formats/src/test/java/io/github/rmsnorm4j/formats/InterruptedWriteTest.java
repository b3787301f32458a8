package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is left of a file when the process that replaces it dies. */
class InterruptedWriteTest {
  private static final int KILLS = 25;
  private static final long SEED = 7;

  @TempDir Path folder;

  /** The first byte read means that the process is at work; then wait a little longer. */
  private static void awaitSomeMoment(Process process, Random random) throws Exception {
    assertThat(process.getInputStream().read()).isEqualTo('r');
    Thread.sleep(random.nextInt(40), random.nextInt(1_000_000));
  }

  @Test
  void killedAtAnyMomentTheFileIsTheOldOneOrTheNewOne() throws Exception {
    Random random = new Random(SEED);
    Path target = folder.resolve("out");
    Files.write(target, new byte[RewritingProcess.SIZE]);
    int caughtWriting = 0;
    // Until a moment was worth something: in the middle of a write.
    for (int kill = 0; kill < KILLS || caughtWriting == 0; kill++) {
      Process process = RewritingProcess.start(target);
      try {
        awaitSomeMoment(process, random);
      } finally {
        process.destroyForcibly().waitFor();
      }
      assertThat(RewritingProcess.isWhole(target))
          .describedAs("kill %d, seed %d", kill, SEED)
          .isTrue();
      caughtWriting += (int) TestFiles.names(folder).filter(name -> name.endsWith(".tmp")).count();
      deleteLeftovers();
    }
  }

  private void deleteLeftovers() throws IOException {
    for (String name : TestFiles.names(folder).filter(n -> n.endsWith(".tmp")).toList()) {
      Files.delete(folder.resolve(name));
    }
  }

  /** SIGTERM, as kill and a shutdown send it; Ctrl-C takes the same way through the JVM. */
  @Test
  void asksToStopLeaveNothingBehind() throws Exception {
    Random random = new Random(SEED);
    Path target = folder.resolve("out");
    Files.write(target, new byte[RewritingProcess.SIZE]);
    for (int stop = 0; stop < 5; stop++) {
      Process process = RewritingProcess.start(target);
      try {
        awaitSomeMoment(process, random);
        process.destroy();
        process.waitFor();
      } finally {
        process.destroyForcibly();
      }
      assertThat(RewritingProcess.isWhole(target)).isTrue();
      assertThat(TestFiles.names(folder)).containsExactly("out");
    }
  }

  /** A limit on the size of files fails a write as a full disk does. */
  @Test
  void aFullDiskLeavesWhatWasThere() throws Exception {
    Path target = Files.writeString(folder.resolve("out"), "old");
    Process process =
        RewritingProcess.start(target, "bash", "-c", "ulimit -f 100 && exec \"$@\"", "bash");
    String errors = new String(process.getErrorStream().readAllBytes());
    assertThat(process.waitFor()).as(errors).isNotZero();
    assertThat(errors).contains(target + ": cannot write: File too large");
    assertThat(target).hasContent("old");
    assertThat(TestFiles.names(folder)).containsExactly("out");
  }
}
