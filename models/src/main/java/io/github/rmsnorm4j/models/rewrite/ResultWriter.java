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
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.stream.Stream;

/** Writes the files of a result: one pass over the tensors of the model. */
final class ResultWriter {
  private static final String CONFIG = "config.json";

  private final TensorFile model;
  private final Listing listing;
  private final ModelNorms norms;
  private final Plan plan;
  private final List<SafetensorsFile> shards;

  /** The texts of the files that change, by name. */
  private final Map<String, String> edited;

  /** Edits the settings, so that files that cannot be edited are seen before one is written. */
  ResultWriter(TensorFile model, Listing listing, ModelNorms norms, Plan plan) throws IOException {
    this.model = model;
    this.listing = listing;
    this.norms = norms;
    this.plan = plan;
    shards = shards(model).map(SafetensorsFile.class::cast).toList();
    edited = editedTexts();
  }

  private static Stream<TensorFile> shards(TensorFile model) {
    return model instanceof ShardedFile sharded ? sharded.shards().stream() : Stream.of(model);
  }

  /** The names of the files that hold no tensors. */
  static List<String> otherFiles(Listing listing, TensorFile model) {
    List<String> names = shards(model).map(ResultWriter::name).toList();
    return listing.files().keySet().stream().filter(name -> !names.contains(name)).toList();
  }

  private static String name(TensorFile file) {
    return file.path().getFileName().toString();
  }

  RoundingCount write(OutFolder to, LongConsumer progress) throws IOException {
    for (String name : otherFiles(listing, model)) {
      String text = edited.get(name);
      try (InputStream content =
          text != null
              ? new ByteArrayInputStream(text.getBytes(UTF_8))
              : Files.newInputStream(listing.files().get(name), LinkOption.NOFOLLOW_LINKS)) {
        to.copy(content, name);
      }
    }
    EditedTensors numbers = new EditedTensors(model);
    for (SafetensorsFile shard : shards) {
      writeShard(shard, to.folder().resolve(name(shard)), numbers, progress);
      to.add(name(shard));
    }
    return numbers.count();
  }

  private Map<String, String> editedTexts() throws IOException {
    Map<String, String> texts = new HashMap<>();
    if (plan.untied() || plan.modelType().isPresent()) {
      Path file = listing.files().get(CONFIG);
      EditedSettings config = new EditedSettings(file);
      for (String setting : plan.untied() ? norms.untiedSettings() : List.<String>of()) {
        config.set("false", setting.split("\\."));
      }
      if (plan.modelType().isPresent()) {
        config.set(EditedSettings.quoted(plan.modelType().get()), "model_type");
        if (JsonFile.read(file).get("architectures") instanceof List<?> names) {
          List<String> own =
              names.stream().map(name -> EditedSettings.quoted("Rmsnorm4j" + name)).toList();
          config.set("[" + String.join(", ", own) + "]", "architectures");
        }
      }
      texts.put(CONFIG, config.toString());
    }
    if (model instanceof ShardedFile sharded && plan.added().isPresent()) {
      Tensor head = plan.added().get();
      EditedSettings index = new EditedSettings(listing.files().get(name(sharded)));
      String size = sharded.indexMetadata().getOrDefault("total_size", "");
      if (size.matches("\\d{1,18}")) {
        long total = Long.parseLong(size) + head.bytes();
        index.set(String.valueOf(total), "metadata", "total_size");
      }
      index.set(EditedSettings.quoted(name(shards.getLast())), "weight_map", head.name());
      texts.put(name(sharded), index.toString());
    }
    return texts;
  }

  private void writeShard(
      SafetensorsFile shard, Path to, EditedTensors numbers, LongConsumer progress)
      throws IOException {
    // A tensor that is added goes behind those of the last shard.
    List<Tensor> more = Stream.concat(shard.tensors().stream(), plan.added().stream()).toList();
    boolean like = shard != shards.getLast() || plan.added().isEmpty();
    try (TensorWriter writer =
        like
            ? TensorWriter.like(to, shard, false)
            : TensorWriter.create(to, more, shard.metadata(), false)) {
      for (Tensor tensor : writer.order()) {
        Edit edit = plan.edits().get(tensor.name());
        if (edit != null) {
          numbers.write(tensor, edit, writer);
        } else {
          try (Arena arena = Arena.ofConfined()) {
            writer.write(StoredMatrix.bytes(shard, tensor, arena));
          }
        }
        progress.accept(tensor.bytes());
      }
      writer.commit();
    }
  }
}
