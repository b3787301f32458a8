package io.github.rmsnorm4j.models.rewrite;

import static java.nio.file.attribute.PosixFilePermission.GROUP_WRITE;
import static java.nio.file.attribute.PosixFilePermission.OTHERS_WRITE;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The folder {@code OUT.partial}, in which a result grows until it is whole. Only its owner may use
 * it. It holds:
 *
 * <ul>
 *   <li>{@code model}: the finished files of the result; this folder becomes OUT in one step
 *   <li>{@code part.safetensors}: the file that is being written, whatever its name will be
 *   <li>{@code journal}: what the result is made from, and what is finished, see {@link Journal}
 * </ul>
 *
 * <p>A process with the same journal keeps the finished files. With another journal, or with
 * anything in it that this command did not leave there, the folder is refused. Nothing else is
 * deleted, replaced, or written through a link.
 */
final class WorkFolder implements Closeable {
  private static final String JOURNAL = "journal";
  private static final String MODEL = "model";

  /** The ending decides the format of a file with tensors. */
  private static final String PART = "part.safetensors";

  /** What a process leaves that is killed while it writes such a file. */
  private static final String LEFT = "\\.?part\\.safetensors(\\.[0-9a-f]+\\.tmp)?";

  private static final int PIECE = 4 << 20;
  private static final Set<PosixFilePermission> OWNER =
      PosixFilePermissions.fromString("rwx------");

  private final Path out;
  private final Path work;

  /** The folder with the files of the result. */
  final Path model;

  private final Journal journal;

  /** The files of the result that are finished. */
  private final Map<String, FileState> finished = new HashMap<>();

  private WorkFolder(Path out, Path work, Journal journal) {
    this.out = out;
    this.work = work;
    this.model = work.resolve(MODEL);
    this.journal = journal;
  }

  /**
   * Begins, or takes up again what another process left.
   *
   * @param out where the result is put in the end
   * @param first what it is made from, the first line of the journal
   * @param names those of all files that the result will have
   * @throws FileSystemException if {@code OUT.partial} is something else
   */
  static WorkFolder begin(Path out, String first, Set<String> names) throws IOException {
    Path work = partial(out);
    if (!exists(work)) {
      FileAttribute<?>[] attributes = {PosixFilePermissions.asFileAttribute(OWNER)};
      Files.createDirectory(work, isPosix(work) ? attributes : new FileAttribute<?>[0]);
    }
    if (!FileState.of(work).isFolder()) {
      throw refused(work, "is no folder, and OUT grows in a folder of that name");
    }
    Set<String> there = names(work);
    if (!(there.isEmpty() || there.contains(JOURNAL))
        || there.stream().anyMatch(name -> !name.matches(JOURNAL + "|" + MODEL + "|" + LEFT))) {
      throw Journal.ofAnother(work);
    }
    close(work);
    WorkFolder folder = new WorkFolder(out, work, Journal.open(work.resolve(JOURNAL), first));
    try {
      folder.takeUp(names);
      return folder;
    } catch (Throwable e) {
      folder.close();
      throw e;
    }
  }

  private void takeUp(Set<String> names) throws IOException {
    for (String name : names(work)) {
      Path left = work.resolve(name);
      if (!FileState.of(left).isFile() && !name.equals(MODEL)) {
        throw changed(left);
      }
      if (name.matches(LEFT)) {
        Files.delete(left);
      }
    }
    if (!exists(model)) {
      Files.createDirectory(model);
    }
    if (!FileState.of(model).isFolder()) {
      throw changed(model);
    }
    for (String name : names(model)) {
      if (!names.contains(name)) {
        throw changed(model.resolve(name));
      }
    }
  }

  /**
   * Closes the folder to other users. It is refused if it was open to them: they could change what
   * is there at any time, also when it has become OUT.
   */
  private static void close(Path work) throws IOException {
    Path mine = Files.createTempFile(work, PART + ".", ".tmp");
    UserPrincipal me = Files.getOwner(mine);
    Files.delete(mine);
    if (!Files.getOwner(work, LinkOption.NOFOLLOW_LINKS).equals(me)) {
      throw refused(work, "belongs to another user: delete it, or write elsewhere");
    }
    if (isPosix(work)) {
      Set<PosixFilePermission> permissions =
          Files.getPosixFilePermissions(work, LinkOption.NOFOLLOW_LINKS);
      if (permissions.contains(GROUP_WRITE) || permissions.contains(OTHERS_WRITE)) {
        throw refused(work, "may be written by other users: delete it, or write elsewhere");
      }
      Files.setPosixFilePermissions(work, OWNER);
    }
  }

