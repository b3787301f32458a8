package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.ModelNorms;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.Projection;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Compares a model with a result that was made from it, both as they are stored. It knows the goal
 * alone, not the plan, so it also finds the faults of a plan.
 *
 * <p>A norm and a matrix that takes its output make {@code W (n g + beta) + b} of a normalized row
 * n. That is {@code A n + c} with {@code A = W diag(g)} and {@code c = b + W beta}. The norm, each
 * element of A and each of c are compared, in float64. Of what is added to the residual stream of a
 * converted model, each element must be the stored one less the mean. All else keeps its bytes.
 *
 * <p>Bounds. A stored number is the exact one with one rounding to its type: it differs by at most
 * {@code u |exact| + t}, with u half a unit of the type and t half of its smallest number. A
 * float64 sum of n products differs by at most {@code (n + 16) 2^-52} times the sum of their
 * absolute values.
 */
final class Comparison {
  /** The float64 error of a sum of products, for each term. */
  private static final double TERM = 0x1p-52;

  private final Side before;
  private final Side after;
  private final Finding norms = new Finding("norms, with their epsilon");
  private final Finding matrices = new Finding("elements of W diag(g)");
  private final Finding biases = new Finding("elements of b + W beta");
  private final Finding stream = new Finding("elements of what is added to the stream");
  private final Finding copies = new Finding("tensors that keep their bytes");

  /** The tensors that are compared otherwise than byte for byte. */
  private final Set<String> compared = new HashSet<>();

  /** One of the two models; its norms are found in it by the rules of its family. */
  record Side(ModelNorms norms, TensorFile tensors, LongConsumer progress) {
    private StoredMatrix matrix(String name, Arena arena) throws IOException {
      StoredMatrix matrix = new StoredMatrix(tensors, name, arena);
      progress.accept(matrix.tensor.bytes());
      return matrix;
    }

    /** What the norm and the matrix are together, apart from W. */
    private Factors factors(NormSite site, Projection matrix, int inputs, int outputs)
        throws IOException {
      double scale = norms.head().filter(matrix::equals).isPresent() ? norms.headScale() : 1;
      double[] g = vector(site.gain(), inputs, 1 - site.spec().gainOffset());
      Arrays.setAll(g, i -> scale * (g[i] + site.spec().gainOffset()));
      double[] beta = vector(site.bias(), inputs, 0);
      Arrays.setAll(beta, i -> scale * beta[i]);
      return new Factors(g, beta, vector(matrix.bias(), outputs, 0));
    }

    private double[] vector(Optional<String> name, int length, double absent) throws IOException {
      if (name.isPresent()) {
        return StoredMatrix.vector(tensors, name.get(), length);
      }
      double[] all = new double[length];
      Arrays.fill(all, absent);
      return all;
    }
  }

  private record Factors(double[] g, double[] beta, double[] c) {}

  Comparison(Side before, Side after) {
    this.before = before;
    this.after = after;
  }

  /**
   * Compares all.
   *
   * @param converted whether the norms became RMSNorm
   * @param mapped whether a map describes the model's norms: it takes those of a converted result
   *     for LayerNorm, too
   */
  List<Finding> findings(boolean converted, boolean mapped) throws IOException {
    List<NormSite> sites = before.norms.norms();
    List<NormSite> others = after.norms.norms();
    if (sites.size() != others.size()) {
      throw new RefusedException(
          "the result has %s norms, the model has %s".formatted(others.size(), sites.size()));
    }
    Set<String> numbers =
        before.tensors.tensors().stream()
            .filter(tensor -> tensor.dtype().elementType().isPresent())
            .map(Tensor::name)
            .collect(Collectors.toSet());
    for (int i = 0; i < sites.size(); i++) {
      NormSite site = sites.get(i);
      NormSpec spec = site.spec();
      spec = converted && !mapped ? spec.withKind(NormSpec.Kind.RMS_NORM) : spec;
      norms.add(spec.equals(others.get(i).spec()) ? 0 : 1, 0, site.name());
      // A norm whose output goes elsewhere, too, keeps its bytes, and so do its matrices.
      if (!site.consumers().isEmpty() && numbers.containsAll(Planner.changed(site))) {
        compared.addAll(Planner.changed(site));
        for (int j = 0; j < site.consumers().size(); j++) {
          compareMatrix(site, others.get(i), j);
        }
      }
    }
    // A head that was tied is the embedding, which a fold leaves as it is.
    before.norms.embeddings().forEach(compared::remove);
    if (converted) {
      compareStream();
    }
    compareCopies();
    return Stream.of(norms, matrices, biases, stream, copies)
        .filter(finding -> finding != stream || converted)
        .toList();
  }

