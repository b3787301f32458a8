package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.QuantizedTensor;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One file's way into another: which tensors go how, the going, and a line about it. */
final class NormalizeJob {
  private final TensorFile in;
  private final Path out;
  private final List<Tensor> chosen;

  // Tensors by name, as hostile names with one hash are then still told apart in their order: a
  // String is Comparable, a Tensor is not.
  private final Set<String> chosenNames;
  private final int axis;
  private final ElementType type;
  private final QuantizedType quantized;
  private final Normalizer normalizer;

  /** The residual, or the rows of the gate; or null. */
  private final StoredRows beside;

  /** By the width of their rows. */
  private final NavigableMap<Integer, Norm> norms = new TreeMap<>();

  /** The tensors of IN that OUT will hold, by the name that each gets there. */
  private final Map<String, Tensor> sources = new LinkedHashMap<>();

  /** Those whose codes, or scales, are what a tensor of OUT holds; by its name. */
  private final Map<String, QuantizedTensor> codes = new LinkedHashMap<>();

  private final List<Tensor> results = new ArrayList<>();

  private long nonFinite;
  private long addedBytes;

  /** What makes the norm for rows of a width. */
  interface Norms {
    Norm norm(int width, Backend backend) throws IOException;
  }

  /**
   * Plans.
   *
   * @param chosen the tensors to normalise, which must fit the settings
   * @param kept all tensors that OUT will hold
   * @param type the type of the result, or null to keep each tensor's own
   * @param quantized how the result is quantised, or null
   * @param beside what the one tensor is added to before, or the rows of the norm's gate; or null
   * @param normalizer where rows are normalised
   * @throws IllegalArgumentException if it cannot be done so
   */
  NormalizeJob(
      TensorFile in,
      Path out,
      List<Tensor> chosen,
      List<Tensor> kept,
      int axis,
      ElementType type,
      QuantizedType quantized,
      Norms wanted,
      StoredRows beside,
      Normalizer normalizer)
      throws IOException {
    this.in = in;
    this.out = out;
    this.chosen = List.copyOf(chosen);
    this.chosenNames = chosen.stream().map(Tensor::name).collect(Collectors.toSet());
    this.axis = axis;
    this.type = type;
    this.quantized = quantized;
    this.beside = beside;
    this.normalizer = normalizer;
    Backend backend = normalizer.backend(chosen);
    for (Tensor tensor : chosen) {
      int width = width(tensor);
      if (!norms.containsKey(width)) {
        Norm norm = wanted.norm(width, backend);
        normalizer.add(norm);
        norms.put(width, norm);
      }
    }
    if (beside != null) {
      requireOne(chosen, isGated() ? "--gate" : "--residual");
      beside.requireLike(chosen.getFirst());
    }
    for (Tensor tensor : kept) {
      Tensor result = becomes(tensor);
      if (quantized != null && isChosen(tensor)) {
        addQuantized(tensor, result);
      } else {
        add(tensor, result);
      }
    }
  }

  private void add(Tensor source, Tensor result) {
    results.add(result);
    sources.put(result.name(), source);
  }

