package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
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
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * What becomes of each norm and each tensor. A norm is folded wholly or not at all. A bias is
 * folded before the gain: {@code b = b + W beta}, then {@code W = W diag(g)}.
 */
final class RewritingPlan {
  /** What happens to each norm, in the model's order. */
  final List<NormOutcome> norms = new ArrayList<>();

  /** How tensors of the result are made, by their names; all others are copied. */
  final Map<String, Edit> edits = new LinkedHashMap<>();

  /** Whether the head was tied and is a matrix of its own from now on. */
  final boolean untied;

  /** The tensor of the result that the model does not have: that head. */
  final Optional<Tensor> added;

  /**
   * The head that is stored though it is tied. Programs use one or the other, so it must be a copy
   * of the embedding where it is untied.
   */
  final Optional<String> storedHead;

  /** The new {@code model_type}, if it changes. */
  Optional<String> modelType;

  private final ModelNorms model;
  private final TensorFile file;
  private final Map<String, Tensor> tensors;
  private final boolean untie;

  /** The norms that use a tensor, as their own or as one that takes their output. */
  private final Map<String, List<String>> uses = new HashMap<>();

  /**
   * Plans, for which gains and biases are read.
   *
   * @throws RefusedException if the model cannot be rewritten so
   */
  RewritingPlan(ModelNorms model, TensorFile file, Wish wish) throws IOException {
    this.model = model;
    this.file = file;
    untie = wish.untie();
    tensors = file.tensors().stream().collect(Collectors.toMap(Tensor::name, tensor -> tensor));
    for (NormSite site : model.norms()) {
      for (String tensor : changed(site)) {
        uses.computeIfAbsent(tensor, _ -> new ArrayList<>()).add(site.name());
      }
    }
    boolean convert = wish.goal() == Goal.CONVERT;
    modelType = convert ? model.convertedType() : Optional.empty();
    if (convert) {
      requireConvertible();
    }
    requireKnown();
    for (NormSite site : model.norms()) {
      norms.add(fold(site));
    }
    if (convert && model.tied()) {
      head();
    }
    // The embedding itself never takes a gain, so a head that takes one is no longer tied.
    untied = model.tied() && edits.containsKey(model.ownHead());
    boolean stored = tensors.containsKey(model.ownHead());
    added = untied && !stored ? Optional.of(ownHead()) : Optional.empty();
    storedHead = model.tied() && stored ? Optional.of(model.ownHead()) : Optional.empty();
    if (convert) {
      center();
    }
  }

  /** The tensors that change if a norm is folded. */
  static List<String> changed(NormSite site) {
    Stream<String> taking = site.consumers().stream().flatMap(Projection::tensors);
    return Stream.of(site.gain().stream(), site.bias().stream(), taking)
        .flatMap(names -> names)
        .toList();
  }

  private void requireKnown() throws RefusedException {
    List<String> unknown = model.unknown();
    String first = unknown.stream().findFirst().orElse("");
    String count = unknown.size() == 1 ? "the only such tensor" : unknown.size() + " such tensors";
    String text = "the rules of %s do not cover %s (%s), and a norm's output may go there";
    require(unknown.isEmpty(), text.formatted(model.family(), first, count));
  }

  private static void require(boolean holds, String otherwise) throws RefusedException {
    if (!holds) {
      throw new RefusedException(otherwise);
    }
  }

  private void requireConvertible() throws RefusedException {
    require(model.notConverted().isEmpty(), model.notConverted().orElse(""));
    require(
        !model.tied() || untie,
        "the head is the token embedding, which is centered, and the head must not be: --untie"
            + " gives the head a matrix of its own");
    for (NormSite site : model.norms()) {
      String name = site.name();
      require(!site.spec().isOfLength(), name + " is an L2 norm");
      require(site.spec().kind() == NormSpec.Kind.LAYER_NORM, name + " is RMSNorm already");
      require(site.keptBecause().isEmpty(), name + ": " + site.keptBecause().orElse(""));
    }
    for (Projection writer : model.writers()) {
      String w = writer.weight();
      require(!uses.containsKey(w), w + " takes a norm's output and adds to the stream");
    }
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
    try {
      requireFoldable(site, bias);
    } catch (RefusedException e) {
      return new NormOutcome(site, Fate.KEPT, e.reason());
    }
    if (!untie && site.consumers().stream().anyMatch(this::isTiedHead)) {
      String tied = "the head is also the token embedding (--untie gives it a matrix of its own)";
      return new NormOutcome(site, Fate.TIED, tied);
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
    double[] vector = tensor.isPresent() ? StoredMatrix.vector(file, tensor.get()) : new double[0];
    boolean finite = DoubleStream.of(vector).allMatch(Double::isFinite);
    require(finite, tensor.orElse("") + " has numbers that are not finite");
    return DoubleStream.of(vector).anyMatch(value -> value != plain);
  }

  /** A norm whose matrices cannot take its gain and bias keeps both. */
  private void requireFoldable(NormSite site, boolean bias) throws RefusedException {
    boolean gated = site.spec().gate().isAfter();
    require(!bias || !site.heads(), "its bias is that of each head: it keeps both");
    require(!bias || !gated, "its bias is multiplied by a gate: it keeps both");
    for (Projection consumer : site.consumers()) {
      String w = consumer.weight();
      String none = w + " has no bias, which would take the norm's bias: it keeps both";
      require(!bias || consumer.bias().isPresent(), none);
      boolean embedding = model.embeddings().contains(w) && !isTiedHead(consumer);
      require(!embedding, w + " is also an embedding");
    }
    for (String name : changed(site)) {
      Tensor tensor = tensors.get(name);
      boolean floating = tensor.dtype().elementType().isPresent();
      require(floating, tensor + ", which would change, is of a type that is not rewritten");
      List<String> others = new ArrayList<>(uses.get(name));
      others.remove(site.name());
      String other = others.isEmpty() ? "" : others.getFirst();
      String twice = other.equals(site.name()) ? "it twice" : other;
      require(others.isEmpty(), name + " is also used by " + twice);
    }
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
    String both = "it has %s, which is not as %s is".formatted(stored, tensors.get(embedding));
    require(stored.equals(own), "the head cannot be untied: " + both);
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
