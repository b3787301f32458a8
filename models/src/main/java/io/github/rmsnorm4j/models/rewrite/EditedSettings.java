package io.github.rmsnorm4j.models.rewrite;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.ShardedFile;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The {@code config.json} and the index of the shards, as the plan changes them. */
record EditedSettings(Plan plan, TensorFile tensors, ModelFiles files) {
  private static final String CONFIG = "config.json";
  private static final String BYTE_ORDER_MARK = "\ufeff";

  /** Edits the files without writing them, so that one that cannot be edited is seen first. */
  void requireEditable() throws IOException {
    for (String name : files.others()) {
      edited(name);
    }
  }

  /** The text of a file that changes; empty for one that is copied. */
  Optional<String> edited(String name) throws IOException {
    boolean config =
        name.equals(files.listing().name(CONFIG))
            && (plan.untied() || plan.modelType().isPresent());
    boolean index =
        tensors instanceof ShardedFile
            && name.equals(files.name(tensors))
            && plan.added().isPresent();
    if (!config && !index) {
      return Optional.empty();
    }
    JsonText text = read(name);
    return Optional.of((config ? config(text) : index(text, plan.added().get())).toString());
  }

  /** Programs read these files as UTF-8, so one in another encoding is not changed. */
  private JsonText read(String name) throws IOException {
    Path file = files.listing().entries().get(name).file();
    String text;
    try (InputStream in = files.listing().open(name)) {
      text = UTF_8.newDecoder().decode(ByteBuffer.wrap(in.readAllBytes())).toString();
    } catch (CharacterCodingException _) {
      throw new FormatException(file, "has to be changed, but is not in UTF-8");
    }
    if (text.startsWith(BYTE_ORDER_MARK)) {
      throw new FormatException(file, "has to be changed, but begins with a byte order mark");
    }
    return new JsonText(text);
  }

  private JsonText config(JsonText config) throws IOException {
    for (String setting : plan.falseSettings()) {
      config.set("false", setting.split("\\."));
    }
    if (plan.modelType().isPresent()) {
      config.set(JsonText.quoted(plan.modelType().get()), "model_type");
      List<String> architectures = config.texts("architectures");
      if (!architectures.isEmpty()) {
        config.set(
            architectures.stream()
                .map(name -> JsonText.quoted("Rmsnorm4j" + name))
                .collect(Collectors.joining(", ", "[", "]")),
            "architectures");
      }
    }
    return config;
  }

  private JsonText index(JsonText index, Tensor added) throws IOException {
    String size = ((ShardedFile) tensors).indexMetadata().get("total_size");
    if (size != null && size.matches("\\d{1,18}")) {
      index.set(String.valueOf(Long.parseLong(size) + added.bytes()), "metadata", "total_size");
    }
    String shard = files.shards().getLast().path().getFileName().toString();
    return index.set(JsonText.quoted(shard), "weight_map", added.name());
  }
}
