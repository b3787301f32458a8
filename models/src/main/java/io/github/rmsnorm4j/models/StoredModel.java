package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.GgufFile;
import io.github.rmsnorm4j.formats.JsonFile;
import io.github.rmsnorm4j.formats.ShardedFile;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A model on the disk, open for reading: a folder of Hugging Face with {@code config.json} and
 * {@code .safetensors} files, or a GGUF file.
 */
public final class StoredModel implements Closeable {
  private static final String CONFIG = "config.json";
  private static final String ARCHITECTURE = "general.architecture";

  private final Path path;
  private final TensorFile tensors;
  private final Path config;

  private StoredModel(Path path, TensorFile tensors, Path config) {
    this.path = path;
    this.tensors = tensors;
    this.config = config;
  }

  /**
   * {@return a model, opened, with the headers of its files read and checked}
   *
   * @param path the folder, a GGUF file, or a file of tensors that has a {@code config.json} next
   *     to it
   * @throws FormatException if a file is wrong
   * @throws IOException if a file is missing or cannot be read
   */
  public static StoredModel open(Path path) throws IOException {
    TensorFile tensors = TensorFile.open(path);
    boolean gguf = tensors instanceof GgufFile;
    Path config = Files.isDirectory(path) ? path.resolve(CONFIG) : path.resolveSibling(CONFIG);
    return new StoredModel(path, tensors, gguf ? null : config);
  }

  /** {@return the path that was given to {@link #open}} */
  public Path path() {
    return path;
  }

  /** {@return the open file or files with the tensors of the model} */
  public TensorFile tensors() {
    return tensors;
  }

  /** {@return the path of {@code config.json}, even if it is not there; empty for a GGUF file} */
  public Optional<Path> config() {
    return Optional.ofNullable(config);
  }

  /**
   * {@return the paths of the files that are read: the files of tensors, their index, and the
   * {@code config.json}, if there are any}
   */
  public List<Path> files() {
    Stream<TensorFile> shards =
        tensors instanceof ShardedFile sharded ? sharded.shards().stream() : Stream.empty();
    return Stream.of(Stream.of(tensors.path()), shards.map(TensorFile::path), config().stream())
        .flatMap(paths -> paths)
        .toList();
  }

  /**
   * {@return the norms, found by the rules of the model's family, and the matrices around the
   * residual stream}
   *
   * @param map a file of rules to use instead of the family's own
   * @throws FormatException if the family is not known, or the model is not as its rules say
   * @throws IOException if the settings or the rules cannot be read
   */
  public ModelNorms norms(Optional<Path> map) throws IOException {
    Families families = Families.read();
    ModelSettings settings;
    Family family;
    if (tensors instanceof GgufFile gguf) {
      String architecture = gguf.metadata().getOrDefault(ARCHITECTURE, "");
      settings = ModelSettings.ofGguf(gguf, architecture);
      family =
          map.isPresent()
              ? families.ofFile(map.get())
              : families.ofArchitecture(path, architecture);
    } else {
      Map<String, Object> fields = JsonFile.read(config);
      settings = ModelSettings.ofConfig(config, fields);
      family =
          map.isPresent() ? families.ofFile(map.get()) : families.ofModelType(config, type(fields));
    }
    return new NormFinder(tensors, settings, family).find();
  }

  private String type(Map<String, Object> fields) throws FormatException {
    if (fields.get("model_type") instanceof String type) {
      return type;
    }
    throw new FormatException(config, "lacks model_type, which tells the family of the model");
  }

  /** Closes the files. */
  @Override
  public void close() throws IOException {
    tensors.close();
  }
}
