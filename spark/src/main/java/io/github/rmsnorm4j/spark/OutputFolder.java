package io.github.rmsnorm4j.spark;

import java.io.IOException;
import java.security.SecureRandom;
import java.util.HexFormat;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A folder that appears when it is complete, or not at all: written beside its place and renamed.
 * What it replaces is renamed as well, and deleted only when the new one is in its place; whenever
 * the process is killed, one or the other is there.
 */
final class OutputFolder implements AutoCloseable {
  private final FileSystem files;
  private final Path out;
  private final Path unfinished;
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
    OutputFolder folder = new OutputFolder(out.getFileSystem(hadoop), out, force);
    folder.requireReplaceable();
    if (!folder.files.exists(out.getParent())) {
      throw new IllegalArgumentException(
          shown(out) + ": there is no folder " + shown(out.getParent()));
    }
    // By Hadoop, as the JVM ends, after Spark has stopped.
    folder.files.deleteOnExit(folder.unfinished);
    return folder;
  }

  /** Where to write. */
  Path unfinished() {
    return unfinished;
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
    if (!(files instanceof LocalFileSystem local) || !"file".equals(path.toUri().getScheme())) {
      return path.toString();
    }
    java.nio.file.Path there = local.pathToFile(path).toPath();
    java.nio.file.Path rest = java.nio.file.Path.of("");
    while (!java.nio.file.Files.exists(there)) {
      rest = there.getFileName().resolve(rest);
      there = there.getParent();
    }
    return "file:" + there.toRealPath().resolve(rest);
  }

  private void requireReplaceable() throws IOException {
    if (!files.exists(out)) {
      return;
    }
    if (!force) {
      throw new IllegalArgumentException(shown(out) + ": exists already; --force replaces it");
    }
    if (files.getFileStatus(out).isFile()) {
      return;
    }
    for (FileStatus entry : files.listStatus(out)) {
      String name = entry.getPath().getName();
      boolean parquet = name.endsWith(".parquet") || entry.isDirectory() && name.contains("=");
      if (!parquet && !name.startsWith("_") && !name.matches("\\..*\\.crc")) {
        throw new IllegalArgumentException(
            "%s: holds %s: --force replaces a file, or a folder of nothing but Parquet"
                .formatted(shown(out), name));
      }
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
    if (!files.rename(from, to)) {
      throw new IOException("cannot rename %s to %s".formatted(shown(from), shown(to)));
    }
  }

  @Override
  public void close() throws IOException {
    files.delete(unfinished, true);
    files.cancelDeleteOnExit(unfinished);
  }

  /** As a user names it. */
  private static String shown(Path path) {
    return "file".equals(path.toUri().getScheme()) ? path.toUri().getPath() : path.toString();
  }
}
