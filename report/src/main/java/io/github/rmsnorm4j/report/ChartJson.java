package io.github.rmsnorm4j.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import io.github.rmsnorm4j.report.Series.Point;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Locale;

/** A chart's values as charts.js reads them. */
final class ChartJson {
  private static final JsonFactory FACTORY =
      JsonFactory.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  private ChartJson() {}

  /** JSON of ASCII alone. */
  static String of(Chart chart) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = FACTORY.createGenerator(text)) {
      json.writeStartObject();
      axis(json, "x", chart.x);
      axis(json, "y", chart.y);
      json.writeArrayFieldStart("series");
      for (Series series : chart.series) {
        json.writeStartObject();
        json.writeStringField("name", series.name);
        json.writeStringField("style", series.style.name().toLowerCase(Locale.ROOT));
        if (series.color >= 0) {
          json.writeNumberField("color", series.color);
        }
        json.writeArrayFieldStart("points");
        for (Point point : series.points) {
          point(json, chart, point);
        }
        json.writeEndArray();
        json.writeEndObject();
      }
      json.writeEndArray();
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  private static void axis(JsonGenerator json, String name, Axis axis) throws IOException {
    json.writeObjectFieldStart(name);
    json.writeStringField("scale", axis.scale.name().toLowerCase(Locale.ROOT));
    json.writeStringField("title", axis.title);
    json.writeArrayFieldStart("categories");
    for (String category : axis.categories) {
      json.writeString(category);
    }
    json.writeEndArray();
    json.writeArrayFieldStart("ticks");
    for (double tick : axis.ticks) {
      json.writeNumber(tick);
    }
    json.writeEndArray();
    number(json, "from", axis.from);
    number(json, "to", axis.to);
    json.writeEndObject();
  }

  /** What cannot be drawn is absent, and leaves a gap. */
  private static void point(JsonGenerator json, Chart chart, Point point) throws IOException {
    boolean draws = chart.draws(point);
    json.writeStartObject();
    number(json, "x", chart.x.shows(point.x()) ? point.x() : Double.NaN);
    number(json, "y", draws ? point.y() : Double.NaN);
    number(json, "low", draws && point.hasSpread() ? point.low() : Double.NaN);
    number(json, "high", draws && point.hasSpread() ? point.high() : Double.NaN);
    json.writeStringField("at", chart.x.text(point.x()));
    json.writeStringField("text", Numbers.value(point));
    json.writeEndObject();
  }

  private static void number(JsonGenerator json, String name, double value) throws IOException {
    if (Double.isFinite(value)) {
      json.writeNumberField(name, value);
    } else {
      json.writeNullField(name);
    }
  }
}
