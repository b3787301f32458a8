package io.github.rmsnorm4j.spark;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.Path;

/** Spark's exceptions, which are pages long and wrap what happened, in one line. */
final class Failure {
  /** The file that Spark was reading, as it names it. */
  private static final Pattern WHILE_READING = Pattern.compile("while reading file (.+?)\\.\\s");

  private static final Pattern NOT_PARQUET =
      Pattern.compile("(?:file:)?(.+) is not a Parquet file.*", Pattern.DOTALL);

  /** What Spark says of files that it does not read, and what this program says. */
  private static final String[][] KNOWN = {
    {
      "UNABLE_TO_INFER_SCHEMA",
      "has no Parquet file; files whose names begin with _ or . do not count"
    },
    {"CONFLICTING_DIRECTORY_STRUCTURES", "has files that are " + PartitionFolders.LEFT_OUT},
    {
      "\\(FLOAT16\\)",
      "has a column of Parquet's FLOAT16, which Spark does not read: cast it to float32, or write it"
          + " as binary for --packed f16"
    },
    {
      "\\(TIMESTAMP\\(NANOS",
      "has timestamps in nanoseconds: cast them to microseconds, or let Spark read them as whole"
          + " numbers with --conf spark.sql.legacy.parquet.nanosAsLong=true"
    },
    {
      "(?:Illegal Parquet type|Parquet type not yet supported): (.+?)\\. SQLSTATE",
      "has a column of Parquet's $1, which Spark does not read: cast it, or leave it out"
    },
    {
      "Unsupported encoding: (\\w+)",
      "has a column in the encoding $1: --conf spark.sql.parquet.enableVectorizedReader=false reads"
          + " it, more slowly"
    },
    {
      "\\.(\\w+)Codec$",
      "is compressed with $1, which Spark does not read: write it again with zstd or snappy"
    }
  };

  private Failure() {}

  /**
   * Why Spark cannot read a file or folder.
   *
   * @param in its name
   */
  static String ofParquet(String in, Throwable thrown) {
    String reason = reason(thrown);
    Matcher file = NOT_PARQUET.matcher(reason);
    if (file.matches()) {
      return file.group(1) + ": is not a Parquet file";
    }
    String words = inWords(reason);
    return in + ": " + (words.equals(reason) ? "cannot be read as Parquet: " + reason : words);
  }

  /** Why a job failed, and at which file if it was at one. */
  static String ofJob(Throwable thrown) {
    String words = inWords(reason(thrown));
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      Matcher file = WHILE_READING.matcher(String.valueOf(t.getMessage()));
      if (file.find()) {
        return shown(file.group(1)) + ": " + words;
      }
    }
    return words;
  }

  private static String shown(String uri) {
    try {
      return OutputFolder.shown(new Path(new URI(uri)));
    } catch (URISyntaxException e) {
      return uri;
    }
  }

  private static String inWords(String reason) {
    for (String[] known : KNOWN) {
      String words = reason.replaceFirst("(?s).*" + known[0] + ".*", known[1]);
      if (!words.equals(reason)) {
        return words;
      }
    }
    return reason;
  }

  /** What happened at the bottom of it. */
  static String reason(Throwable thrown) {
    Throwable reason = thrown;
    while (reason.getCause() != null && reason.getCause().getMessage() != null) {
      reason = reason.getCause();
    }
    String message = reason.getMessage();
    return message == null || message.isBlank() ? reason.toString() : message;
  }

  /** The first line, without what a terminal would obey. */
  static String oneLine(String message) {
    String first = message.strip().lines().findFirst().orElse("");
    return first.replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", "?");
  }
}
