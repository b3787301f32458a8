package io.github.rmsnorm4j.formats;

import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The index of a sharded set, {@code {"metadata": {...}, "weight_map": {TENSOR: SHARD, ...}}}.
 *
 * @param metadata the numbers, texts and truth values of {@code metadata}, as text
 * @param shards the number of tensors of each shard, by the shard's name, sorted
 * @param shardOf the name of the shard of each tensor
 */
record ShardIndex(
    Map<String, String> metadata,
    TreeMap<String, Integer> shards,
    LinkedHashMap<String, String> shardOf) {
  /** That of a .safetensors header, which is longer for the same tensors. */
  private static final long LONGEST = 100_000_000;

  /** Five times more than the largest models have; limits the number of open files. */
  private static final int MOST_SHARDS = 1000;

  /** The limit of most file systems. */
  private static final int LONGEST_NAME = 255;

  private static final String EXTENSION = ".safetensors";
  private static final String METADATA = "metadata";
  private static final String WEIGHT_MAP = "weight_map";

  static ShardIndex read(StoredBytes bytes) throws IOException {
    if (bytes.size() > LONGEST) {
      throw new FormatException(
          bytes.path(),
          "is an index of %s bytes, at most %s are read".formatted(bytes.size(), LONGEST));
    }
    return JsonTokens.read(bytes, 0, bytes.size(), "the index", json -> new Parser(json).index());
  }

  private static final class Parser {
    private final JsonTokens json;
    private final TreeMap<String, Integer> shards = new TreeMap<>();
    private Map<String, String> metadata;
    private LinkedHashMap<String, String> shardOf;

    Parser(JsonTokens json) {
      this.json = json;
    }

    ShardIndex index() throws IOException {
      json.expect(JsonToken.START_OBJECT, "an object");
      while (json.next() == JsonToken.FIELD_NAME) {
        switch (json.name()) {
          case METADATA -> {
            if (metadata != null) {
              throw json.wrong("has metadata twice");
            }
            metadata = json.texts(METADATA, false);
          }
          case WEIGHT_MAP -> readWeightMap();
          default -> {
            json.next();
            json.skip();
          }
        }
      }
      json.expectEnd();
      if (shardOf == null) {
        throw json.wrong("lacks " + WEIGHT_MAP + ", so it is no index of a sharded model");
      }
      return new ShardIndex(metadata == null ? Map.of() : metadata, shards, shardOf);
    }

    private void readWeightMap() throws IOException {
      if (shardOf != null) {
        throw json.wrong("has weight_map twice");
      }
      shardOf = new LinkedHashMap<>();
      Map<String, String> names = new HashMap<>();
      json.expect(JsonToken.START_OBJECT, "an object as weight_map");
      while (json.next() == JsonToken.FIELD_NAME) {
        String tensor = json.name();
        json.expect(JsonToken.VALUE_STRING, "only names of files in weight_map");
        String shard = names.computeIfAbsent(json.text(), name -> name);
        if (shardOf.put(tensor, shard) != null) {
          throw json.wrong("has '" + Printable.shortened(tensor) + "' twice in weight_map");
        }
        if (shards.merge(shard, 1, Integer::sum) == 1) {
          checkNew(shard);
        }
        if (shardOf.size() > SafetensorsHeader.MOST_TENSORS) {
          throw json.wrong("has more than " + SafetensorsHeader.MOST_TENSORS + " tensors");
        }
      }
    }

    /** A shard is a file of its own next to the index, and nothing else on the machine. */
    private void checkNew(String shard) throws FormatException {
      if (shards.size() > MOST_SHARDS) {
        throw json.wrong("has more than " + MOST_SHARDS + " shards");
      }
      boolean plain =
          shard.endsWith(EXTENSION)
              && shard.length() <= LONGEST_NAME
              && shard.chars().noneMatch(c -> c == '/' || c == '\\' || c == ':')
              && Printable.escaped(shard).equals(shard);
      if (!plain) {
        throw json.wrong(
            "names the shard '%s', allowed are plain names of %s files next to the index"
                .formatted(Printable.shortened(shard), EXTENSION));
      }
    }
  }
}
