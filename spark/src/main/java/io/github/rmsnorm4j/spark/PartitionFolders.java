package io.github.rmsnorm4j.spark;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils;

/**
 * The folders with the files of a table, as in {@code day=2026-01-01/shard=007}. Spark makes
 * columns of their names.
 *
 * @param columns of the table
 * @param paths of the folders, name by name
 */
record PartitionFolders(List<String> columns, Set<List<String>> paths) {
  static final String LEFT_OUT =
      "left out: the files of a table must all be in one folder, or all in folders such as day=1";

  /** The names that Spark makes columns of, in a path below that of the table. */
  private static final Pattern NAMES = Pattern.compile("((?:[^/=]*=[^/]*/)+)(?:[^/=]*/)*[^/]*$");

  /** What Spark does not take for a file of a table. */
  private static final Pattern HIDDEN = Pattern.compile("(?:^|/)(?:\\.|_[^/=]*(?:/|$))");

  /**
   * Those of a table.
   *
   * @param in what it was read from
   */
  static PartitionFolders of(Dataset<Row> rows, Path in) {
    Set<List<String>> paths = new LinkedHashSet<>();
    for (String file : rows.inputFiles()) {
      Matcher names = NAMES.matcher(below(in, new Path(URI.create(file))));
      if (names.find()) {
        paths.add(List.of(names.group(1).split("/")));
      }
    }
    List<String> columns = new ArrayList<>();
    for (String name : paths.isEmpty() ? List.<String>of() : paths.iterator().next()) {
      String column = part(name, 0);
      // Spark takes names for the same that differ in case alone.
      columns.addAll(Stream.of(rows.columns()).filter(column::equalsIgnoreCase).toList());
    }
    return new PartitionFolders(columns, paths);
  }

  private static String below(Path in, Path file) {
    return file.toUri().getPath().substring(in.toUri().getPath().length());
  }

  /**
   * Checks that no file of Parquet is left out. Spark reads those in folders of partitions if there
   * are any, otherwise those of one folder, and passes over all others.
   */
  void requireAllRead(FileSystem files, Path in) throws IOException {
    RemoteIterator<LocatedFileStatus> all = files.listFiles(in, true);
    while (all.hasNext()) {
      Path file = all.next().getPath();
      String name = below(in, file);
      boolean read = paths.isEmpty() ? name.lastIndexOf('/') <= 0 : NAMES.matcher(name).find();
      if (!read && !HIDDEN.matcher(name).find() && isParquet(files, file)) {
        throw new IOException(OutputFolder.shown(file) + ": is " + LEFT_OUT);
      }
    }
  }

  private static boolean isParquet(FileSystem files, Path file) throws IOException {
    try (InputStream bytes = files.open(file)) {
      return new String(bytes.readNBytes(4), StandardCharsets.ISO_8859_1).matches("PAR[1E]");
    }
  }

  private static String part(String name, int index) {
    return ExternalCatalogUtils.unescapePathName(name.split("=", 2)[index]);
  }

  /** Names folders of a result as they were. Spark spells some of their names in its own way. */
  void restoreNames(OutputFolder out) throws IOException {
    for (List<String> path : paths) {
      Path folder = out.unfinished;
      for (int i = 0; i < path.size(); i++) {
        String written =
            ExternalCatalogUtils.getPartitionPathString(columns.get(i), part(path.get(i), 1));
        Path from = new Path(folder + "/" + written);
        folder = new Path(folder + "/" + path.get(i));
        out.renameIfThere(from, folder);
      }
    }
  }
}
