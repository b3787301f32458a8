package io.github.rmsnorm4j.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A folder that appears when it is complete, or not at all: written next to its place and renamed.
 * What it replaces is renamed as well, and deleted only when the new one is in its place; whenever
 * the process is killed, one or the other is there. A link stays one: what it leads to is replaced.
 */
final class OutputFolder implements AutoCloseable {
  /** Other files in a folder of Parquet. */
  private static final Pattern BESIDE_PARQUET =
      Pattern.compile("_SUCCESS|_metadata|_common_metadata|\\..*\\.crc");

  private final FileSystem files;
  private final Path out;

  /** An empty folder to write to. */
  final Path unfinished;

  private final Path replaced;
  private final boolean force;

  private OutputFolder(FileSystem files, Path out, boolean force) {
    this.files = files;
    this.out = out;
    this.force = force;
    byte[] random = new byte[4];
    new SecureRandom().nextBytes(random);
    String name = "." + out.getName() + "." + HexFormat.of().formatHex(random);
    unfinished = new Path(out.getParent(), name + ".tmp");
    replaced = new Path(out.getParent(), name + ".old");
  }

  /**
   * Begins.
   *
   * @throws IllegalArgumentException if there is something that may not be replaced, or no folder
   *     for it to be in
   */
  static OutputFolder create(Path out, boolean force, Configuration hadoop) throws IOException {
    if (out.isRoot()) {
      throw new IllegalArgumentException(out + ": OUT must be a folder that can be replaced");
    }
    FileSystem files = out.getFileSystem(hadoop);
    OutputFolder folder = new OutputFolder(files, behindLinks(files, out), force);
    folder.requireReplaceable();
    Path parent = folder.out.getParent();
    if (!files.exists(parent)) {
      throw new IllegalArgumentException(shown(out) + ": there is no folder " + shown(parent));
    }
    if (!files.mkdirs(folder.unfinished)) {
      throw new IOException("cannot create the folder " + shown(folder.unfinished));
    }
    // By Hadoop, as the JVM ends, after Spark has stopped: tasks that are cancelled may write on
    // for
    // a while. It takes no note of what is not there yet.
    files.deleteOnExit(folder.unfinished);
    return folder;
  }

  private static Path behindLinks(FileSystem files, Path out) throws IOException {
    java.nio.file.Path here = here(files, out);
    if (here == null || !Files.isSymbolicLink(here)) {
      return out;
    }
    if (!Files.exists(here)) {
      throw new IllegalArgumentException(shown(out) + ": is a link that leads nowhere");
    }
    return files.makeQualified(new Path(here.toRealPath().toString()));
  }

  /** A path of this machine, or null for one of elsewhere. */
  private static java.nio.file.Path here(FileSystem files, Path path) {
    return files instanceof LocalFileSystem local && "file".equals(path.toUri().getScheme())
        ? local.pathToFile(path).toPath()
        : null;
  }

  /**
   * Checks that neither is in the other, also where links lead there. That both are the same is
   * fine: all is read before anything is replaced.
   *
   * @throws IllegalArgumentException if one is
   */
  void requireApartFrom(Path in) throws IOException {
    String from = real(in) + "/";
    String to = real(out) + "/";
    if (!from.equals(to) && to.startsWith(from)) {
      throw new IllegalArgumentException(
          "%s: OUT is inside of IN, it must be elsewhere".formatted(shown(out)));
    }
    if (!from.equals(to) && from.startsWith(to)) {
      throw new IllegalArgumentException(
          "%s: IN is inside of OUT, which would replace it".formatted(shown(out)));
    }
  }

  private String real(Path path) throws IOException {
    java.nio.file.Path there = here(files, path);
    return there == null ? path.toString() : "file:" + there.toFile().getCanonicalPath();
  }

  private void requireReplaceable() throws IOException {
    if (!files.exists(out)) {
      return;
    }
    if (!force) {
      throw new IllegalArgumentException(shown(out) + ": exists already; --force replaces it");
    }
    java.nio.file.Path here = here(files, out);
    if (here != null && !Files.isRegularFile(here) && !Files.isDirectory(here)) {
      throw new IllegalArgumentException(shown(out) + ": is neither a file nor a folder");
    }
    Deque<Path> folders = new ArrayDeque<>();
    if (files.getFileStatus(out).isDirectory()) {
      folders.push(out);
    }
    while (!folders.isEmpty()) {
      for (FileStatus entry : files.listStatus(folders.pop())) {
        requireParquet(entry);
        if (entry.isDirectory()) {
          folders.push(entry.getPath());
        }
      }
    }
  }

  private void requireParquet(FileStatus entry) {
    String name = entry.getPath().getName();
    boolean expected =
        name.endsWith(".parquet")
            || (entry.isDirectory() ? name.contains("=") : BESIDE_PARQUET.matcher(name).matches());
    if (!expected) {
      throw new IllegalArgumentException(
          "%s: holds %s: --force replaces a file, or a folder of nothing but Parquet"
              .formatted(shown(entry.getPath().getParent()), name));
    }
  }

  /** Renames a folder in the unfinished one, unless another has the name already. */
  void renameIfThere(Path from, Path to) throws IOException {
    if (!from.equals(to) && files.exists(from) && !files.exists(to)) {
      rename(from, to);
    }
  }

  /** Puts what was written in its place. */
  void commit() throws IOException {
    requireReplaceable();
    boolean replaces = files.exists(out);
    if (replaces) {
      rename(out, replaced);
    }
    try {
      rename(unfinished, out);
    } catch (IOException e) {
      if (replaces) {
        rename(replaced, out);
      }
      throw e;
    }
    if (replaces) {
      files.delete(replaced, true);
    }
  }

  private void rename(Path from, Path to) throws IOException {
    java.nio.file.Path here = here(files, from);
    if (here != null) {
      // Hadoop copies where it cannot rename, such as a folder that a disk is mounted on.
      Files.move(here, here(files, to), StandardCopyOption.ATOMIC_MOVE);
    } else if (!files.rename(from, to)) {
      throw new IOException("cannot rename %s to %s".formatted(shown(from), shown(to)));
    }
  }

  @Override
  public void close() throws IOException {
    files.delete(unfinished, true);
  }

  /** As a user names it. */
  static String shown(Path path) {
    return "file".equals(path.toUri().getScheme()) ? path.toUri().getPath() : path.toString();
  }
}
