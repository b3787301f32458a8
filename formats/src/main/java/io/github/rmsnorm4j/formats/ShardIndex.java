package io.github.rmsnorm4j.formats;

import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** The index of a sharded set, {@code {"metadata": {...}, "weight_map": {TENSOR: SHARD, ...}}}. */
final class ShardIndex {
  /** That of a .safetensors header, which is longer for the same tensors. */
  private static final long LONGEST = 100_000_000;

  /** Five times more than the largest models have; limits the number of open files. */
  private static final int MOST_SHARDS = 1000;

  /** The limit of most file systems. */
  private static final int LONGEST_NAME = 255;

  private static final String EXTENSION = ".safetensors";
  private static final String METADATA = "metadata";
  private static final String WEIGHT_MAP = "weight_map";

  /** The numbers, texts and truth values of {@code metadata}, as text; null where there is none. */
  Map<String, String> metadata;

  /** The number of tensors of each shard, by the shard's name, sorted. */
  final TreeMap<String, Integer> shards = new TreeMap<>();

  /** The name of the shard of each tensor. */
  LinkedHashMap<String, String> shardOf;

  static ShardIndex read(StoredBytes bytes) throws IOException {
    if (bytes.size > LONGEST) {
      throw new FormatException(
          bytes.path,
          "is an index of %s bytes, at most %s are read".formatted(bytes.size, LONGEST));
    }
    return JsonTokens.read(bytes, 0, bytes.size, "the index", ShardIndex::new);
  }

  private ShardIndex(JsonTokens json) throws IOException {
    json.expect(JsonToken.START_OBJECT, "an object");
    while (json.next() == JsonToken.FIELD_NAME) {
      switch (json.name()) {
        case METADATA -> {
          if (metadata != null) {
            throw json.wrong("has metadata twice");
          }
          metadata = json.texts(METADATA, false);
        }
        case WEIGHT_MAP -> readWeightMap(json);
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
  }

  private void readWeightMap(JsonTokens json) throws IOException {
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
        checkNew(json, shard);
      }
      if (shardOf.size() > SafetensorsHeader.MOST_TENSORS) {
        throw json.wrong("has more than " + SafetensorsHeader.MOST_TENSORS + " tensors");
      }
    }
  }

  /** A shard is a file of its own next to the index, and nothing else on the machine. */
  private void checkNew(JsonTokens json, String shard) throws FormatException {
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
