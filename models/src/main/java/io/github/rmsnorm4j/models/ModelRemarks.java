package io.github.rmsnorm4j.models;

import static io.github.rmsnorm4j.models.FamilyNames.WEIGHT;
import static java.util.regex.Pattern.CASE_INSENSITIVE;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;

import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.Family.NormRule;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** What is odd about the files of a model. */
final class ModelRemarks {
  /** Two heads of different models differ everywhere, so not every element is compared. */
  private static final int PIECES = 64;

  private static final int PIECE = 1 << 12;

  /** What modules that are norms are called. */
  private static final Pattern NORM =
      Pattern.compile("norm|(^|_)(ln|bn)(_|\\d*$)", CASE_INSENSITIVE);

  /** More parts than a model has. */
  private static final int PARTS = 8;

  private ModelRemarks() {}

  /**
   * What the names and the settings tell.
   *
   * @param added what all names begin with that those of the family do not
   */
  static List<String> ofNames(String added, ModelSettings settings, Family family) {
    List<String> remarks = new ArrayList<>();
    if (!added.isEmpty()) {
      remarks.add(
          "names begin with %s, which %s does not have; it is read as part of each name"
              .formatted(added, family.name()));
    }
    family.norms().stream()
        .map(NormRule::epsilon)
        .filter(keys -> settings.isGguf() && !keys.isEmpty() && settings.key(keys).isEmpty())
        .map(settings::keyOrFirst)
        .distinct()
        .map(
            key ->
                "warning: the file sets no epsilon (%s); the one shown is the family's default"
                    .formatted(key))
        .forEach(remarks::add);
    return remarks;
  }

  /** What the tensors and the files tell. */
  static List<String> of(StoredModel model, ModelNorms norms) throws IOException {
    List<String> remarks = new ArrayList<>();
    unlisted(model.tensors(), norms).ifPresent(remarks::add);
    if (norms.tied() && differ(model.tensors(), norms.embeddings().getFirst(), norms.ownHead())) {
      remarks.add(
          "warning: the head is tied to %s, but another %s is stored: some programs use that one"
              .formatted(norms.embeddings().getFirst(), norms.ownHead()));
    }
    model.oddFiles().ifPresent(remarks::add);
    return remarks;
  }

  /** Gains that the rules leave to other parts of the model, as those of images. */
  private static Optional<String> unlisted(TensorFile file, ModelNorms norms) {
    Set<String> told = new HashSet<>(norms.unknown());
    norms.norms().forEach(norm -> norm.gain().ifPresent(told::add));
    Map<String, Long> parts =
        file.tensors().stream()
            .filter(FamilyGuess::looksLikeGain)
            .map(Tensor::name)
            .filter(name -> NORM.matcher(module(name)).find() && !told.contains(name))
            .collect(groupingBy(ModelRemarks::part, TreeMap::new, counting()));
    long count = parts.values().stream().mapToLong(each -> each).sum();
    String named =
        parts.entrySet().stream()
            .limit(PARTS)
            .map(part -> "%s.* (%s)".formatted(part.getKey(), part.getValue()))
            .collect(joining(", "));
    return Optional.of(
            "%s look like gains of other norms and are not listed: %s%s"
                .formatted(
                    count == 1 ? "1 tensor" : count + " tensors",
                    named,
                    parts.size() > PARTS ? ", ..." : ""))
        .filter(_ -> count > 0);
  }

  private static String module(String gain) {
    int end = gain.length() - WEIGHT.length();
    return gain.substring(gain.lastIndexOf('.', end - 1) + 1, end);
  }

  private static String part(String gain) {
    return gain.substring(0, gain.indexOf('.', gain.startsWith("model.") ? "model.".length() : 0));
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
    long end = a.dtype().elementType().isPresent() ? a.elements() : 0;
    long step = Math.max(PIECE, end / PIECES / PIECE * PIECE);
    boolean differ = false;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment ofA = arena.allocate((long) PIECE * Double.BYTES);
      MemorySegment ofB = arena.allocate((long) PIECE * Double.BYTES);
      for (long at = 0; !differ && at < end; at += step) {
        int count = (int) Math.min(PIECE, end - at);
        file.read(a, at, count, ofA);
        file.read(b, at, count, ofB);
        differ = ofA.mismatch(ofB) >= 0;
      }
    }
    return differ;
  }
}