  private static Path partial(Path out) {
    return out.resolveSibling(out.getFileName() + ".partial");
  }

  private static boolean isPosix(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  private static boolean exists(Path path) {
    return Files.exists(path, LinkOption.NOFOLLOW_LINKS);
  }

  private static Set<String> names(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.map(entry -> entry.getFileName().toString()).collect(Collectors.toSet());
    }
  }

  private static FileSystemException refused(Path path, String reason) {
    return new FileSystemException(path.toString(), null, reason);
  }

  private FileSystemException changed(Path file) {
    return refused(
        file, "is not as this command left it: delete %s, or write elsewhere".formatted(work));
  }

  /** Where to write the next file. Nothing is there. */
  Path part() throws IOException {
    Path part = work.resolve(PART);
    if (exists(part)) {
      throw changed(part);
    }
    return part;
  }

  /**
   * The count of a shard's roundings, if the shard is finished.
   *
   * @param shard its number in the model
   */
  Optional<RoundingCount> finished(int shard, String name) throws IOException {
    if (!exists(model.resolve(name))) {
      return Optional.empty();
    }
    FileState state = FileState.of(model.resolve(name));
    Optional<RoundingCount> count = journal.count(shard, state);
    if (count.isEmpty()) {
      throw changed(model.resolve(name));
    }
    finished.put(name, state);
    return count;
  }

  /** Gives a written shard its name, and remembers that it is finished. */
  void finish(int shard, String name, FileState like, RoundingCount count) throws IOException {
    // The journal comes first. So a shard that is not in it is not of this command.
    journal.finish(shard, FileState.of(work.resolve(PART)), count);
    finish(name, like);
  }

  /**
   * Gives a written file its name.
   *
   * @param like the file of the model whose permissions it gets
   */
  void finish(String name, FileState like) throws IOException {
    Path part = work.resolve(PART);
    like.givePermissions(part, Set.of());
    Files.move(part, model.resolve(name));
    finished.put(name, FileState.of(model.resolve(name)));
  }

  /** Makes a link to another file of the result. */
  void link(String name, String target) throws IOException {
    Path link = model.resolve(name);
    if (!exists(link)) {
      Files.createSymbolicLink(link, Path.of(target));
    }
    if (!Files.isSymbolicLink(link) || !Files.readSymbolicLink(link).toString().equals(target)) {
      throw changed(link);
    }
    finished.put(name, FileState.of(link));
  }

  /**
   * Whether a file is finished.
   *
   * @param content what must be in it; read only if there is such a file
   */
  boolean isFinished(String name, InputStream content) throws IOException {
    Path file = model.resolve(name);
    if (!exists(file)) {
      return false;
    }
    FileState state = FileState.of(file);
    if (!state.isFile()) {
      throw changed(file);
    }
    try (InputStream written = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
      for (byte[] piece = {0}; piece.length > 0; ) {
        piece = content.readNBytes(PIECE);
        if (!Arrays.equals(piece, written.readNBytes(PIECE))) {
          throw changed(file);
        }
      }
    }
    finished.put(name, state);
    return true;
  }

  /** What was written is kept, but not taken up again. */
  void refuse() throws IOException {
    journal.refuse();
  }

  /**
   * Gives the result its name, in one step.
   *
   * @param like the folder of the model, whose permissions it gets
   */
  void putInPlace(FileState like) throws IOException {
    TreeSet<String> names = new TreeSet<>(names(model));
    names.addAll(finished.keySet());
    for (String name : names) {
      Path file = model.resolve(name);
      if (!exists(file) || !FileState.of(file).equals(finished.get(name))) {
        throw changed(file);
      }
    }
    like.givePermissions(model, OWNER);
    OutFolder.put(model, out);
    delete(work);
  }

  /**
   * Deletes what is left of a folder whose result is in place, if its process was killed then.
   *
   * @param first as in {@link #begin}
   */
  static void deleteEmptied(Path out, String first) throws IOException {
    Path work = partial(out);
    if (exists(work) && FileState.of(work).isFolder() && names(work).equals(Set.of(JOURNAL))) {
      try {
        close(work);
        try (Journal _ = Journal.open(work.resolve(JOURNAL), first)) {
          delete(work);
        }
      } catch (FileSystemException _) {
        // It is of another command, or at work.
      }
    }
  }

  private static void delete(Path work) throws IOException {
    Files.delete(work.resolve(JOURNAL));
    try {
      Files.delete(work);
    } catch (DirectoryNotEmptyException _) {
      // Somebody has put something there, which stays.
    }
  }

  /** Lets others work there. What was not put in place stays, to be taken up again. */
  @Override
  public void close() throws IOException {
    journal.close();
  }
}
