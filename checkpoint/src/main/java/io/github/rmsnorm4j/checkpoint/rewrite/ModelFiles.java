package io.github.rmsnorm4j.checkpoint.rewrite;

import io.github.rmsnorm4j.formats.SafetensorsFile;
import io.github.rmsnorm4j.formats.ShardedFile;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

  static ModelFiles of(Path folder, TensorFile tensors) throws IOException {
    List<SafetensorsFile> shards =
        (tensors instanceof ShardedFile sharded ? sharded.shards() : List.of(tensors))
            .stream().map(SafetensorsFile.class::cast).toList();
    List<String> names = shards.stream().map(shard -> name(shard.path())).toList();
    try (Stream<Path> entries = Files.list(folder)) {
      List<Path> sorted = entries.sorted().toList();
      return new ModelFiles(
          shards,
          sorted.stream()
              .filter(file -> Files.isRegularFile(file) && !names.contains(name(file)))
              .toList(),
          sorted.stream().filter(Files::isDirectory).map(ModelFiles::name).toList());
    }
  }

  static String name(Path file) {
    return file.getFileName().toString();
  }

  /** All files that are read. */
  List<Path> all() {
    return Stream.concat(shards.stream().map(TensorFile::path), others.stream()).toList();
  }
}
