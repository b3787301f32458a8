package io.github.rmsnorm4j.benchmarks.peers;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.benchmarks.Kernel.LAYER_NORM;
import static io.github.rmsnorm4j.benchmarks.Kernel.RMS_NORM;

import io.github.rmsnorm4j.benchmarks.DecodeResults;
import io.github.rmsnorm4j.benchmarks.DecodeTable;
import io.github.rmsnorm4j.benchmarks.DecodeTable.Column;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.measure.Samples;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * A chart of the times of other systems as multiples of this library's, in a process with a mixed
 * workload. Each row is a contest, each mark a system. Marks left of 1 are faster.
 */
public final class PeerChart {
  private static final int WIDTH = 760;
  private static final int LEFT = 240;
  private static final int RIGHT = 36;
  private static final int TOP = 92;
  private static final int ROW = 30;
  private static final int BOTTOM = 46;
  private static final double LEAST = 0.5;
  private static final double MOST = 64;
  private static final int LEGEND_STEP = 180;

  /** The colors of a page. */
  public enum Theme {
    /** Dark text on white. */
    LIGHT("#ffffff", "#1f2328", "#d1d9e0", List.of("#0969da", "#bc4c00", "#1a7f37", "#8250df")),
    /** Light text on nearly black. */
    DARK("#0d1117", "#e6edf3", "#3d444d", List.of("#58a6ff", "#f0883e", "#3fb950", "#bc8cff"));

    private final String page;
    private final String text;
    private final String line;
    private final List<String> systems;

    Theme(String page, String text, String line, List<String> systems) {
      this.page = page;
      this.text = text;
      this.line = line;
      this.systems = systems;
    }

    /** {@return how the name of the chart's file ends} */
    public String ending() {
      return "-" + name().toLowerCase(Locale.ROOT) + ".svg";
    }
  }

  private record Row(String title, Contest contest) {}

  private static final List<Row> ROWS =
      List.of(
          new Row("RMSNorm, 1 x 4096: a token", Contest.forward(RMS_NORM, 1, 4096)),
          new Row("RMSNorm, 128 x 4096: a prompt", Contest.forward(RMS_NORM, 128, 4096)),
          new Row("RMSNorm, 8192 x 4096: memory", Contest.forward(RMS_NORM, 8192, 4096)),
          new Row("RMSNorm, 4096 x 64: heads", Contest.forward(RMS_NORM, 4096, 64)),
          new Row(
              "bfloat16 RMSNorm, 128 x 4096", Contest.forward(RMS_NORM, 128, 4096).with(BFLOAT16)),
          new Row(
              "bfloat16 RMSNorm, 8192 x 4096",
              Contest.forward(RMS_NORM, 8192, 4096).with(BFLOAT16)),
          new Row("LayerNorm, 128 x 4096", Contest.forward(LAYER_NORM, 128, 4096)),
          new Row("LayerNorm, 8192 x 4096", Contest.forward(LAYER_NORM, 8192, 4096)),
          new Row("RMSNorm backward, 128 x 4096", Contest.backward(RMS_NORM, 128, 4096)),
          new Row("LayerNorm backward, 128 x 4096", Contest.backward(LAYER_NORM, 128, 4096)));

  /**
   * Forms of one system under one name; the fastest that a contest has is drawn.
   *
   * @param shape a mark of its own, so that color is not all that tells them
   */
  private record Peer(String title, String shape, List<String> systems) {}

  private static final List<Peer> PEERS =
      List.of(
          new Peer("oneDNN", "<circle r=\"5.5\"", List.of(Systems.ONEDNN)),
          new Peer(
              "libtorch, fastest form",
              "<rect x=\"-5\" y=\"-5\" width=\"10\" height=\"10\"",
              List.of(
                  Systems.LIBTORCH_RMS_NORM,
                  Systems.FORMULA_OUT,
                  Systems.LIBTORCH_LAYER_NORM,
                  Systems.LIBTORCH_LAYER_NORM_OUT)),
          new Peer(
              "ONNX Runtime",
              "<path d=\"M0-6.5 6.5 0 0 6.5-6.5 0Z\"",
              List.of(
                  Systems.ONNX_RUNTIME + "SimplifiedLayerNormalization",
                  Systems.ONNX_RUNTIME + "RMSNormalization",
                  Systems.ONNX_RUNTIME + "LayerNormalization")),
          new Peer("plain Java loop", "<path d=\"M0-6 6 5-6 5Z\"", List.of(Systems.JAVA_LOOP)));

  private static final int LOOP = PEERS.size() - 1;
  private static final String TOKENS = "an engine's first 400 tokens";

  private final PeerResults results;
  private final DecodeResults decode;
  private final Theme theme;
  private final StringBuilder svg = new StringBuilder();

  private PeerChart(PeerResults results, DecodeResults decode, Theme theme) {
    this.results = results;
    this.decode = decode;
    this.theme = theme;
  }

  /**
   * {@return the chart of one thread as an SVG document}
   *
   * @param results of a run
   * @param decode the first tokens, or null
   * @param theme its colors
   */
  static String of(PeerResults results, DecodeResults decode, Theme theme) {
    return new PeerChart(results, decode, theme).render();
  }

