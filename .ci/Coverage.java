import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Prints what JaCoCo measured in a module as one line. Run by Maven at the end of verify. */
public final class Coverage {
  private Coverage() {}

  public static void main(String[] args) throws IOException {
    Path report = Path.of(args[0]);
    if (!Files.exists(report)) {
      return; // A module without tests of its own.
    }
    List<String> columns = List.of(Files.readString(report).lines().findFirst().orElseThrow().split(","));
    System.out.printf(
        "Coverage of %s: %s of the lines, %s of the branches%n",
        args[1], covered(report, columns, "LINE"), covered(report, columns, "BRANCH"));
  }

  private static String covered(Path report, List<String> columns, String what) throws IOException {
    long covered = 0;
    long missed = 0;
    for (String line : Files.readString(report).lines().skip(1).toList()) {
      String[] cells = line.split(",");
      covered += Long.parseLong(cells[columns.indexOf(what + "_COVERED")]);
      missed += Long.parseLong(cells[columns.indexOf(what + "_MISSED")]);
    }
    return covered + missed == 0 ? "none" : "%.1f %%".formatted(100.0 * covered / (covered + missed));
  }
}
