package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.models.ModelNorms;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.Projection;
import io.github.rmsnorm4j.models.rewrite.NormOutcome.Fate;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Wish;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * Decides what becomes of each tensor. A norm is folded wholly or not at all. A bias is folded
 * before the gain: {@code b = b + W beta}, then {@code W = W diag(g)}.
 */
final class Planner {
  /** The numbers of stored gains and biases. */
  interface Vectors {
    double[] of(String tensor) throws IOException;
  }

  private final ModelNorms model;
  private final Map<String, Tensor> tensors;
  private final Vectors vectors;
  private final Wish wish;
  private final Map<String, Edit> edits = new LinkedHashMap<>();

  /** The norms that use a tensor, as their own or as one that takes their output. */
  private final Map<String, List<String>> uses = new HashMap<>();

  /** Begins a plan, with the tensors of the model by name. */
  Planner(ModelNorms model, Map<String, Tensor> tensors, Vectors vectors, Wish wish) {
    this.model = model;
    this.tensors = tensors;
    this.vectors = vectors;
    this.wish = wish;
    for (NormSite site : model.norms()) {
      for (String tensor : changed(site)) {
        uses.computeIfAbsent(tensor, _ -> new ArrayList<>()).add(site.name());
      }
    }
  }

  /** The tensors that change if a norm is folded. */
  static List<String> changed(NormSite site) {
    Stream<String> taking = site.consumers().stream().flatMap(Projection::tensors);
    return Stream.of(site.gain().stream(), site.bias().stream(), taking)
        .flatMap(names -> names)
        .toList();
  }

  RewritingPlan plan() throws IOException {
    boolean convert = wish.goal() == Goal.CONVERT;
    Optional<String> refused = convert ? notConverted() : Optional.empty();
    refused = refused.or(this::unknown);
    if (refused.isPresent()) {
      throw new RefusedException(refused.get());
    }
    List<NormOutcome> norms = new ArrayList<>();
    for (NormSite site : model.norms()) {
      norms.add(fold(site));
    }
    if (convert) {
      if (model.tied()) {
        head();
      }
      center();
    }
    // The embedding itself never takes a gain, so a head that takes one is no longer tied.
    boolean untied = model.tied() && edits.containsKey(model.ownHead());
    return new RewritingPlan(
        norms,
        edits,
        untied,
        untied && !tensors.containsKey(model.ownHead()) ? Optional.of(ownHead()) : Optional.empty(),
        convert ? model.convertedType() : Optional.empty());
  }

  /** Nothing can go into a tensor without elements, a marker that some programs add. */
  private Optional<String> unknown() {
    List<String> unknown =
        model.unknown().stream().filter(name -> tensors.get(name).elements() > 0).toList();
    String count = unknown.size() == 1 ? "the only such tensor" : unknown.size() + " such tensors";
    return unknown.stream()
        .findFirst()
        .map(
            name ->
                "the rules of %s do not cover %s (%s), and a norm's output may go there"
                    .formatted(model.family(), name, count));
  }

  private Optional<String> notConverted() {
    if (model.notConverted().isPresent()) {
      return model.notConverted();
    }
    if (model.tied() && !wish.untie()) {
      return Optional.of(
          "the head is the token embedding, which is centered, and the head must not be: --untie"
              + " gives the head a matrix of its own");
    }
    for (NormSite site : model.norms()) {
      if (site.spec().kind() != NormSpec.Kind.LAYER_NORM) {
        String kind = site.spec().isOfLength() ? " is an L2 norm" : " is RMSNorm already";
        return Optional.of(site.name() + kind);
      }
      if (site.keptBecause().isPresent()) {
        return site.keptBecause().map(reason -> site.name() + ": " + reason);
      }
    }
    return model.writers().stream()
        .map(Projection::weight)
        .filter(uses::containsKey)
        .map(writer -> writer + " takes a norm's output and adds to the stream")
        .findFirst();
  }

