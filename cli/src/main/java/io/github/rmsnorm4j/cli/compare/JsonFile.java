package io.github.rmsnorm4j.cli.compare;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.RecordComponent;
import java.util.List;

/** Results for machines: records become objects whose fields are named as their components. */
public final class JsonFile {
  private JsonFile() {}

  /**
   * What is in the file.
   *
   * @param results all that was measured
   * @param rows what follows from it, a row for each subject and variant, as on the page
   * @param verdicts the sentences
   */
  record Document(Results results, List<Row> rows, Sentences verdicts) {}

  /** The sentences, each answer a list. */
  record Sentences(
      List<String> headline,
      List<String> fusion,
      List<String> overhead,
      List<String> layerNormFused,
      List<String> howKernelsFuse) {
    static Sentences of(Verdicts verdicts) {
      return new Sentences(
          verdicts.headline(),
          verdicts.fusion(),
          verdicts.overhead(),
          verdicts.layerNormFused(),
          verdicts.howKernelsFuse());
    }
  }

  /**
   * The text of the file.
   *
   * @param results all that was measured
   * @return JSON, indented
   */
  public static String text(Results results) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
      json.useDefaultPrettyPrinter();
      write(json, new Document(results, Row.all(results), Sentences.of(new Verdicts(results))));
    } catch (IOException | ReflectiveOperationException e) {
      throw new IllegalStateException("results cannot be written as JSON", e);
    }
    return text + "\n";
  }

  private static void write(JsonGenerator json, Object value)
      throws IOException, ReflectiveOperationException {
    switch (value) {
      case null -> json.writeNull();
      case Record fields -> {
        json.writeStartObject();
        for (RecordComponent field : fields.getClass().getRecordComponents()) {
          json.writeFieldName(field.getName());
          write(json, field.getAccessor().invoke(fields));
        }
        json.writeEndObject();
      }
      case List<?> list -> {
        json.writeStartArray();
        for (Object each : list) {
          write(json, each);
        }
        json.writeEndArray();
      }
      case Integer number -> json.writeNumber(number);
      case Long number -> json.writeNumber(number);
      case Double number -> json.writeNumber(number);
      case Boolean yes -> json.writeBoolean(yes);
      default -> json.writeString(value.toString());
    }
  }
}
