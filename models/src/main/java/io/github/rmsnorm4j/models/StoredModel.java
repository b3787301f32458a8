package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.GgufFile;
import io.github.rmsnorm4j.formats.NpyFile;
import io.github.rmsnorm4j.formats.ShardedFile;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A model on the disk, open for reading: a folder of Hugging Face with {@code config.json} and
 * {@code .safetensors} files, or a GGUF file.
 */
public final class StoredModel implements Closeable {
  private static final String CONFIG = "config.json";
  private static final String WEIGHTS = "model.safetensors";
  private static final String INDEX = WEIGHTS + ".index.json";

  /** Whatever holds weights or names files that do. */
  private static final String ANY_WEIGHTS =
      "*.{safetensors,gguf,safetensors.index.json,bin,pt,pth,ckpt,h5,msgpack,onnx}";

  private static final Pattern PART = Pattern.compile(".*-(\\d{1,9})-of-(\\d{1,9})\\.safetensors");

  private static final Pattern READ = Pattern.compile("(?s).*\\.(safetensors|gguf)");
  private static final int NAMED = 3;

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
    if (Files.isDirectory(path)
        && !Files.exists(path.resolve(WEIGHTS))
        && !Files.exists(path.resolve(INDEX))) {
      requireNoOthers(path);
    }
    requireWhole(path);
    TensorFile tensors = TensorFile.open(path);
    if (tensors instanceof NpyFile) {
      tensors.close();
      throw new FormatException(
          path, "is a .npy file, which holds an array and no model; rmsnorm show prints it");
    }
    boolean gguf = tensors instanceof GgufFile;
    Path config = Files.isDirectory(path) ? path.resolve(CONFIG) : path.resolveSibling(CONFIG);
    return new StoredModel(path, tensors, gguf ? null : config);
  }

  /** Unlike a part of a GGUF file, one shard does not tell where the others are. */
  private static void requireWhole(Path file) throws FormatException {
    Matcher part = PART.matcher(String.valueOf(file.getFileName()));
    if (part.matches() && Integer.parseInt(part.group(2)) > 1 && Files.isRegularFile(file)) {
      throw new FormatException(
          file,
          "is part %s of %s of a model: name its folder, or the index, which ends in .index.json"
              .formatted(Integer.parseInt(part.group(1)), Integer.parseInt(part.group(2))));
    }
  }

  /** Says which weights are in a folder under other names, and what can be done with them. */
  private static void requireNoOthers(Path folder) throws IOException {
    List<Path> others = files(folder, ANY_WEIGHTS);
    Path settings = folder.resolve(CONFIG);
    if (others.isEmpty()) {
      if (Files.exists(settings)) {
        throw new FormatException(
            folder, "has no weights; rmsnorm inspect reads " + settings + " without them");
      }
      return;
    }
    String first = others.getFirst().toString();
    String advice = "name the file to read: " + first;
    if (others.stream().anyMatch(file -> file.toString().endsWith(".index.json"))) {
      advice = "name the index, which ends in .index.json";
    } else if (!READ.matcher(first).matches()) {
      advice = "they must be converted to .safetensors, as save_pretrained of transformers does";
    } else if (first.endsWith(".safetensors") && first.contains("-of-")) {
      advice = "these are parts of a model, whose index is missing";
    }
    String problem = "has neither %s nor %s, but %s; %s";
    throw new FormatException(folder, problem.formatted(WEIGHTS, INDEX, some(others), advice));
  }

  /** Files of a folder; those that can be read go first. */
  private static List<Path> files(Path folder, String names) throws IOException {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, names)) {
      found.forEach(files::add);
    }
    files.sort(
        Comparator.comparing((Path file) -> !READ.matcher(file.toString()).matches())
            .thenComparing(Comparator.naturalOrder()));
    return files;
  }

  /** The names of the first ones of many files. */
  private static String some(List<Path> files) {
    Stream<String> first = files.stream().limit(NAMED).map(file -> "" + file.getFileName());
    return first.collect(Collectors.joining(", ")) + (files.size() > NAMED ? ", ..." : "");
  }

  /** What is odd about the files of a folder; empty if nothing is. */
  Optional<String> oddFiles() throws IOException {
    List<Path> shards =
        Files.isDirectory(path) && Files.exists(path.resolve(WEIGHTS))
            ? files(path, "model{-*-of-*.safetensors,.safetensors.index.json}")
            : List.of();
    String odd = "warning: %s is read, and not what is beside it: %s";
    return Optional.of(odd.formatted(WEIGHTS, some(shards))).filter(_ -> !shards.isEmpty());
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
    return find(map).model();
  }

  /** The norms, of which no gain was read. */
  Inspection find(Optional<Path> map) throws IOException {
    ModelSettings settings = settings();
    return new NormFinder(tensors, settings, settings.family(Families.read(), map)).find();
  }

  ModelSettings settings() throws IOException {
    return tensors instanceof GgufFile gguf
        ? ModelSettings.ofGguf(gguf)
        : ModelSettings.ofConfig(config);
  }

  /** Closes the files. */
  @Override
  public void close() throws IOException {
    tensors.close();
  }
}
