package io.github.rmsnorm4j.studies.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderLockTest {
  private static final int THREADS = 4;
  private static final int TIMES = 2_000;

  @TempDir Path folder;

  private final AtomicInteger holders = new AtomicInteger();
  private final AtomicInteger taken = new AtomicInteger();

  /** The file goes with each of them, and the next one makes another. */
  @Test
  void oneHoldsItAtATime() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> work = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        work.add(threads.submit(this::takeAndGiveBack));
      }
      for (Future<?> each : work) {
        each.get();
      }
    }
    assertThat(folder).isEmptyDirectory();
  }

  private Void takeAndGiveBack() throws IOException {
    // Until one of them had it: whoever has it may have to wait long for a processor.
    for (int i = 0; i < TIMES || taken.get() < TIMES / 10; i++) {
      try (FolderLock _ = FolderLock.take(folder)) {
        assertThat(holders.incrementAndGet()).isOne();
        taken.incrementAndGet();
        holders.decrementAndGet();
      } catch (FileSystemException e) {
        assertThat(e).hasMessage(folder + ": is in use by another rmsnorm train");
      }
    }
    return null;
  }

  @Test
  void aNameThatIsNoFileIsRefused() throws IOException {
    Files.createDirectory(folder.resolve(FolderLock.NAME));
    assertThatThrownBy(() -> FolderLock.take(folder))
        .hasMessage(folder.resolve("lock") + ": is no regular file");
  }
}
