package io.github.rmsnorm4j.formats;

import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;

/** The index of a sharded set, {@code {"metadata": {...}, "weight_map": {TENSOR: SHARD, ...}}}. */
final class ShardIndex {
  /** That of a .safetensors header, which is longer for the same tensors. */
  private static final long LONGEST = 100_000_000;

  /** Five times more than the largest models have; limits the number of open files. */
  static final int MOST_SHARDS = 1000;

  /** The limit of most file systems. */
  private static final int LONGEST_NAME = 255;

  /** The numbers, texts and truth values of {@code metadata}, as text; null where there is none. */
  Map<String, String> metadata;

  /** The names of the shards, sorted. */
  final TreeSet<String> shards = new TreeSet<>();

  /** The name of the shard of each tensor. */
  LinkedHashMap<String, String> shardOf;

  static ShardIndex read(StoredBytes bytes) throws IOException {
    if (bytes.size > LONGEST) {
      throw bytes.wrong("is an index of %s bytes, at most %s are read", bytes.size, LONGEST);
    }
    FileSignature.requireNone(bytes);
    return JsonTokens.read(bytes, 0, bytes.size, "the index", ShardIndex::new);
  }

  private ShardIndex(JsonTokens json) throws IOException {
    json.expect(JsonToken.START_OBJECT, "an object");
    while (json.next() == JsonToken.FIELD_NAME) {
      switch (json.name()) {
        case "metadata" -> {
          if (metadata != null) {
            throw json.wrong("has metadata twice");
          }
          json.next();
          metadata = json.texts("metadata", false);
        }
        case "weight_map" -> readWeightMap(json);
        default -> {
          json.next();
          json.skip();
        }
      }
    }
    json.expectEnd();
    if (shardOf == null) {
      throw json.wrong("lacks weight_map, so it is no index of a sharded model");
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
        throw json.wrong("has '%s' twice in weight_map", Printable.shortened(tensor));
      }
      if (shards.add(shard)) {
        checkNew(json, shard);
      }
      if (shardOf.size() > SafetensorsHeader.MOST_TENSORS) {
        throw json.wrong("has more than %s tensors", SafetensorsHeader.MOST_TENSORS);
      }
    }
  }

  /** A shard is a file of its own next to the index, and nothing else on the machine. */
  private void checkNew(JsonTokens json, String shard) throws FormatException {
    if (shards.size() > MOST_SHARDS) {
      throw json.wrong("has more than %s shards", MOST_SHARDS);
    }
    boolean plain =
        shard.endsWith(".safetensors")
            && shard.length() <= LONGEST_NAME
            && shard.chars().noneMatch(c -> c == '/' || c == '\\' || c == ':')
            && Printable.escaped(shard).equals(shard);
    if (!plain) {
      throw json.wrong(
          "names the shard '%s', allowed are plain names of .safetensors files next to the index",
          Printable.shortened(shard));
    }
  }
}
