package io.github.rmsnorm4j.models.rewrite;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.rmsnorm4j.formats.JsonFile;
import io.github.rmsnorm4j.formats.SafetensorsFile;
import io.github.rmsnorm4j.formats.ShardedFile;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import io.github.rmsnorm4j.models.ModelNorms;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.stream.Stream;

/** Writes the files of a result: one pass over the tensors of the model. */
final class ResultWriter {
  private static final String CONFIG = "config.json";
  private static final String INDEX = "model.safetensors.index.json";

  private final TensorFile model;
  private final Map<String, Path> files;
  private final List<SafetensorsFile> shards;

  /** The files that hold a second copy of the weights, and are left out. */
  final List<String> copies;

  /** The files that are copied, or change as texts. */
  final List<String> others;

  ResultWriter(TensorFile model, Listing listing) throws IOException {
    this.model = model;
    files = listing.files();
    Stream<? extends TensorFile> all =
        model instanceof ShardedFile sharded ? sharded.shards().stream() : Stream.of(model);
    shards = all.map(SafetensorsFile.class::cast).toList();
    List<String> read = shards.stream().map(ResultWriter::name).toList();
    copies = copies(files.keySet().stream().filter(name -> !read.contains(name)).toList());
    others =
        files.keySet().stream()
            .filter(name -> !read.contains(name) && !copies.contains(name))
            .toList();
  }

  private static String name(TensorFile file) {
    return file.path().getFileName().toString();
  }

  /**
   * Looks for a second set of weights. Of {@code model.safetensors} and a split set beside it,
   * transformers and this project read the first. So if both hold tensors of the same names, types
   * and shapes, it is the model. The other, as any file of the same tensors, is left out: in OUT it
   * would hold the weights of before. A split set of other tensors is refused, because programs
   * differ in which set they read. A single file of other tensors is not the model and is copied,
   * such as Mistral's {@code consolidated.safetensors}, which has names of its own.
   */
  private List<String> copies(List<String> names) throws RefusedException {
    List<String> split =
        names.stream()
            .filter(name -> name.equals(INDEX) || name.matches("model-\\d+-of-\\d+\\.safetensors"))
            .filter(_ -> !(model instanceof ShardedFile))
            .toList();
    // Of the names, the index comes last.
    if (!split.isEmpty() && !isCopy(split.contains(INDEX) ? List.of(INDEX) : split)) {
      throw new RefusedException(
          "it has two sets of weights, %s and %s: keep one of them in the folder"
              .formatted(name(model), split.getLast()));
    }
    return names.stream()
        .filter(
            name -> split.contains(name) || name.endsWith(".safetensors") && isCopy(List.of(name)))
        .toList();
  }

  /** Whether files hold the tensors of the model, by their headers; false if they are broken. */
  private boolean isCopy(List<String> names) {
    Set<Tensor> tensors = new HashSet<>();
    for (String name : names) {
      try (TensorFile file = TensorFile.open(model.path().resolveSibling(name))) {
        tensors.addAll(file.tensors());
      } catch (IOException _) {
        return false;
      }
    }
    return tensors.equals(Set.copyOf(model.tensors()));
  }

  /** The texts of the files that change, by name. */
  Map<String, String> edited(ModelNorms norms, RewritingPlan plan) throws IOException {
    Map<String, String> texts = new HashMap<>();
    if (plan.untied || plan.modelType.isPresent()) {
      Path file = files.get(CONFIG);
      EditedSettings config = new EditedSettings(file);
      for (String setting : plan.untied ? norms.untiedSettings() : List.<String>of()) {
        config.set("false", setting.split("\\."));
      }
      if (plan.modelType.isPresent()) {
        config.set(EditedSettings.quoted(plan.modelType.get()), "model_type");
        if (JsonFile.read(file).get("architectures") instanceof List<?> names) {
          List<String> own =
              names.stream().map(name -> EditedSettings.quoted("Rmsnorm4j" + name)).toList();
          config.set("[" + String.join(", ", own) + "]", "architectures");
        }
      }
      texts.put(CONFIG, config.toString());
    }
    if (model instanceof ShardedFile sharded && plan.added.isPresent()) {
      Tensor head = plan.added.get();
      EditedSettings index = new EditedSettings(files.get(name(sharded)));
      String size = sharded.indexMetadata().getOrDefault("total_size", "");
      if (size.matches("\\d{1,18}")) {
        index.set("" + (Long.parseLong(size) + head.bytes()), "metadata", "total_size");
      }
      index.set(EditedSettings.quoted(name(shards.getLast())), "weight_map", head.name());
      texts.put(name(sharded), index.toString());
    }
    return texts;
  }

  RoundingCount write(
      OutFolder to, Map<String, String> edited, RewritingPlan plan, LongConsumer progress)
      throws IOException {
    for (String name : others) {
      String text = edited.get(name);
      try (InputStream content =
          text != null
              ? new ByteArrayInputStream(text.getBytes(UTF_8))
              : Files.newInputStream(files.get(name), LinkOption.NOFOLLOW_LINKS)) {
        to.copy(content, name);
      }
    }
    EditedTensors numbers = new EditedTensors(model, plan.edits, progress);
    for (SafetensorsFile shard : shards) {
      Path file = to.folder().resolve(name(shard));
      // A tensor that is added goes behind those of the last shard.
      boolean like = plan.added.isEmpty() || shard != shards.getLast();
      List<Tensor> more = Stream.concat(shard.tensors().stream(), plan.added.stream()).toList();
      try (TensorWriter writer =
          like
              ? TensorWriter.like(file, shard, false)
              : TensorWriter.create(file, more, shard.metadata(), false)) {
        numbers.write(writer);
      }
      to.add(name(shard));
    }
    return numbers.count();
  }
}
