package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The norms of a stored model with what their gains are like.
 *
 * @param model the rules of the family with the names of this model's tensors
 * @param norms every norm, in the order of {@link ModelNorms#norms()}
 */
public record Inspection(ModelNorms model, List<InspectedNorm> norms) {
  private static final int PIECE = 1 << 16;

  /**
   * {@return what is found in a model} Of its tensors only the gains are read.
   *
   * @param model the model
   * @param map a file of rules to use instead of those of the model's family
   * @throws IOException if the family is not known, or a file cannot be read or is wrong
   */
  public static Inspection of(StoredModel model, Optional<Path> map) throws IOException {
    ModelNorms found = model.norms(map);
    List<InspectedNorm> norms = new ArrayList<>();
    // Rules may name one gain many times; it is read once for each offset.
    Map<List<Object>, GainStatistics> known = new HashMap<>();
    for (NormSite site : found.norms()) {
      Optional<Tensor> gain = Optional.empty();
      Optional<GainStatistics> statistics = Optional.empty();
      if (site.gain().isPresent()) {
        Tensor tensor = model.tensors().tensor(site.gain().get());
        double offset = site.spec().gainOffset();
        List<Object> key = List.of(tensor, offset);
        if (!known.containsKey(key)) {
          known.put(key, statistics(model.tensors(), tensor, offset));
        }
        gain = Optional.of(tensor);
        statistics = Optional.of(known.get(key));
      }
      norms.add(
          new InspectedNorm(
              site,
              gain.flatMap(tensor -> tensor.dtype().elementType()).map(ElementType::shortName),
              statistics));
    }
    return new Inspection(found, List.copyOf(norms));
  }

  private static GainStatistics statistics(TensorFile file, Tensor gain, double offset)
      throws IOException {
    GainStatistics.Counter counter = new GainStatistics.Counter(offset);
    double[] numbers = new double[(int) Math.min(PIECE, gain.elements())];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment elements =
          arena.allocate((long) numbers.length * gain.dtype().bits() / Byte.SIZE, Double.BYTES);
      for (long at = 0; at < gain.elements(); at += PIECE) {
        int count = (int) Math.min(PIECE, gain.elements() - at);
        file.read(gain, at, count, elements);
        gain.dtype().decode(elements, numbers, count);
        Arrays.stream(numbers, 0, count).forEach(counter);
      }
    }
    return counter.statistics();
  }
}