  private NormOutcome fold(NormSite site) throws IOException {
    if (site.keptBecause().isPresent()) {
      return new NormOutcome(site, Fate.KEPT, site.keptBecause().get());
    }
    double offset = site.spec().gainOffset();
    boolean gain = differs(site.gain(), 1 - offset);
    boolean bias = differs(site.bias(), 0);
    if (!gain && !bias) {
      return new NormOutcome(site, Fate.PLAIN, "it has no gain and no bias to fold");
    }
    Optional<String> reason = keptBecause(site, bias);
    if (reason.isPresent()) {
      return new NormOutcome(site, Fate.KEPT, reason.get());
    }
    for (Projection consumer : site.consumers()) {
      if (bias) {
        edit(consumer.bias().get(), new Edit.AddProduct(consumer, site.bias().get()));
      }
      if (gain) {
        edit(
            isTiedHead(consumer) ? head() : consumer.weight(),
            new Edit.ScaleInputs(site.gain().get(), offset, consumer.inputsFirst()));
      }
    }
    if (gain) {
      edit(site.gain().get(), new Edit.Fill(1 - offset));
    }
    if (bias) {
      edit(site.bias().get(), new Edit.Fill(0));
    }
    return new NormOutcome(site, Fate.FOLDED, "");
  }

  private void edit(String tensor, Edit.Step step) {
    edits.put(tensor, edits.getOrDefault(tensor, new Edit(tensor, List.of())).then(step));
  }

  /** Whether a gain or a bias does something. Of a model that computes NaN nothing can be kept. */
  private boolean differs(Optional<String> tensor, double plain) throws IOException {
    double[] vector = tensor.isPresent() ? vectors.of(tensor.get()) : new double[0];
    if (!DoubleStream.of(vector).allMatch(Double::isFinite)) {
      throw new RefusedException(tensor.get() + " has numbers that are not finite");
    }
    return DoubleStream.of(vector).anyMatch(value -> value != plain);
  }

  /** Why a norm keeps its gain and bias; empty if its matrices can take them. */
  private Optional<String> keptBecause(NormSite site, boolean bias) {
    if (bias && (site.spec().gate().isAfter() || site.heads())) {
      String which = site.heads() ? "that of each head" : "multiplied by a gate";
      return Optional.of("its bias is " + which + ": it keeps both");
    }
    for (Projection consumer : site.consumers()) {
      if (bias && consumer.bias().isEmpty()) {
        return Optional.of(
            consumer.weight() + " has no bias, which would take the norm's bias: it keeps both");
      }
      if (isTiedHead(consumer) && !wish.untie()) {
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
      List<String> others = new ArrayList<>(uses.get(name));
      others.remove(site.name());
      if (!others.isEmpty()) {
        String other = others.getFirst().equals(site.name()) ? "it twice" : others.getFirst();
        return Optional.of(name + " is also used by " + other);
      }
    }
    return Optional.empty();
  }

  /** Whether a matrix is the tied head: the embedding that the logits are computed with. */
  private boolean isTiedHead(Projection consumer) {
    return model.tied() && model.head().filter(consumer::equals).isPresent();
  }

  /** A matrix of its own for a tied head: the embedding as it is stored, not centered. */
  private String head() throws RefusedException {
    Tensor own = ownHead();
    String embedding = model.head().orElseThrow().weight();
    Tensor stored = tensors.getOrDefault(own.name(), own);
    if (!stored.equals(own)) {
      throw new RefusedException(
          "the head cannot be untied: it has %s, which is not as %s is"
              .formatted(stored, tensors.get(embedding)));
    }
    double scale = model.headScale();
    edits.putIfAbsent(
        own.name(), new Edit(embedding, scale == 1 ? List.of() : List.of(new Edit.Scale(scale))));
    return own.name();
  }

  private Tensor ownHead() {
    Tensor copied = tensors.get(model.head().orElseThrow().weight());
    return new Tensor(model.ownHead(), copied.dtype(), copied.shape());
  }

  /** All that is added to the residual stream loses its mean. */
  private void center() {
    model.embeddings().forEach(embedding -> edit(embedding, new Edit.Center(true)));
    for (Projection writer : model.writers()) {
      edit(writer.weight(), new Edit.Center(writer.inputsFirst()));
      writer.bias().ifPresent(bias -> edit(bias, new Edit.Center(true)));
    }
  }
}