  private void compareMatrix(NormSite site, NormSite other, int consumer) throws IOException {
    Projection matrix = site.consumers().get(consumer);
    Projection same = other.consumers().get(consumer);
    try (Arena arena = Arena.ofConfined()) {
      StoredMatrix w = before.matrix(matrix.weight(), arena);
      StoredMatrix v = after.matrix(same.weight(), arena);
      requireSame(w.tensor, v.tensor);
      boolean inputsFirst = matrix.inputsFirst();
      int inputs = inputsFirst ? w.rows : w.columns;
      int outputs = inputsFirst ? w.columns : w.rows;
      Factors x = before.factors(site, matrix, inputs, outputs);
      Factors y = after.factors(other, same, inputs, outputs);
      double[] size = Arrays.stream(x.c).map(Math::abs).toArray();
      for (int row = 0; row < w.rows; row++) {
        for (int column = 0; column < w.columns; column++) {
          int j = inputsFirst ? row : column;
          int i = inputsFirst ? column : row;
          double a = w.get(row, column) * x.g[j];
          double bound = (w.type.unitRoundoff() + 8 * TERM) * Math.abs(a);
          bound += tiniest(w.type) * Math.abs(y.g[j]);
          matrices.add(a - v.get(row, column) * y.g[j], bound, matrix.weight());
          double term = w.get(row, column) * x.beta[j];
          x.c[i] += term;
          y.c[i] += v.get(row, column) * y.beta[j];
          size[i] += Math.abs(term);
        }
      }
      ElementType type =
          matrix.bias().isPresent() ? before.matrix(matrix.bias().get(), arena).type : w.type;
      for (int i = 0; i < outputs; i++) {
        double sums = (inputs + 16) * TERM * 2 * size[i];
        double bound = type.unitRoundoff() * Math.abs(x.c[i]) + tiniest(type) + sums;
        biases.add(x.c[i] - y.c[i], bound, matrix.weight());
      }
    }
  }

  private static void requireSame(Tensor tensor, Tensor other) throws RefusedException {
    if (!other.shape().equals(tensor.shape()) || other.dtype() != tensor.dtype()) {
      throw new RefusedException("the result has %s, the model %s".formatted(other, tensor));
    }
  }

  /** The largest error of one rounding of a number that is too small to be normal. */
  private static double tiniest(ElementType type) {
    return Math.max(type.minValue() / 2, Double.MIN_VALUE);
  }

  private void compareStream() throws IOException {
    for (String embedding : before.norms.embeddings()) {
      compareCentered(embedding, true);
    }
    for (Projection writer : before.norms.writers()) {
      compareCentered(writer.weight(), writer.inputsFirst());
      if (writer.bias().isPresent()) {
        compareCentered(writer.bias().get(), true);
      }
    }
  }

  /** Compares with rows, or columns, that have lost their means. */
  private void compareCentered(String name, boolean rows) throws IOException {
    compared.add(name);
    try (Arena arena = Arena.ofConfined()) {
      StoredMatrix stored = before.matrix(name, arena);
      StoredMatrix changed = after.matrix(name, arena);
      requireSame(stored.tensor, changed.tensor);
      double[] means = stored.means(rows);
      for (int row = 0; row < stored.rows; row++) {
        for (int column = 0; column < stored.columns; column++) {
          double value = stored.get(row, column);
          double exact = value - means[rows ? row : column];
          double bound = stored.type.unitRoundoff() * Math.abs(exact) + tiniest(stored.type);
          bound += 2 * TERM * Math.abs(value);
          stream.add(exact - changed.get(row, column), bound, name);
        }
      }
    }
  }

  /** The bytes of all other tensors. The result may have one more: a head that was tied. */
  private void compareCopies() throws IOException {
    Set<String> names = new HashSet<>();
    if (before.norms.tied() && !after.norms.tied()) {
      names.add(after.norms.ownHead());
      compared.add(after.norms.ownHead());
    }
    for (Tensor tensor : before.tensors.tensors()) {
      names.add(tensor.name());
      if (!compared.contains(tensor.name())) {
        Tensor other = after.tensors.tensor(tensor.name());
        boolean same =
            other.equals(tensor) && sameBytes(before.tensors, tensor, after.tensors, other);
        copies.add(same ? 0 : 1, 0, tensor.name());
      }
    }
    after.tensors.tensors().stream()
        .map(Tensor::name)
        .filter(name -> !names.contains(name))
        .forEach(name -> copies.add(1, 0, name));
  }

  /** Whether two tensors have the same bytes. */
  static boolean sameBytes(TensorFile file, Tensor tensor, TensorFile otherFile, Tensor other)
      throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = StoredMatrix.bytes(file, tensor, arena);
      return bytes.mismatch(StoredMatrix.bytes(otherFile, other, arena)) < 0;
    }
  }
}