  private void addQuantized(Tensor source, Tensor result) {
    QuantizedTensor as;
    try {
      as = new QuantizedTensor(result.name(), quantized, result.shape());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "%s: %s: %s".formatted(in.path(), source, e.getMessage()), e);
    }
    for (Tensor part : Stream.concat(Stream.of(as.codes()), as.scales().stream()).toList()) {
      codes.put(part.name(), as);
      add(source, part);
    }
  }

  private boolean isChosen(Tensor tensor) {
    return chosenNames.contains(tensor.name());
  }

  private static void requireOne(List<Tensor> chosen, String option) {
    if (chosen.size() > 1) {
      throw new IllegalArgumentException(
          "%s is for one tensor, %s were chosen: choose one with --tensor from %s"
              .formatted(option, chosen.size(), TensorChoice.list(chosen)));
    }
  }

  private boolean isGated() {
    return norms.firstEntry().getValue().spec().gate() != Gate.NONE;
  }

  private int width(Tensor tensor) {
    return Math.toIntExact(tensor.width(axis));
  }

  private ElementType typeOf(Tensor tensor) {
    return type != null ? type : tensor.dtype().elementType().orElseThrow();
  }

  static boolean isNpy(Path path) {
    return path.toString().endsWith(".npy");
  }

  /** The nameless tensor of a .npy file is named after the file where a name is needed. */
  private Tensor becomes(Tensor tensor) {
    Tensor result = isChosen(tensor) ? tensor.as(Dtype.of(typeOf(tensor))) : tensor;
    return isNpy(out)
        ? result
        : new Tensor(StoredRows.nameOf(tensor, in), result.dtype(), result.shape());
  }

  /** All bytes that are read, of IN and of what is beside it: again for scales apart from codes. */
  long bytes() {
    long read = sources.values().stream().mapToLong(Tensor::bytes).sum();
    long times = sources.values().stream().filter(this::isChosen).count();
    return beside == null ? read : read + times * beside.tensor().bytes();
  }

  /**
   * Begins OUT.
   *
   * @throws IllegalArgumentException if a file of that kind cannot hold what it would have to
   */
  TensorWriter create(boolean force) throws IOException {
    if (isNpy(out) && sources.size() > 1) {
      throw new IllegalArgumentException(
          "%s: a .npy file holds one tensor, %s has %s: choose one with --tensor or write .safetensors"
              .formatted(out, in.path(), sources.size()));
    }
    Map<String, String> metadata = new LinkedHashMap<>(isNpy(out) ? Map.of() : in.metadata());
    chosen.forEach(tensor -> metadata.remove(QuantizedTensor.key(tensor)));
    codes.values().stream()
        .map(QuantizedTensor::metadata)
        .forEach(entry -> metadata.put(entry.getKey(), entry.getValue()));
    return TensorWriter.create(out, results, metadata, force);
  }

  /**
   * Writes everything.
   *
   * @param added takes the sums with the residual, or null
   */
  void run(TensorWriter writer, TensorWriter added, Progress progress) throws IOException {
    addedBytes = added == null ? 0 : beside.tensor().bytes();
    PieceWorker worker = new PieceWorker(normalizer, in, writer, beside, added, progress);
    for (Tensor tensor : writer.order()) {
      Tensor source = sources.get(tensor.name());
      if (!isChosen(source)) {
        worker.copy(source);
        continue;
      }
      QuantizedTensor as = codes.get(tensor.name());
      ElementType y = as == null ? typeOf(source) : null;
      boolean isScales = as != null && !tensor.equals(as.codes());
      Norm norm = norms.get(width(source));
      nonFinite += worker.normalize(source, source.rows(axis), norm, y, quantized, isScales);
    }
  }

  /** What was done, in one line. */
  String summary(long nanos) {
    if (chosen.isEmpty()) {
      return "no row has an element; written as it is";
    }
    Norm norm = norms.firstEntry().getValue();
    long rows = chosen.stream().mapToLong(tensor -> tensor.rows(axis)).sum();
    long written = results.stream().mapToLong(Tensor::bytes).sum();
    long moved = bytes() + written + addedBytes;
    String line =
        String.format(
            Locale.ROOT,
            "%s%d %s of %s, %s%s, %s, %s, %s",
            chosen.size() > 1 ? chosen.size() + " tensors, " : "",
            rows,
            rows == 1 ? "row" : "rows",
            widths(),
            types(),
            besides(),
            norm.spec(),
            normalizer.describe(norm, chosen),
            Throughput.of(moved, nanos));
    String what = quantized == null ? "output elements" : "scales";
    return nonFinite == 0 ? line : line + "; %s %s are not finite".formatted(nonFinite, what);
  }

  private String besides() {
    if (beside == null) {
      return "";
    }
    return (isGated() ? ", gate " : " added to ") + beside.type().shortName();
  }

  private String widths() {
    int least = norms.firstKey();
    int most = norms.lastKey();
    return least == most ? "" + least : least + " to " + most;
  }

  private String types() {
    return chosen.stream()
        .map(
            tensor -> {
              String from = tensor.dtype().name().toLowerCase(Locale.ROOT);
              String to = quantized == null ? typeOf(tensor).shortName() : "" + quantized;
              return from.equals(to) ? from : from + " to " + to;
            })
        .distinct()
        .collect(Collectors.joining(" and "));
  }
}
