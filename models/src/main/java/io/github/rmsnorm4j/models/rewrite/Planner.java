package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.models.ModelNorms;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.Projection;
import io.github.rmsnorm4j.models.rewrite.NormOutcome.Fate;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Decides what becomes of each tensor. A norm is folded wholly or not at all. A bias is folded
 * before the gain: {@code b = b + W beta}, then {@code W = W diag(g)}.
 */
final class Planner {
  private final ModelNorms model;
  private final Map<String, Tensor> tensors;
  private final Vectors vectors;
  private final boolean untie;
  private final Keeping keeping;
  private final Map<String, List<Step>> steps = new LinkedHashMap<>();
  private final Map<String, String> sources = new LinkedHashMap<>();

  /**
   * Begins a plan.
   *
   * @param tensors those of the model, by name
   * @param untie whether a tied head may become a matrix of its own
   */
  Planner(ModelNorms model, Map<String, Tensor> tensors, Vectors vectors, boolean untie) {
    this.model = model;
    this.tensors = tensors;
    this.vectors = vectors;
    this.untie = untie;
    this.keeping = new Keeping(model, tensors, vectors, untie);
  }

  Plan fold() throws IOException {
    requireKnown("folded");
    List<NormOutcome> norms = foldNorms();
    // The embedding itself never takes a gain, so a head that takes one is no longer tied.
    return plan(Goal.FOLD, norms, !sources.isEmpty(), Optional.empty());
  }

  Plan convert() throws IOException {
    refuseIf(model.notConverted().isPresent(), () -> model.notConverted().orElseThrow());
    requireKnown("converted");
    refuseIf(
        model.tied() && !untie,
        () ->
            "the head is the token embedding, which is centred, and the head must not be: --untie"
                + " gives the head a matrix of its own");
    for (NormSite site : model.norms()) {
      refuseIf(
          site.spec().kind() == NormSpec.Kind.RMS_NORM, () -> site.name() + " is RMSNorm already");
      refuseIf(site.spec().isOfLength(), () -> site.name() + " is an L2 norm");
      refuseIf(
          site.keptBecause().isPresent(),
          () -> site.name() + ": " + site.keptBecause().orElseThrow());
    }
    List<NormOutcome> norms = foldNorms();
    if (model.tied()) {
      head();
    }
    centre();
    return plan(Goal.CONVERT, norms, model.tied(), model.convertedType());
  }

  private void requireKnown(String done) throws RefusedException {
    if (!model.unknown().isEmpty()) {
      throw new RefusedException(
          "cannot be %s: the rules of %s do not cover %s (%s such tensors), and a norm's output may go there"
              .formatted(done, model.family(), model.unknown().getFirst(), model.unknown().size()));
    }
  }

  private static void refuseIf(boolean refused, Supplier<String> reason) throws RefusedException {
    if (refused) {
      throw new RefusedException("cannot be converted: " + reason.get());
    }
  }

  private List<NormOutcome> foldNorms() throws IOException {
    List<NormOutcome> outcomes = new ArrayList<>();
    for (NormSite site : model.norms()) {
      NormOutcome outcome = keeping.outcome(site);
      outcomes.add(outcome);
      if (outcome.fate() == Fate.FOLDED) {
        fold(site);
      }
    }
    return outcomes;
  }

  private void fold(NormSite site) throws IOException {
    boolean gain = keeping.hasGain(site);
    boolean bias = keeping.hasBias(site);
    for (Projection consumer : site.consumers()) {
      if (bias) {
        add(
            consumer.bias().orElseThrow(),
            new Step.AddProduct(
                consumer.weight(), consumer.inputsFirst(), site.bias().orElseThrow()));
      }
      if (gain) {
        add(
            keeping.isTiedHead(consumer) ? head() : consumer.weight(),
            new Step.ScaleInputs(
                site.gain().orElseThrow(),
                site.spec().gainOffset(),
                consumer.inputsFirst(),
                site.heads()));
      }
    }
    if (gain) {
      add(site.gain().orElseThrow(), new Step.Fill(1 - site.spec().gainOffset()));
    }
    if (bias) {
      add(site.bias().orElseThrow(), new Step.Fill(0));
    }
  }

  private void add(String tensor, Step step) {
    steps.computeIfAbsent(tensor, _ -> new ArrayList<>()).add(step);
  }

  /** A matrix of its own for a tied head: the embedding as it is stored, not centred. */
  private String head() throws RefusedException {
    String head = model.ownHead();
    String embedding = model.head().orElseThrow().weight();
    if (sources.putIfAbsent(head, embedding) == null) {
      Tensor stored = tensors.get(head);
      Tensor copied = tensors.get(embedding);
      if (stored != null
          && !(stored.shape().equals(copied.shape()) && stored.dtype() == copied.dtype())) {
        throw new RefusedException(
            "cannot be untied: it has %s, which is not as %s is".formatted(stored, copied));
      }
      List<Step> first =
          model.headScale() == 1 ? List.of() : List.of(new Step.Scale(model.headScale()));
      steps.put(head, new ArrayList<>(first));
    }
    return head;
  }

  /** All that is added to the residual stream loses its mean. */
  private void centre() throws RefusedException {
    for (String embedding : model.embeddings()) {
      add(embedding, new Step.CentreRows());
    }
    for (Projection writer : model.writers()) {
      for (NormSite site : model.norms()) {
        refuseIf(
            site.consumers().stream().anyMatch(c -> c.weight().equals(writer.weight())),
            () -> "%s takes a norm's output and adds to the stream".formatted(writer.weight()));
      }
      add(writer.weight(), writer.inputsFirst() ? new Step.CentreRows() : new Step.CentreColumns());
      writer.bias().ifPresent(bias -> add(bias, new Step.CentreRows()));
    }
  }

  private Plan plan(
      Goal goal, List<NormOutcome> norms, boolean untied, Optional<String> modelType) {
    Map<String, Edit> edits = new LinkedHashMap<>();
    steps.forEach(
        (tensor, list) -> edits.put(tensor, new Edit(sources.getOrDefault(tensor, tensor), list)));
    Optional<Tensor> added =
        untied && !tensors.containsKey(model.ownHead())
            ? Optional.of(like(tensors.get(model.head().orElseThrow().weight())))
            : Optional.empty();
    List<String> falseSettings = untied ? model.untiedSettings() : List.of();
    return new Plan(goal, norms, edits, added, falseSettings, modelType);
  }

  private Tensor like(Tensor embedding) {
    return new Tensor(model.ownHead(), embedding.dtype(), embedding.shape());
  }
}
