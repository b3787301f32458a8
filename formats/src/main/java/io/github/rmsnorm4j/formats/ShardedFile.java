package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A model in several {@code .safetensors} files, and the index that names them, as Hugging Face
 * stores it. The shards are the files of those names in the folder of the index; each may be a
 * symbolic link, as in Hugging Face's cache.
 *
 * <p>The index must be right: it names each tensor of each shard, and each tensor is in the shard
 * that it names. Hugging Face's transformers reads every tensor of every shard that the index
 * names, whether the index names the tensor or not. Where two shards have a tensor of the same
 * name, the last one wins. So a set with a wrong index is one model to one program and another
 * model to the next; here it is refused. The {@code total_size} in the index's metadata is not
 * checked, because it is wrong in files that are in use: it counts tied tensors twice, or it is
 * older than the shards.
 *
 * <p>All shards stay open, at most 1,000.
 */
public final class ShardedFile extends TensorFile {
  private final ShardIndex index;
  private final List<SafetensorsFile> shards;

  private ShardedFile(
      Path path, ShardIndex index, List<SafetensorsFile> shards, Map<String, Place> places)
      throws FormatException {
    super(
        path,
        shards.stream().flatMap(shard -> shard.sources().stream()).toList(),
        places,
        inAll(shards));
    this.index = index;
    this.shards = List.copyOf(shards);
    for (Map.Entry<String, String> entry : index.shardOf.entrySet()) {
      if (!places.containsKey(entry.getKey())) {
        throw wrong(
            "the shard %s lacks the tensor '%s', which the index says is there",
            entry.getValue(), Printable.shortened(entry.getKey()));
      }
    }
  }

  static ShardedFile ofIndex(Path path) throws IOException {
    ShardIndex index;
    try (StoredBytes bytes = StoredBytes.open(path)) {
      index = ShardIndex.read(bytes);
    }
    return FileOpener.join(
        (List<SafetensorsFile> opened) -> {
          Map<String, Place> places = new LinkedHashMap<>();
          for (String name : index.shards) {
            opened.add(openShard(path, name));
            for (Place place : opened.getLast().places()) {
              checkNamed(path, index, name, place.tensor());
              places.put(place.tensor().name(), place);
            }
          }
          return new ShardedFile(path, index, opened, places);
        });
  }

  private static SafetensorsFile openShard(Path path, String name) throws IOException {
    try {
      return FileOpener.open(path.resolveSibling(name), SafetensorsFile.class);
    } catch (NoSuchFileException ignored) {
      throw new FormatException(path, "names the shard %s, which is missing".formatted(name));
    } catch (InvalidPathException ignored) {
      throw new FormatException(
          path, "names the shard %s, a name that no file can have in this locale".formatted(name));
    }
  }

  private static void checkNamed(Path path, ShardIndex index, String shard, Tensor tensor)
      throws FormatException {
    String named = index.shardOf.get(tensor.name());
    if (!shard.equals(named)) {
      String where = named == null ? "is not in the index" : "the index says is in " + named;
      throw new FormatException(
          path,
          "the shard %s has the tensor '%s', which %s".formatted(shard, tensor.label(), where));
    }
  }

  /** {@return the files that hold the tensors, sorted by name; closed with this file} */
  public List<TensorFile> shards() {
    return List.copyOf(shards);
  }

  /**
   * {@return what the index says apart from the names, as {@code total_size}: the numbers, texts
   * and truth values of its {@code metadata}, as text, in its order; nothing of it is checked}
   */
  public Map<String, String> indexMetadata() {
    return index.metadata == null ? Map.of() : index.metadata;
  }

  private static Map<String, String> inAll(List<SafetensorsFile> shards) {
    if (shards.isEmpty()) {
      return Map.of();
    }
    Map<String, String> common = new LinkedHashMap<>(shards.getFirst().metadata());
    shards.forEach(shard -> common.entrySet().retainAll(shard.metadata().entrySet()));
    return common;
  }
}
