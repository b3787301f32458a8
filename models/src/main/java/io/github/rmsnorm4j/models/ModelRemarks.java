package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** What is odd about the files of a model. */
final class ModelRemarks {
  /** Two heads of different models differ everywhere, so not every element is compared. */
  private static final int PIECES = 64;

  private static final int PIECE = 1 << 12;

  private ModelRemarks() {}

  static List<String> of(StoredModel model, ModelNorms norms) throws IOException {
    List<String> remarks = new ArrayList<>();
    if (norms.tied() && differ(model.tensors(), norms.embeddings().getFirst(), norms.ownHead())) {
      remarks.add(
          ("warning: the head is tied to %s, but another %s is stored: programs differ in which they"
                  + " use")
              .formatted(norms.embeddings().getFirst(), norms.ownHead()));
    }
    model.oddFiles().ifPresent(remarks::add);
    return remarks;
  }

  /** Whether the second tensor is there and has other numbers. */
  private static boolean differ(TensorFile file, String first, String second) throws IOException {
    if (first.equals(second)
        || file.tensors().stream().noneMatch(tensor -> tensor.name().equals(second))) {
      return false;
    }
    Tensor a = file.tensor(first);
    Tensor b = file.tensor(second);
    if (!a.dtype().equals(b.dtype()) || !a.shape().equals(b.shape())) {
      return true;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment ofA = arena.allocate((long) PIECE * Double.BYTES);
      MemorySegment ofB = arena.allocate((long) PIECE * Double.BYTES);
      long step = Math.max(PIECE, a.elements() / PIECES / PIECE * PIECE);
      for (long at = 0; a.dtype().elementType().isPresent() && at < a.elements(); at += step) {
        int count = (int) Math.min(PIECE, a.elements() - at);
        file.read(a, at, count, ofA);
        file.read(b, at, count, ofB);
        if (ofA.mismatch(ofB) >= 0) {
          return true;
        }
      }
    }
    return false;
  }
}
