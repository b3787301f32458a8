package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.models.ModelNorms;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.Projection;
import io.github.rmsnorm4j.models.rewrite.NormOutcome.Fate;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.DoublePredicate;
import java.util.stream.DoubleStream;

/** Which norms keep their gain and bias, and why. */
final class Keeping {
  private final ModelNorms model;
  private final Map<String, Tensor> tensors;
  private final Vectors vectors;
  private final boolean untie;

  /** The norms that use a tensor, as their own or as one that takes their output. */
  private final Map<String, List<String>> uses = new HashMap<>();

  Keeping(ModelNorms model, Map<String, Tensor> tensors, Vectors vectors, boolean untie) {
    this.model = model;
    this.tensors = tensors;
    this.vectors = vectors;
    this.untie = untie;
    for (NormSite site : model.norms()) {
      for (String tensor : changed(site)) {
        uses.computeIfAbsent(tensor, _ -> new ArrayList<>()).add(site.name());
      }
    }
  }

  /** The tensors that change if a norm is folded. */
  private static List<String> changed(NormSite site) {
    List<String> tensors = new ArrayList<>();
    site.gain().ifPresent(tensors::add);
    site.bias().ifPresent(tensors::add);
    site.consumers().stream().flatMap(Projection::tensors).forEach(tensors::add);
    return tensors;
  }

  NormOutcome outcome(NormSite site) throws IOException {
    if (site.keptBecause().isPresent()) {
      return new NormOutcome(site, Fate.KEPT, site.keptBecause().get());
    }
    requireFinite(site);
    if (!hasGain(site) && !hasBias(site)) {
      return new NormOutcome(site, Fate.PLAIN, "it has no gain and no bias to fold");
    }
    Optional<String> reason = reason(site);
    return new NormOutcome(site, reason.isPresent() ? Fate.KEPT : Fate.FOLDED, reason.orElse(""));
  }

  /** Whether there is a gain that is not 1 everywhere. */
  boolean hasGain(NormSite site) throws IOException {
    double one = 1 - site.spec().gainOffset();
    return site.gain().isPresent() && any(site.gain().get(), value -> value != one);
  }

  /** Whether there is a bias that is not 0 everywhere. */
  boolean hasBias(NormSite site) throws IOException {
    return site.bias().isPresent() && any(site.bias().get(), value -> value != 0);
  }

  private boolean any(String tensor, DoublePredicate wanted) throws IOException {
    return DoubleStream.of(vectors.of(tensor)).anyMatch(wanted);
  }

  /** Of a model that computes NaN there is nothing to keep equal. */
  private void requireFinite(NormSite site) throws IOException {
    for (Optional<String> tensor : List.of(site.gain(), site.bias())) {
      if (tensor.isPresent() && any(tensor.get(), value -> !Double.isFinite(value))) {
        throw new RefusedException(
            "cannot be rewritten: %s has numbers that are not finite".formatted(tensor.get()));
      }
    }
  }

  private Optional<String> reason(NormSite site) throws IOException {
    boolean bias = hasBias(site);
    if (bias && site.spec().gate().isAfter()) {
      return Optional.of("its bias is multiplied by a gate: it keeps both");
    }
    if (bias && site.heads()) {
      return Optional.of("its bias is that of each head: it keeps both");
    }
    for (Projection consumer : site.consumers()) {
      if (bias && consumer.bias().isEmpty()) {
        return Optional.of(
            consumer.weight() + " has no bias, which would take the norm's bias: it keeps both");
      }
      if (isTiedHead(consumer) && !untie) {
        return Optional.of(
            "the head is also the token embedding (--untie gives it a matrix of its own)");
      }
      if (!isTiedHead(consumer) && model.embeddings().contains(consumer.weight())) {
        return Optional.of(consumer.weight() + " is also an embedding");
      }
    }
    for (String name : changed(site)) {
      Tensor tensor = tensors.get(name);
      if (tensor.dtype().elementType().isEmpty()) {
        return Optional.of(tensor + ", which would change, is of a type that is not rewritten");
      }
      if (uses.get(name).size() > 1) {
        String other =
            uses.get(name).stream().filter(use -> !use.equals(site.name())).findFirst().orElse("");
        return Optional.of(name + " is also used by " + (other.isEmpty() ? "it twice" : other));
      }
    }
    return Optional.empty();
  }

  /** Whether a matrix is the tied head: the embedding that the logits are computed with. */
  boolean isTiedHead(Projection consumer) {
    return model.tied() && model.head().map(head -> head.equals(consumer)).orElse(false);
  }
}
