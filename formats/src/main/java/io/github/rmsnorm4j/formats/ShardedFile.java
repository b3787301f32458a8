package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
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
  private final List<SafetensorsFile> shards = new ArrayList<>();
  private final Map<String, SafetensorsFile> shardOf = new HashMap<>();
  private final List<Tensor> tensors = new ArrayList<>();
  private final Map<String, String> metadata;

  private ShardedFile(Path path, ShardIndex index) throws IOException {
    super(path);
    this.index = index;
    try {
      for (Map.Entry<String, Integer> shard : index.shards.entrySet()) {
        add(shard.getKey(), shard.getValue());
      }
    } catch (Throwable e) {
      close();
      throw e;
    }
    metadata = inAll(shards);
  }

  static boolean isIndex(Path path) {
    return path.toString().endsWith(".json");
  }

  static ShardedFile ofIndex(Path path) throws IOException {
    try (StoredBytes bytes = StoredBytes.open(path)) {
      return new ShardedFile(path, ShardIndex.read(bytes));
    }
  }

  private void add(String name, int count) throws IOException {
    SafetensorsFile shard = openShard(name);
    shards.add(shard);
    for (Tensor tensor : shard.tensors()) {
      String named = index.shardOf.get(tensor.name());
      if (!name.equals(named)) {
        throw new FormatException(
            path(),
            "the shard %s has the tensor '%s', %s"
                .formatted(
                    name,
                    tensor.label(),
                    named == null
                        ? "which is not in the index"
                        : "which the index says is in " + named));
      }
      shardOf.put(tensor.name(), shard);
      tensors.add(tensor);
    }
    if (shard.tensors().size() != count) {
      throw new FormatException(
          path(),
          "the shard %s lacks the tensor '%s', which the index says is there"
              .formatted(name, Printable.shortened(firstMissing(name))));
    }
  }

  private SafetensorsFile openShard(String name) throws IOException {
    StoredBytes bytes;
    try {
      bytes = StoredBytes.open(path().resolveSibling(name));
    } catch (NoSuchFileException ignored) {
      throw new FormatException(path(), "names the shard %s, which is missing".formatted(name));
    } catch (InvalidPathException ignored) {
      throw new FormatException(
          path(),
          "names the shard %s, a name that no file can have in this locale".formatted(name));
    }
    try {
      return new SafetensorsFile(bytes);
    } catch (Throwable e) {
      bytes.close();
      throw e;
    }
  }

  private String firstMissing(String shard) {
    return index.shardOf.entrySet().stream()
        .filter(entry -> entry.getValue().equals(shard) && !shardOf.containsKey(entry.getKey()))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElseThrow();
  }

  private static Map<String, String> inAll(List<SafetensorsFile> shards) {
    if (shards.isEmpty()) {
      return Map.of();
    }
    Map<String, String> common = new LinkedHashMap<>(shards.getFirst().metadata());
    shards.forEach(shard -> common.entrySet().retainAll(shard.metadata().entrySet()));
    return Collections.unmodifiableMap(common);
  }

  /** {@return the files that hold the tensors, sorted by name; closed with this file} */
  public List<TensorFile> shards() {
    return List.copyOf(shards);
  }

  private SafetensorsFile shard(Tensor tensor) {
    SafetensorsFile shard = shardOf.get(tensor.name());
    if (shard == null) {
      throw notOfThisFile(tensor);
    }
    return shard;
  }

  /**
   * {@return what the index says apart from the names, as {@code total_size}: the numbers, texts
   * and truth values of its {@code metadata}, as text, in its order; nothing of it is checked}
   */
  public Map<String, String> indexMetadata() {
    return index.metadata == null ? Map.of() : index.metadata;
  }

  @Override
  public List<Tensor> tensors() {
    return Collections.unmodifiableList(tensors);
  }

  @Override
  public Tensor tensor(String name) throws FormatException {
    SafetensorsFile shard = shardOf.get(name);
    return shard != null ? shard.tensor(name) : super.tensor(name);
  }

  @Override
  public Map<String, String> metadata() {
    return metadata;
  }

  @Override
  StoredBytes bytes(Tensor tensor) {
    return shard(tensor).bytes(tensor);
  }

  @Override
  long start(Tensor tensor) {
    return shard(tensor).start(tensor);
  }

  /** Closes all shards. */
  @Override
  public void close() throws IOException {
    IOException failure = null;
    for (SafetensorsFile shard : shards) {
      try {
        shard.close();
      } catch (IOException e) {
        failure = failure == null ? e : failure;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
