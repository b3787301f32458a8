package io.github.rmsnorm4j.models.families;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Writes and reads a model as a folder of Hugging Face: {@code config.json}, and one {@code
 * model.safetensors} or several with an index. It shares no code with the readers and writers that
 * are tested with it.
 */
final class HuggingFaceFolder {
  private static final JsonFactory JSON = new JsonFactory();
  private static final String INDEX = "model.safetensors.index.json";

  private HuggingFaceFolder() {}

  /** Writes a model; the tensors are dealt out to the shards in turn if there are several. */
  static Path write(TinyModel model, Path folder, int shards) throws IOException {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("config.json"), json(model.config()));
    if (shards == 1) {
      Files.write(folder.resolve("model.safetensors"), safetensors(model.tensors()));
      return folder;
    }
    List<Map<String, Values>> parts = new ArrayList<>();
    for (int i = 0; i < shards; i++) {
      parts.add(new LinkedHashMap<>());
    }
    Map<String, Object> files = new LinkedHashMap<>();
    long bytes = 0;
    for (Map.Entry<String, Values> tensor : model.tensors().entrySet()) {
      int shard = files.size() % shards;
      parts.get(shard).put(tensor.getKey(), tensor.getValue());
      files.put(tensor.getKey(), shard(shard, shards));
      bytes += (long) tensor.getValue().elements().length * tensor.getValue().type().bytes;
    }
    for (int i = 0; i < shards; i++) {
      Files.write(folder.resolve(shard(i, shards)), safetensors(parts.get(i)));
    }
    Map<String, Object> index = new LinkedHashMap<>();
    index.put("metadata", Map.of("total_size", bytes));
    index.put("weight_map", files);
    Files.writeString(folder.resolve(INDEX), json(index));
    return folder;
  }

  private static String shard(int number, int of) {
    return "model-%05d-of-%05d.safetensors".formatted(number + 1, of);
  }

  private static byte[] safetensors(Map<String, Values> tensors) throws IOException {
    Map<String, Object> header = new LinkedHashMap<>();
    header.put("__metadata__", Map.of("format", "pt"));
    int end = 0;
    for (Map.Entry<String, Values> tensor : tensors.entrySet()) {
      Values values = tensor.getValue();
      int start = end;
      end += values.elements().length * values.type().bytes;
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("dtype", values.type().name());
      entry.put("shape", values.shape());
      entry.put("data_offsets", List.of(start, end));
      header.put(tensor.getKey(), entry);
    }
    byte[] text = json(header).getBytes(StandardCharsets.UTF_8);
    int padded = (text.length + 7) / 8 * 8;
    ByteBuffer file = ByteBuffer.allocate(8 + padded + end).order(ByteOrder.LITTLE_ENDIAN);
    file.putLong(padded).put(text).put(" ".repeat(padded - text.length).getBytes());
    for (Values values : tensors.values()) {
      for (double element : values.elements()) {
        values.type().put(file, element);
      }
    }
    return file.array();
  }

  /** Reads the folder; tensors are in the order of the files, and in them of the headers. */
  static TinyModel read(Path folder) throws IOException {
    Map<String, Object> config = object(parse(Files.readString(folder.resolve("config.json"))));
    Map<String, Values> tensors = new LinkedHashMap<>();
    Path index = folder.resolve(INDEX);
    if (!Files.exists(index)) {
      readFile(folder.resolve("model.safetensors"), tensors);
      return new TinyModel(config, tensors);
    }
    Map<String, Object> files = object(object(parse(Files.readString(index))).get("weight_map"));
    Map<String, String> found = new LinkedHashMap<>();
    for (Object file : new TreeSet<>(files.values())) {
      Map<String, Values> part = new LinkedHashMap<>();
      readFile(folder.resolve((String) file), part);
      part.keySet().forEach(name -> found.put(name, (String) file));
      tensors.putAll(part);
    }
    if (!found.equals(files)) {
      throw new IOException("the index has " + files + ", the files have " + found);
    }
    return new TinyModel(config, tensors);
  }

  private static void readFile(Path path, Map<String, Values> into) throws IOException {
    ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
    byte[] text = new byte[(int) file.getLong()];
    file.get(text);
    int data = file.position();
    Map<String, Object> header = object(parse(new String(text, StandardCharsets.UTF_8)));
    header.remove("__metadata__");
    for (Map.Entry<String, Object> entry : header.entrySet()) {
      Map<String, Object> tensor = object(entry.getValue());
      StoredType type = StoredType.valueOf((String) tensor.get("dtype"));
      List<Integer> shape = integers(tensor.get("shape"));
      List<Integer> offsets = integers(tensor.get("data_offsets"));
      double[] elements = new double[Values.count(shape)];
      if (offsets.get(1) - offsets.get(0) != elements.length * type.bytes) {
        throw new IOException(path + " has " + entry);
      }
      file.position(data + offsets.get(0));
      for (int i = 0; i < elements.length; i++) {
        elements[i] = type.get(file);
      }
      into.put(entry.getKey(), new Values(type, shape, elements));
    }
  }

  private static List<Integer> integers(Object list) {
    return ((List<?>) list).stream().map(number -> ((Number) number).intValue()).toList();
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> object(Object value) {
    return (Map<String, Object>) value;
  }

  static String json(Object value) throws IOException {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text).useDefaultPrettyPrinter()) {
      write(json, value);
    }
    return text.toString();
  }

  private static void write(JsonGenerator json, Object value) throws IOException {
    switch (value) {
      case null -> json.writeNull();
      case Map<?, ?> fields -> {
        json.writeStartObject();
        for (Map.Entry<?, ?> field : fields.entrySet()) {
          json.writeFieldName((String) field.getKey());
          write(json, field.getValue());
        }
        json.writeEndObject();
      }
      case List<?> list -> {
        json.writeStartArray();
        for (Object element : list) {
          write(json, element);
        }
        json.writeEndArray();
      }
      case Integer number -> json.writeNumber(number);
      case Long number -> json.writeNumber(number);
      case Double number -> json.writeNumber(number);
      case Boolean flag -> json.writeBoolean(flag);
      case String string -> json.writeString(string);
      default -> throw new IllegalArgumentException("no JSON for " + value);
    }
  }

  private static Object parse(String text) throws IOException {
    try (JsonParser parser = JSON.createParser(text)) {
      parser.nextToken();
      return value(parser);
    }
  }

  private static Object value(JsonParser parser) throws IOException {
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        Map<String, Object> fields = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String name = parser.currentName();
          parser.nextToken();
          fields.put(name, value(parser));
        }
        yield fields;
      }
      case START_ARRAY -> {
        List<Object> list = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          list.add(value(parser));
        }
        yield list;
      }
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getNumberValue();
      case VALUE_TRUE, VALUE_FALSE -> parser.getBooleanValue();
      case VALUE_STRING -> parser.getText();
      case VALUE_NULL -> null;
      default -> throw new IOException("not expected in JSON: " + parser.currentToken());
    };
  }
}
