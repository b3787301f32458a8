package io.github.rmsnorm4j.checkpoint.rewrite;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.SafetensorsFile;
import io.github.rmsnorm4j.formats.ShardedFile;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The files of a model's folder.
 *
 * @param shards the open files that hold the tensors
 * @param others all others, sorted by name; links to files count as files
 * @param folders the names of the folders in it, which are not copied
 */
record ModelFiles(List<SafetensorsFile> shards, List<Path> others, List<String> folders) {
  static final String CONFIG = "config.json";

  private static final Predicate<String> WEIGHTS =
      Pattern.compile(".*\\.(safetensors|bin|pt|pth|gguf|ckpt|h5|msgpack|onnx|npz)")
          .asMatchPredicate();

  static ModelFiles of(Path folder, TensorFile tensors) throws IOException {
    List<SafetensorsFile> shards =
        (tensors instanceof ShardedFile sharded ? sharded.shards() : List.of(tensors))
            .stream().map(SafetensorsFile.class::cast).toList();
    List<String> names = shards.stream().map(shard -> name(shard.path())).toList();
    try (Stream<Path> entries = Files.list(folder)) {
      List<Path> sorted = entries.sorted().toList();
      for (Path entry : sorted) {
        if (!Files.isRegularFile(entry) && !Files.isDirectory(entry)) {
          throw new FormatException(
              folder,
              "has %s, which is no file, or a link to a file that is missing"
                  .formatted(name(entry)));
        }
      }
      return new ModelFiles(
          shards,
          sorted.stream()
              .filter(file -> Files.isRegularFile(file) && !names.contains(name(file)))
              .toList(),
          sorted.stream().filter(Files::isDirectory).map(ModelFiles::name).toList());
    }
  }

  /** The names of the other files that programs may read weights from: nothing in them changes. */
  List<String> otherWeights() {
    return others.stream().map(ModelFiles::name).filter(WEIGHTS).toList();
  }

  static String name(Path file) {
    return file.getFileName().toString();
  }

  /** All files that are read. */
  List<Path> all() {
    return Stream.concat(shards.stream().map(TensorFile::path), others.stream()).toList();
  }
}
