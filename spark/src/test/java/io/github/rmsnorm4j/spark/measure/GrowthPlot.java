package io.github.rmsnorm4j.spark.measure;

import io.github.rmsnorm4j.spark.measure.SparkResults.Contest;
import java.util.List;
import java.util.Locale;

/** How time grows with rows, as an SVG that any viewer of Markdown shows. */
final class GrowthPlot {
  private static final int WIDTH = 640;
  private static final int HEIGHT = 360;
  private static final int LEFT = 60;
  private static final int RIGHT = 20;
  private static final int TOP = 40;
  private static final int BOTTOM = 50;
  private static final int TICKS = 5;

  private record Line(String job, String colour, int labelY) {}

  private static final List<Line> LINES =
      List.of(new Line(Jobs.RMS_NORM, "#0b62a4", 60), new Line(Jobs.COPY, "#888888", 80));

  private final List<Contest> growth;
  private final double mostRows;
  private final double mostSeconds;
  private final StringBuilder svg = new StringBuilder();

  private GrowthPlot(List<Contest> growth) {
    this.growth = growth;
    mostRows = growth.stream().mapToLong(Contest::rows).max().orElseThrow();
    double longest =
        growth.stream()
            .flatMap(contest -> contest.jobs().stream())
            .mapToDouble(SparkResults.Times::most)
            .max()
            .orElseThrow();
    mostSeconds = ceiling(longest);
  }

  static String of(List<Contest> growth) {
    return new GrowthPlot(growth).render();
  }

  /** A number that five parts of are round. */
  private static double ceiling(double value) {
    double unit = Math.pow(10, Math.floor(Math.log10(value)));
    for (double factor : new double[] {1, 1.5, 2, 2.5, 3, 4, 5, 7.5}) {
      if (value <= factor * unit) {
        return factor * unit;
      }
    }
    return 10 * unit;
  }

  private String render() {
    add(
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">
        <rect width="100%%" height="100%%" fill="white"/>
        <text x="%d" y="22" font-size="15">Time of a job by rows of 64 elements: the median of the rounds, and all rounds</text>
        """,
        WIDTH, HEIGHT, LEFT);
    axes();
    for (Line line : LINES) {
      draw(line);
    }
    return svg.append("</svg>\n").toString();
  }

  private void axes() {
    for (int tick = 0; tick <= TICKS; tick++) {
      double seconds = mostSeconds * tick / TICKS;
      add(
          "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n",
          LEFT, WIDTH - RIGHT, y(seconds), y(seconds));
      add(
          "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s s</text>\n",
          LEFT - 6, y(seconds) + 4, number(seconds));
    }
    for (Contest contest : growth) {
      add(
          "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
          x(contest.rows()), HEIGHT - BOTTOM + 18, number(contest.rows() / 1e6));
    }
    add(
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">million rows</text>\n",
        (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12);
  }

  private void draw(Line line) {
    StringBuilder points = new StringBuilder();
    for (Contest contest : growth) {
      SparkResults.Times times = contest.job(line.job);
      points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x(contest.rows()), y(times.median())));
      for (double seconds : times.seconds()) {
        add(
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n",
            x(contest.rows()), y(seconds), line.colour);
      }
    }
    add(
        "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n",
        points.toString().strip(), line.colour);
    add(
        "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n",
        LEFT + 16, line.labelY, line.colour, line.job);
  }

  private double x(double rows) {
    return LEFT + (WIDTH - LEFT - RIGHT) * rows / mostRows;
  }

  private double y(double seconds) {
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * seconds / mostSeconds;
  }

  private static String number(double value) {
    return value == Math.rint(value)
        ? String.format(Locale.ROOT, "%.0f", value)
        : String.format(Locale.ROOT, "%.1f", value);
  }

  private void add(String format, Object... arguments) {
    svg.append(String.format(Locale.ROOT, format, arguments));
  }
}