  /**
   * {@return the figures of the chart as a table in Markdown; a wrong answer is struck out}
   *
   * @param results of a run
   * @param decode the first tokens, or null
   */
  static String table(PeerResults results, DecodeResults decode) {
    PeerChart chart = new PeerChart(results, decode, Theme.LIGHT);
    StringBuilder table = new StringBuilder("| one thread |");
    PEERS.forEach(peer -> table.append(' ').append(peer.title).append(" |"));
    table.append("\n| --- |").append(" ---: |".repeat(PEERS.size())).append('\n');
    if (decode != null) {
      table.append("| %s |%s %s |\n".formatted(TOKENS, "  |".repeat(LOOP), cell(chart.decoding())));
    }
    for (Row row : ROWS) {
      table.append("| ").append(row.title).append(" |");
      for (Peer peer : PEERS) {
        List<Point> points = chart.points(row.contest, peer);
        String cell = points.isEmpty() ? "" : cell(multiple(points));
        table.append(' ').append(isWrong(points) ? "~~" + cell + "~~" : cell).append(" |");
      }
      table.append('\n');
    }
    return table.toString();
  }

  private static String cell(double multiple) {
    return String.format(Locale.ROOT, multiple < 9.95 ? "%.2f" : "%.1f", multiple);
  }

  private static String processor(PeerResults results) {
    return results.machine().cpu().replaceAll("\\(R\\)| \\(family.*", "");
  }

  private String render() {
    int first = decode == null ? 0 : 1;
    int height = TOP + (first + ROWS.size()) * ROW + BOTTOM;
    add(
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" width="%1$d" height="%2$d" \
        font-family="system-ui, sans-serif" font-size="13" fill="%4$s" role="img">
        <title>%5$s</title>
        <rect width="100%%" height="100%%" fill="%3$s"/>
        """,
        WIDTH,
        height,
        theme.page,
        theme.text,
        "Times of other libraries and of a plain Java loop as multiples of rmsnorm4j's: "
            + processor(results));
    add(
        """
        <text x="16" y="24" font-size="15" font-weight="600">\
        How much longer other systems take than rmsnorm4j</text>
        <text x="16" y="44">%s, one thread, %s</text>
        """,
        processor(results), results.date());
    legend();
    axis(height);
    if (first == 1) {
      drawDecoding(TOP + ROW / 2);
    }
    for (int row = 0; row < ROWS.size(); row++) {
      draw(ROWS.get(row), TOP + ROW * (first + row) + ROW / 2);
    }
    return svg.append("</svg>\n").toString();
  }

  private void legend() {
    for (int peer = 0; peer < PEERS.size(); peer++) {
      int x = 22 + LEGEND_STEP * peer;
      mark(peer, x, 64, false);
      add("<text x=\"%d\" y=\"68\">%s</text>\n", x + 12, PEERS.get(peer).title);
    }
  }

  private void axis(int height) {
    int end = height - BOTTOM;
    for (double multiple = LEAST; multiple <= MOST; multiple *= 2) {
      boolean own = multiple == 1;
      add(
          "<line x1=\"%2$.1f\" x2=\"%2$.1f\" y1=\"%1$d\" y2=\"%3$d\" stroke=\"%4$s\""
              + " stroke-width=\"%5$d\"/>\n",
          TOP - 4, x(multiple), end, own ? theme.text : theme.line, own ? 2 : 1);
      add(
          "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
          x(multiple), end + 18, multiple < 1 ? "half" : own ? "rmsnorm4j" : times(multiple));
    }
    add(
        "<text x=\"%d\" y=\"%d\">%s</text>\n",
        LEFT, end + 38, "left of the line: faster than rmsnorm4j; hollow: a wrong answer");
  }

  /** The norms of a decoding engine, with native access. */
  private void drawDecoding(int y) {
    label(TOKENS, y);
    mark(LOOP, x(decoding()), y, false);
  }

  private double decoding() {
    DecodeResults.Call call = decode.calls().getFirst();
    return 1 / DecodeTable.figure(Column.ALL, call.starts().get(2), call.starts().getFirst());
  }

  private void label(String title, int y) {
    add("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", LEFT - 12, y + 4, title);
  }

  private void draw(Row row, int y) {
    label(row.title, y);
    for (int peer = 0; peer < PEERS.size(); peer++) {
      List<Point> points = points(row.contest, PEERS.get(peer));
      if (!points.isEmpty()) {
        mark(peer, x(multiple(points)), y, isWrong(points));
      }
    }
  }

  private static double multiple(List<Point> points) {
    return 1 / Samples.median(points.stream().map(Point::ratio).toList());
  }

  private static boolean isWrong(List<Point> points) {
    return points.stream().anyMatch(Point::wrong);
  }

  /** A system in one JVM: this library's time over the system's, as in the tables. */
  private record Point(double ratio, boolean wrong) {}

  private List<Point> points(Contest contest, Peer peer) {
    return results.figures().stream()
        .filter(f -> f.contest().equals(contest) && f.threads() == 1 && f.polluted())
        .flatMap(figure -> points(figure, peer))
        .toList();
  }

  private static Stream<Point> points(Figure figure, Peer peer) {
    double own = figure.entry(Systems.OWN).orElseThrow().median();
    return figure.entries().stream()
        .filter(entry -> peer.systems.contains(entry.system()) && entry.refused() == null)
        .min(Comparator.comparingDouble(Entry::median))
        .stream()
        .map(entry -> new Point(own / entry.median(), entry.wrong()));
  }

  private void mark(int peer, double x, double y, boolean hollow) {
    String color = theme.systems.get(peer);
    add(
        "%s transform=\"translate(%.1f %.1f)\" fill=\"%s\" stroke=\"%s\" stroke-width=\"2\"/>\n",
        PEERS.get(peer).shape, x, y, hollow ? theme.page : color, color);
  }

  private static double x(double multiple) {
    double part = Math.log(multiple / LEAST) / Math.log(MOST / LEAST);
    return LEFT + (WIDTH - LEFT - RIGHT) * Math.clamp(part, 0, 1);
  }

  private static String times(double multiple) {
    return String.format(Locale.ROOT, "%.0f times", multiple);
  }

  private void add(String format, Object... arguments) {
    svg.append(String.format(Locale.ROOT, format, arguments));
  }
}
