package io.github.rmsnorm4j.studies.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the results say, in sentences. Each is made of the results alone: other results make another
 * sentence.
 */
public final class Verdicts {
  private final Results results;
  private final Subject headline;
  private final Timing timing;

  /** For results that have a timing of their headline. */
  public Verdicts(Results results) {
    this.results = results;
    headline = results.headline();
    timing = results.timing(headline);
  }

  /** The experiment's own comparison: naive RMSNorm over fused LayerNorm. */
  public List<String> headline() {
    String where = "On %s %s (%s), ".formatted(headline.shape(), headline.type(), headline.pass());
    List<String> sentences = new ArrayList<>();
    sentences.add(where + Contrast.ofTime(timing, Variant.RMS_NAIVE, Variant.LAYER_FUSED) + ".");
    memory(Variant.RMS_NAIVE, Variant.LAYER_FUSED).ifPresent(s -> sentences.add(sentence(s)));
    return sentences;
  }

  /** What fusion does to that. */
  public List<String> fusion() {
    List<String> sentences = new ArrayList<>();
    sentences.add(sentence(Contrast.ofTime(timing, Variant.RMS_FUSED, Variant.LAYER_FUSED)));
    sentences.add(sentence(Contrast.ofTime(timing, Variant.RMS_FUSED, Variant.RMS_NAIVE)));
    memory(Variant.RMS_FUSED, Variant.LAYER_FUSED).ifPresent(s -> sentences.add(sentence(s)));
    return sentences;
  }

  /** What the report begins with: how much a fused RMSNorm saves. */
  String lead() {
    return "On %s %s (%s), %s."
        .formatted(
            headline.shape(),
            headline.type(),
            headline.pass(),
            Contrast.ofTime(timing, Variant.RMS_FUSED, Variant.LAYER_FUSED));
  }

  /** How much overhead RMSNorm really removes against LayerNorm. */
  public List<String> overhead() {
    List<String> sentences = new ArrayList<>();
    for (Timing t : results.timings()) {
      Subject s = t.subject();
      if (s.pass() == headline.pass() && s.type() == headline.type()) {
        sentences.add(
            "%s: %s."
                .formatted(s.shape(), Contrast.ofTime(t, Variant.RMS_FUSED, Variant.LAYER_FUSED)));
      }
    }
    for (Timing t : results.largestOfOtherKinds()) {
      sentences.add(
          "%s: %s."
              .formatted(t.subject(), Contrast.ofTime(t, Variant.RMS_FUSED, Variant.LAYER_FUSED)));
    }
    sentences.add(
        "%s: %s."
            .formatted(
                headline.shape(), Contrast.ofTime(timing, Variant.RMS_NAIVE, Variant.LAYER_NAIVE)));
    Timed layer = timing.of(Variant.LAYER_FUSED);
    Timed rms = timing.of(Variant.RMS_FUSED);
    sentences.add(
        "RMSNorm computes %s operations per element, LayerNorm %s. Fused, both read and write"
                .formatted(rms.work().operations(), layer.work().operations())
            + " %s bytes per element. RMSNorm has %s parameters, LayerNorm %s."
                .formatted(
                    bytesPerElement(rms),
                    Figures.count(rms.parameters()),
                    Figures.count(layer.parameters())));
    return sentences;
  }

  /** Whether LayerNorm can be fused. */
  public List<String> layerNormFused() {
    Timed naive = timing.of(Variant.LAYER_NAIVE);
    Timed fused = timing.of(Variant.LAYER_FUSED);
    Contrast.Ratio ratio = new Contrast.Ratio(fused.nanos(), naive.nanos());
    String gain =
        !ratio.differs()
            ? "Here that saves no time"
            : ratio.value() < 1 ? "Here that saves time" : "Here that costs time";
    List<String> sentences = new ArrayList<>();
    sentences.add(
        "Yes. Fused, it reads and writes %s bytes per element; operation by operation, %s. %s: %s."
            .formatted(
                bytesPerElement(fused),
                bytesPerElement(naive),
                gain,
                Contrast.ofTime(timing, Variant.LAYER_FUSED, Variant.LAYER_NAIVE)));
    memory(Variant.LAYER_FUSED, Variant.LAYER_NAIVE).ifPresent(s -> sentences.add(sentence(s)));
    return sentences;
  }

  /** How fused kernels do it. */
  public List<String> howKernelsFuse() {
    Timed layer = timing.of(Variant.LAYER_FUSED);
    Timed rms = timing.of(Variant.RMS_FUSED);
    return List.of(
        "They take a row from memory once, find its statistic, and write its output while the row is"
            + " still in registers or a cache; only input and output cross the memory bus."
            + " Apex, PyTorch, Liger, QuACK and oneDNN do it, see docs/compare-and-train.md.",
        timesCopy(rms, layer));
  }

  /** Two numbers only where the two norms differ. */
  private String timesCopy(Timed rms, Timed layer) {
    String one = Figures.ratio(timing.timesCopy(rms));
    String other = Figures.ratio(timing.timesCopy(layer));
    return new Contrast.Ratio(rms.nanos(), layer.nanos()).differs()
        ? "In this run RMSNorm took %s times as long as a copy of the tensor, LayerNorm %s times."
            .formatted(one, other)
        : "In this run no difference was found between the two; their medians are %s and %s times a copy of the tensor."
            .formatted(one, other);
  }

  private int bytesPerElement(Timed timed) {
    return timed.work().passes() * headline.type().bytes();
  }

  private Optional<String> memory(Variant one, Variant other) {
    return results
        .memory(headline, one)
        .flatMap(
            a ->
                results
                    .memory(headline, other)
                    .map(b -> Contrast.ofMemory(one, a.bytes(), other, b.bytes())));
  }

  private static String sentence(String clause) {
    return Character.toUpperCase(clause.charAt(0)) + clause.substring(1) + ".";
  }
}
