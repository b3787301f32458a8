package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.ReplacingFile;
import io.github.rmsnorm4j.report.Records;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The folder of what a plan has come to: the plan, the outcome of each finished training, and a
 * checkpoint of each that was stopped. Every file is there whole or not at all.
 */
public final class RunFolder implements Closeable {
  private static final String PLAN = "plan.json";
  private static final List<String> ENDINGS = List.of(".json", ".safetensors");
  private static final long LONGEST = 64 << 20;

  private final Path path;
  private final FolderLock lock;

  private RunFolder(Path path, FolderLock lock) {
    this.path = path;
    this.lock = lock;
  }

  /**
   * Checks that a plan can begin, or with {@code resume} go on, in a folder; changes nothing.
   *
   * @param force whether what is there may be replaced
   * @throws IllegalArgumentException if it cannot
   * @throws IOException if the folder cannot be read, or another process is at work in it
   */
  public static void require(Path path, Plan plan, boolean resume, boolean force)
      throws IOException {
    if (Files.isRegularFile(path.resolve(FolderLock.NAME))) {
      FolderLock.take(path)
          .release(); // What others hold at this moment is not judged: it is changing.
    }
    requireFit(path, plan, resume, force);
  }

  private static void requireFit(Path path, Plan plan, boolean resume, boolean force)
      throws IOException {
    if (Files.exists(path) && !Files.isDirectory(path)) {
      throw new IllegalArgumentException("--out " + path + " is no folder");
    }
    Optional<Plan> held = plan(path);
    if (resume && held.isEmpty()) {
      throw new IllegalArgumentException(
          "--resume: there is nothing to go on with in "
              + path
              + ", it has no "
              + PLAN
              + " of a training");
    }
    if (resume && !held.get().equals(plan)) {
      throw new IllegalArgumentException(
          "--resume: %s is of a training with other settings; give those it was begun with, or another --out"
              .formatted(path.resolve(PLAN)));
    }
    if (!resume && held.isPresent() && !force && !saved(path, held.get()).isEmpty()) {
      throw new IllegalArgumentException(
          path
              + " holds a training: --resume continues it, --force starts again, --out takes"
              + " another folder");
    }
    if (!resume && held.isEmpty() && Files.exists(path) && hasOtherFiles(path)) {
      throw new IllegalArgumentException(
          "--out " + path + " holds other files; give a folder that is empty or not there yet");
    }
  }

  /** The plan of a folder's training; empty if it has none. */
  private static Optional<Plan> plan(Path path) throws IOException {
    Path file = path.resolve(PLAN);
    if (!Files.isRegularFile(file)) {
      return Optional.empty();
    }
    try {
      return Optional.of(Records.read(Plan.class, read(file)));
    } catch (FileSystemException e) {
      throw e;
    } catch (IOException | IllegalArgumentException e) {
      return Optional.empty(); // Other programs have files of that name too.
    }
  }

  /** What trainings of a plan have left in a folder. */
  private static List<Path> saved(Path path, Plan plan) {
    return plan.possible().stream()
        .flatMap(run -> ENDINGS.stream().map(ending -> path.resolve(run.key() + ending)))
        .filter(Files::exists)
        .toList();
  }

  /** Other than the lock, which a process that was killed may have left in an empty folder. */
  private static boolean hasOtherFiles(Path path) throws IOException {
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(path, file -> !file.endsWith(FolderLock.NAME))) {
      return files.iterator().hasNext();
    }
  }

  /**
   * Begins a plan in a folder, which is made if it is not there, or goes on.
   *
   * @throws IllegalArgumentException if it cannot, as {@link #require} has it
   */
  public static RunFolder open(Path path, Plan plan, boolean resume, boolean force)
      throws IOException {
    require(path, plan, resume, force);
    Files.createDirectories(path);
    RunFolder folder = new RunFolder(path, FolderLock.take(path));
    try {
      requireFit(path, plan, resume, force); // Another may have been here since.
      if (resume) {
        for (Run run : plan.possible()) {
          folder.outcome(run); // What cannot be read is known before hours go by.
        }
      } else {
        folder.deleteOurs();
        write(path.resolve(PLAN), Records.write(plan));
      }
      return folder;
    } catch (IOException | RuntimeException e) {
      folder.close();
      throw e;
    }
  }

  /** Lets others use the folder. */
  @Override
  public void close() throws IOException {
    lock.close();
  }

  private void deleteOurs() throws IOException {
    Optional<Plan> held = plan(path);
    if (held.isPresent()) {
      for (Path file : saved(path, held.get())) {
        Files.delete(file);
      }
      Files.delete(path.resolve(PLAN));
    }
  }

  /** Where a training is kept that is not finished. */
  Path checkpoint(Run run) {
    return path.resolve(run.key() + ".safetensors");
  }

  /** How a training ended, if it has. */
  Optional<Outcome> outcome(Run run) throws IOException {
    Path file = path.resolve(run.key() + ".json");
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    Outcome outcome;
    try {
      outcome = Records.read(Outcome.class, read(file));
    } catch (FileSystemException e) {
      throw e;
    } catch (IOException e) {
      throw new FormatException(file, "is not the outcome of a training: " + e.getMessage());
    }
    if (!outcome.run().equals(run)) {
      throw new FormatException(file, "is of another training: " + outcome.run().title());
    }
    return Optional.of(outcome);
  }

  /** A training has ended. */
  void keep(Outcome outcome) throws IOException {
    write(path.resolve(outcome.run().key() + ".json"), Records.write(outcome));
    Files.deleteIfExists(checkpoint(outcome.run()));
  }

  /** Removes it with all that is known of the plan; other files stay, and the folder with them. */
  public void delete() throws IOException {
    deleteOurs();
    close();
    if (!hasOtherFiles(path)) {
      Files.delete(path);
    }
  }

  private static String read(Path file) throws IOException {
    if (Files.size(file) > LONGEST) {
      throw new FormatException(
          file, "has " + Files.size(file) + " bytes, at most " + LONGEST + " are read");
    }
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
  }

  private static void write(Path file, String text) throws IOException {
    try (ReplacingFile out = ReplacingFile.create(file, true)) {
      out.write(MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8)));
      out.commit();
    }
  }
}
