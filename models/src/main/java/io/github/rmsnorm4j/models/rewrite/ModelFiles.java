package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.SafetensorsFile;
import io.github.rmsnorm4j.formats.ShardedFile;
import io.github.rmsnorm4j.formats.TensorFile;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * The files of a model's folder. A name that is a link to another file of the folder stays a link,
 * so each file has one name here.
 *
 * @param listing the folder
 * @param shards the open files that hold the tensors
 */
record ModelFiles(Listing listing, List<SafetensorsFile> shards) {
  private static final Predicate<String> WEIGHTS =
      Pattern.compile(".*\\.(safetensors|bin|pt|pth|gguf|ckpt|h5|msgpack|onnx|npz)")
          .asMatchPredicate();

  static ModelFiles of(Listing listing, TensorFile tensors) throws FormatException {
    List<SafetensorsFile> shards = new ArrayList<>();
    for (TensorFile file :
        tensors instanceof ShardedFile sharded ? sharded.shards() : List.of(tensors)) {
      if (!(file instanceof SafetensorsFile shard)) {
        throw new FormatException(file.path(), "is not in the format of its name");
      }
      if (!listing.entries().containsKey(shard.path().getFileName().toString())) {
        throw new FormatException(file.path(), "has another name in its folder");
      }
      shards.add(shard);
    }
    return new ModelFiles(listing, shards);
  }

  /** The name of the file in which a tensor file, the index or the settings are. */
  String name(TensorFile file) {
    return listing.name(file.path().getFileName().toString());
  }

  /** The files that do not hold tensors of the model. */
  List<String> others() {
    List<String> shardNames = shards.stream().map(this::name).toList();
    return listing.names(entry -> entry.state().isFile() && !listing.isLink(entry)).stream()
        .filter(name -> !shardNames.contains(name))
        .toList();
  }

  /** The names of the other files that programs may read weights from: nothing in them changes. */
  List<String> otherWeights() {
    return others().stream().filter(WEIGHTS).toList();
  }
}
