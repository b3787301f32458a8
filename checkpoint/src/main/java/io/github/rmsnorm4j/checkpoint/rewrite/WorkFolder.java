package io.github.rmsnorm4j.checkpoint.rewrite;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.rmsnorm4j.formats.ReplacingFile;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The folder {@code OUT.partial}, in which a result grows until it is whole. It holds:
 *
 * <ul>
 *   <li>{@code model}: the files of the result; this folder becomes OUT in one step
 *   <li>{@code manifest}: what the result is made from, the {@link Fingerprint}
 *   <li>{@code NAME.done} for each finished file: its size, and the count of its roundings
 *   <li>{@code lock}: locked by the process that is at work
 * </ul>
 *
 * <p>A process that is given the same manifest keeps the finished files. With another manifest the
 * folder is refused; nothing in it is deleted.
 */
final class WorkFolder implements Closeable {
  private static final String MANIFEST = "manifest";
  private static final String LOCK = "lock";
  private static final String DONE = ".done";

  /** What a {@link ReplacingFile} leaves if its process is killed. */
  private static final Pattern LEFT = Pattern.compile("\\..*\\.[0-9a-f]{8}\\.tmp");

  private final Path out;
  private final Path work;
  private final Path model;
  private final FileChannel lock;

  private WorkFolder(Path out, Path work, FileChannel lock) {
    this.out = out;
    this.work = work;
    this.model = work.resolve("model");
    this.lock = lock;
  }

  /**
   * Begins, or takes up again what another process left.
   *
   * @param out where the result is put in the end
   * @param manifest what it is made from
   * @throws FileSystemException if {@code OUT.partial} is something else
   */
  static WorkFolder begin(Path out, String manifest) throws IOException {
    Path work = out.resolveSibling(out.getFileName() + ".partial");
    if (Files.exists(work)) {
      requireOwn(work, manifest);
    }
    Files.createDirectories(work);
    WorkFolder folder = new WorkFolder(out, work, lock(work));
    try {
      if (!Files.exists(work.resolve(MANIFEST))) {
        write(work.resolve(MANIFEST), manifest);
      }
      Files.createDirectories(folder.model);
      deleteLeft(work);
      deleteLeft(folder.model);
      return folder;
    } catch (Throwable e) {
      folder.close();
      throw e;
    }
  }

  private static void requireOwn(Path work, String manifest) throws IOException {
    if (!Files.isDirectory(work)) {
      throw new FileSystemException(
          work.toString(), null, "is a file, and OUT grows in a folder of that name");
    }
    Path file = work.resolve(MANIFEST);
    boolean begun = Files.isRegularFile(file);
    if (begun && Files.size(file) == manifest.getBytes(UTF_8).length) {
      begun = Files.readString(file).equals(manifest);
    } else {
      begun = !begun && names(work).stream().allMatch(n -> n.equals(LOCK) || isLeft(n));
    }
    if (!begun) {
      throw new FileSystemException(
          work.toString(),
          null,
          "is of another command, or the model has changed since: delete it, or write elsewhere");
    }
  }

  private static boolean isLeft(String name) {
    return LEFT.matcher(name).matches();
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.map(ModelFiles::name).toList();
    }
  }

  private static void deleteLeft(Path folder) throws IOException {
    for (String name : names(folder)) {
      if (isLeft(name)) {
        Files.delete(folder.resolve(name));
      }
    }
  }

  private static FileChannel lock(Path work) throws IOException {
    FileChannel lock =
        FileChannel.open(work.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    boolean locked;
    try {
      locked = lock.tryLock() != null;
    } catch (OverlappingFileLockException _) {
      locked = false;
    }
    if (!locked) {
      lock.close();
      throw new FileSystemException(work.toString(), null, "another process is at work there");
    }
    return lock;
  }

  private static void write(Path path, String text) throws IOException {
    try (ReplacingFile file = ReplacingFile.create(path, true)) {
      file.write(MemorySegment.ofArray(text.getBytes(UTF_8)));
      file.commit();
    }
  }

  /** The folder with the files of the result. */
  Path model() {
    return model;
  }

  /** The count of a file's roundings, if the file is finished. */
  Optional<RoundingCount> finished(String name) throws IOException {
    Path done = work.resolve(name + DONE);
    if (!Files.exists(done) || !Files.exists(model.resolve(name))) {
      return Optional.empty();
    }
    String[] words = Files.readString(done).strip().split(" ");
    return words.length == 5 && Long.parseLong(words[0]) == Files.size(model.resolve(name))
        ? Optional.of(
            new RoundingCount(
                Long.parseLong(words[1]),
                Long.parseLong(words[2]),
                Long.parseLong(words[3]),
                Double.parseDouble(words[4])))
        : Optional.empty();
  }

  /** Remembers that a file is finished, which must be on the disk. */
  void finish(String name, RoundingCount count) throws IOException {
    write(
        work.resolve(name + DONE),
        "%s %s %s %s %s\n"
            .formatted(
                Files.size(model.resolve(name)),
                count.computed(),
                count.changed(),
                count.small(),
                Double.toHexString(count.largest())));
  }

  /**
   * Gives the result its name, in one step.
   *
   * @param files the names of all files that it has
   */
  void putInPlace(Set<String> files) throws IOException {
    Set<String> there = Set.copyOf(names(model));
    if (!there.equals(files)) {
      String wrong =
          Stream.concat(there.stream(), files.stream())
              .filter(name -> !(there.contains(name) && files.contains(name)))
              .sorted()
              .collect(Collectors.joining(", "));
      throw new FileSystemException(model.toString(), null, "was changed meanwhile: " + wrong);
    }
    try {
      Files.deleteIfExists(out); // Only an empty folder can be deleted.
    } catch (DirectoryNotEmptyException _) {
      throw new FileAlreadyExistsException(out.toString(), null, "has appeared meanwhile");
    }
    Files.move(model, out, StandardCopyOption.ATOMIC_MOVE);
    force(out.toAbsolutePath().getParent());
    deleteDone();
    Files.delete(work.resolve(MANIFEST));
    Files.delete(work.resolve(LOCK));
    Files.delete(work);
  }

  /** Before the manifest: without one, a folder with such files is not known as our own. */
  private void deleteDone() throws IOException {
    for (String name : names(work)) {
      if (name.endsWith(DONE)) {
        Files.delete(work.resolve(name));
      }
    }
  }

  /** A new name survives a power cut once its folder is on the disk. */
  private static void force(Path folder) {
    try (FileChannel channel = FileChannel.open(folder)) {
      channel.force(true);
    } catch (IOException _) {
      // Not every system opens folders; the files are on the disk already.
    }
  }

  /** Lets others work there. What was not put in place stays, to be taken up again. */
  @Override
  public void close() throws IOException {
    lock.close();
  }
}
