package io.github.rmsnorm4j.models.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Isolated // A JVM has one default locale.
class JournalTest {
  private static final int THREADS = 4;
  private static final int TURNS = 20_000;
  private static final int LEAST_HELD = 1000;

  @TempDir private Path folder;

  @Test
  void whatIsWrittenInOneLanguageIsReadInAnother() throws IOException {
    Path path = folder.resolve("journal");
    FileState state = FileState.of(Files.writeString(folder.resolve("shard"), "shard"));
    RoundingCount count = new RoundingCount(1234, 567, 89, 0.125);
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
    try (Journal journal = Journal.open(path, "first")) {
      journal.finish(10, state, count);
    } finally {
      Locale.setDefault(before);
    }
    try (Journal journal = Journal.open(path, "first")) {
      assertThat(journal.count(10, state)).contains(count);
    }
  }

  /** A process that was killed while it looked whether the file still has its name leaves zeros. */
  @ParameterizedTest
  @ValueSource(strings = {"", "fir", "first\n", "first\n12 34"})
  void zerosAtTheEndAreCutOff(String before) throws IOException {
    Path path = folder.resolve("journal");
    Files.writeString(path, before + "\0".repeat(1000));
    try (Journal _ = Journal.open(path, "first")) {
      assertThat(Files.readString(path)).isEqualTo("first\n");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"other\n", "first\0\0\n", "\0\0first\n", "firstly"})
  void aFileOfAnotherCommandStaysAsItIs(String text) throws IOException {
    Path path = folder.resolve("journal");
    Files.writeString(path, text);
    FileTime time = FileTime.from(Instant.EPOCH);
    Files.setLastModifiedTime(path, time);
    assertThatThrownBy(() -> Journal.open(path, "first"))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("is of another command");
    assertThat(Files.readString(path)).isEqualTo(text);
    assertThat(Files.getLastModifiedTime(path)).isEqualTo(time);
  }

  /** Also when its last holder deletes the file that others have opened. */
  @Test
  void oneAtATimeHoldsAJournalThatIsDeleted() throws Exception {
    Path path = folder.resolve("journal");
    AtomicInteger holders = new AtomicInteger();
    AtomicInteger together = new AtomicInteger();
    AtomicInteger held = new AtomicInteger();
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> all = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        all.add(
            threads.submit(
                () -> {
                  // Until one of them held it: whoever holds it may have to wait long for a
                  // processor.
                  for (int turn = 0; turn < TURNS || held.get() < LEAST_HELD; turn++) {
                    try (Journal _ = Journal.open(path, "first")) {
                      held.incrementAndGet();
                      together.addAndGet(holders.incrementAndGet() - 1);
                      Thread.yield();
                      holders.decrementAndGet();
                      Files.delete(path);
                    } catch (FileSystemException _) {
                      // Another one holds it, or it was deleted before it was opened.
                    }
                  }
                  return null;
                }));
      }
      for (Future<?> one : all) {
        one.get();
      }
    }
    assertThat(together).hasValue(0);
  }
}
