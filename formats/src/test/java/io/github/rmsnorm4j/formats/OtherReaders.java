package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What is in a file, found by other means than the code under test: jackson-databind for JSON, and
 * for GGUF its layout, read in a straight line. They check nothing, so only files that were opened
 * are for them.
 */
final class OtherReaders {
  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(StreamReadConstraints.builder().maxNameLength(1 << 20).build())
              .build());

  private static final int[] VALUE_BYTES = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  private static final int TEXT = 8;
  private static final int ARRAY = 9;

  private OtherReaders() {}

  /** A tensor as {@link #names} has it: its name and its shape. */
  static String name(Tensor tensor) {
    return tensor.name() + tensor.shape();
  }

  /** The names and shapes of all tensors, sorted. */
  static List<String> names(Path file) throws IOException {
    byte[] content = Files.readAllBytes(file);
    List<String> names = new ArrayList<>();
    if (content[0] == 'G') {
      gguf(ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN), names);
    } else if (file.toString().endsWith(".json")) {
      JsonNode map = JSON.readTree(content).get("weight_map");
      for (JsonNode shard : map) {
        safetensors(Files.readAllBytes(file.resolveSibling(shard.textValue())), names);
      }
      names.removeIf(name -> !map.has(name.substring(0, name.indexOf('['))));
    } else {
      safetensors(content, names);
    }
    return names.stream().distinct().sorted().toList();
  }

  private static void safetensors(byte[] content, List<String> names) throws IOException {
    int length = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).getInt();
    JsonNode header = JSON.readTree(new String(content, Long.BYTES, length, UTF_8));
    for (var entry : header.properties()) {
      if (!entry.getKey().equals("__metadata__")) {
        List<Long> shape = new ArrayList<>();
        entry.getValue().get("shape").forEach(axis -> shape.add(axis.longValue()));
        names.add(entry.getKey() + shape);
      }
    }
  }

  private static void gguf(ByteBuffer in, List<String> names) {
    in.position(8);
    long tensors = in.getLong();
    long fields = in.getLong();
    for (long i = 0; i < fields; i++) {
      text(in);
      skipValue(in, in.getInt());
    }
    for (long i = 0; i < tensors; i++) {
      String name = text(in);
      List<Long> shape = new ArrayList<>();
      for (int axes = in.getInt(); axes > 0; axes--) {
        shape.addFirst(in.getLong());
      }
      in.getInt();
      in.getLong();
      names.add(name + shape);
    }
  }

  private static void skipValue(ByteBuffer in, int type) {
    if (type == TEXT) {
      text(in);
    } else if (type == ARRAY) {
      int element = in.getInt();
      for (long length = in.getLong(); length > 0; length--) {
        skipValue(in, element);
      }
    } else {
      in.position(in.position() + VALUE_BYTES[type]);
    }
  }

  private static String text(ByteBuffer in) {
    byte[] text = new byte[(int) in.getLong()];
    in.get(text);
    return new String(text, UTF_8);
  }
}
