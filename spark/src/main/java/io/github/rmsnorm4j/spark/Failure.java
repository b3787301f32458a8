package io.github.rmsnorm4j.spark;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Spark's exceptions, which are pages long and wrap what happened, in one line. */
final class Failure {
  /** A file, which may be one of a folder, and what follows in the line. */
  private static final Pattern NOT_PARQUET =
      Pattern.compile("(?:file:)?(.+) is not a Parquet file.*", Pattern.DOTALL);

  private Failure() {}

  /**
   * Why Spark cannot read a file or folder, in this program's words where they are known.
   *
   * @param in its name
   */
  static String ofParquet(String in, Throwable thrown) {
    String reason = reason(thrown);
    Matcher file = NOT_PARQUET.matcher(reason);
    if (file.matches()) {
      return file.group(1) + ": is not a Parquet file";
    }
    if (reason.contains("UNABLE_TO_INFER_SCHEMA")) {
      return in + ": has no Parquet file; files whose names begin with _ or . do not count";
    }
    if (reason.contains("FIXED_LEN_BYTE_ARRAY (FLOAT16)")) {
      return in
          + ": has a column of Parquet's FLOAT16, which Spark does not read: cast it to float32, or"
          + " write it as binary for --packed f16";
    }
    return in + ": cannot be read as Parquet: " + reason;
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
