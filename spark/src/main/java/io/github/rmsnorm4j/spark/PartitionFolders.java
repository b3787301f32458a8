package io.github.rmsnorm4j.spark;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;
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
  /** The names that Spark makes columns of, in a path below that of the table. */
  private static final Pattern NAMES = Pattern.compile("((?:[^/=]*=[^/]*/)+)(?:[^/=]*/)*[^/]*$");

  /**
   * Those of a table.
   *
   * @param in what it was read from
   */
  static PartitionFolders of(Dataset<Row> rows, Path in) {
    Set<List<String>> paths = new LinkedHashSet<>();
    for (String file : rows.inputFiles()) {
      String path = new Path(URI.create(file)).toUri().getPath();
      Matcher names = NAMES.matcher(path.substring(in.toUri().getPath().length()));
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
