package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.Projection;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;

/** Compares the bytes of all tensors that a rewriting has no reason to change. */
final class CopyProof {
  private final Side before;
  private final Side after;
  private final boolean converted;
  private final LongConsumer progress;
  private final Map<String, Dtype> dtypes = new HashMap<>();

  CopyProof(Side before, Side after, boolean converted, LongConsumer progress) {
    this.before = before;
    this.after = after;
    this.converted = converted;
    this.progress = progress;
  }

  Finding finding() throws IOException {
    before.tensors().tensors().forEach(tensor -> dtypes.put(tensor.name(), tensor.dtype()));
    Set<String> comparedElsewhere = comparedElsewhere();
    Worst bytes = new Worst("tensors that keep their bytes");
    Set<String> names = new HashSet<>();
    try (SameBytes same = new SameBytes(progress)) {
      for (Tensor tensor : before.tensors().tensors()) {
        names.add(tensor.name());
        if (!comparedElsewhere.contains(tensor.name())) {
          bytes.add(same(tensor, same) ? 0 : 1, 0, tensor.name());
        }
      }
    }
    for (Tensor tensor : after.tensors().tensors()) {
      boolean own = !after.norms().tied() && tensor.name().equals(after.norms().ownHead());
      if (!names.contains(tensor.name()) && !own) {
        bytes.add(1, 0, tensor.name());
      }
    }
    return bytes.finding();
  }

  private boolean same(Tensor tensor, SameBytes same) throws IOException {
    Tensor other = after.tensors().tensor(tensor.name());
    return other.equals(tensor) && same.of(before.tensors(), tensor, after.tensors(), other);
  }

  /** Gains, biases, the matrices that take them, and what is centred. */
  private Set<String> comparedElsewhere() {
    Set<String> names = new HashSet<>();
    for (NormSite site : before.norms().norms()) {
      site.gain().ifPresent(names::add);
      site.bias().ifPresent(names::add);
      site.consumers().stream().flatMap(Projection::tensors).forEach(names::add);
    }
    // A head that was tied is the embedding, which a fold leaves as it is.
    before.norms().embeddings().forEach(names::remove);
    // Other types are not read as numbers, so their bytes are compared.
    names.removeIf(name -> dtypes.get(name).elementType().isEmpty());
    if (converted) {
      names.addAll(before.norms().embeddings());
      before.norms().writers().stream().flatMap(Projection::tensors).forEach(names::add);
    }
    if (!after.norms().tied()) {
      names.add(after.norms().ownHead());
    }
    return names;
  }
}
