package io.github.rmsnorm4j.models.rewrite;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.rmsnorm4j.formats.ReplacingFile;
import io.github.rmsnorm4j.formats.SafetensorsFile;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;

/** Writes the files of a result, each whole or not at all. */
final class ResultWriter {
  private static final int PIECE = 4 << 20;

  private final Plan plan;
  private final TensorFile tensors;
  private final ModelFiles files;
  private final Listing listing;
  private final Vectors vectors;
  private final LongConsumer progress;
  private final EditedSettings settings;
  private int kept;

  ResultWriter(
      Plan plan, TensorFile tensors, ModelFiles files, Vectors vectors, LongConsumer progress) {
    this.plan = plan;
    this.tensors = tensors;
    this.files = files;
    this.listing = files.listing();
    this.vectors = vectors;
    this.progress = progress;
    this.settings = new EditedSettings(plan, tensors, files);
  }

  /** Writes the files that are not finished yet, and returns the count of all roundings. */
  RoundingCount write(WorkFolder work) throws IOException {
    for (String name : listing.names(listing::isLink)) {
      work.link(name, listing.name(name));
    }
    for (String name : files.others()) {
      writeOther(name, work);
    }
    RoundingCount all = RoundingCount.NONE;
    for (int i = 0; i < files.shards().size(); i++) {
      SafetensorsFile shard = files.shards().get(i);
      String name = files.name(shard);
      RoundingCount count = work.finished(i, name).orElse(null);
      if (count == null) {
        count = writeShard(shard, work.part());
        work.finish(i, name, listing.state(name), count);
      } else {
        kept++;
        progress.accept(listing.state(name).size());
      }
      all = all.plus(count);
    }
    return all;
  }

  /** How many finished shards of an earlier run were kept. */
  int kept() {
    return kept;
  }

  private RoundingCount writeShard(SafetensorsFile shard, Path to) throws IOException {
    RoundingCount count = RoundingCount.NONE;
    try (TensorWriter writer = begin(shard, to)) {
      for (Tensor tensor : writer.order()) {
        Edit edit = plan.edits().get(tensor.name());
        if (edit == null) {
          copy(shard, tensor, writer);
        } else {
          EditedTensor edited = new EditedTensor(tensors, edit, vectors, progress);
          RoundingCount rounded = new RoundedTensor(tensor).write(edited, writer::write);
          count = edit.isConstant() ? count : count.plus(rounded);
        }
      }
      writer.commit();
    }
    return count;
  }

  /** A tensor that is added goes behind those of the last shard. */
  private TensorWriter begin(SafetensorsFile shard, Path to) throws IOException {
    if (plan.added().isEmpty() || shard != files.shards().getLast()) {
      return TensorWriter.like(to, shard, false);
    }
    List<Tensor> more = new ArrayList<>(shard.tensors());
    more.add(plan.added().get());
    return TensorWriter.create(to, more, shard.metadata(), false);
  }

  private void copy(TensorFile shard, Tensor tensor, TensorWriter writer) throws IOException {
    long bytes = tensor.bytes();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment piece = arena.allocate(Math.clamp(bytes, 1, PIECE));
      for (long at = 0; at < bytes; at += PIECE) {
        MemorySegment part = piece.asSlice(0, Math.min(PIECE, bytes - at));
        shard.readBytes(tensor, at, part);
        writer.write(part);
        progress.accept(part.byteSize());
      }
    }
  }

  private void writeOther(String name, WorkFolder work) throws IOException {
    try (InputStream content = content(name)) {
      if (work.isFinished(name, content)) {
        return;
      }
      try (ReplacingFile file = ReplacingFile.create(work.part(), false)) {
        byte[] piece = new byte[PIECE];
        for (int length = content.read(piece); length > 0; length = content.read(piece)) {
          file.write(MemorySegment.ofArray(piece).asSlice(0, length));
        }
        file.commit();
      }
    }
    work.finish(name, listing.state(name));
  }

  private InputStream content(String name) throws IOException {
    Optional<String> edited = settings.edited(name);
    return edited.isPresent()
        ? new ByteArrayInputStream(edited.get().getBytes(UTF_8))
        : listing.open(name);
  }
}
