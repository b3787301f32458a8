package io.github.rmsnorm4j.spark;

/** Spark's exceptions, which are pages long and wrap what happened, in one line. */
final class Failure {
  private Failure() {}

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
