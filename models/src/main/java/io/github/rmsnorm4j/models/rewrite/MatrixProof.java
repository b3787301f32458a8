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
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;

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
final class MatrixProof {
  /** The float64 error of a sum of products, for each term. */
  private static final double TERM = 0x1p-52;

  private final Side before;
  private final Side after;
  private final Compared norms = new Compared("norms, with their epsilon");
  private final Compared matrices = new Compared("elements of W diag(g)");
  private final Compared biases = new Compared("elements of b + W beta");
  private final Compared stream = new Compared("elements of what is added to the stream");
  private final Compared copies = new Compared("tensors that keep their bytes");

  /** The tensors that are compared otherwise than byte for byte. */
  private final Set<String> compared = new HashSet<>();

  /** One of the two models; its norms are found in it by the rules of its family. */
  record Side(ModelNorms norms, TensorFile tensors, LongConsumer progress) {
    private StoredMatrix matrix(String name, Arena arena) throws IOException {
      StoredMatrix matrix = new StoredMatrix(tensors, name, arena);
      progress.accept(matrix.tensor.bytes());
      return matrix;
    }

    private Taken taken(NormSite site, Projection matrix, Arena arena) throws IOException {
      StoredMatrix w = matrix(matrix.weight(), arena);
      boolean inputsFirst = matrix.inputsFirst();
      int inputs = inputsFirst ? w.rows : w.columns;
      double scale = norms.head().filter(matrix::equals).isPresent() ? norms.headScale() : 1;
      double offset = site.spec().gainOffset();
      double[] g = StoredMatrix.vector(tensors, site.gain(), 1 - offset, inputs);
      Arrays.setAll(g, i -> scale * (g[i] + offset));
      double[] beta = StoredMatrix.vector(tensors, site.bias(), 0, inputs);
      Arrays.setAll(beta, i -> scale * beta[i]);
      int outputs = inputsFirst ? w.columns : w.rows;
      double[] c = StoredMatrix.vector(tensors, matrix.bias(), 0, outputs);
      double[] sums = Arrays.stream(c).map(Math::abs).toArray();
      w.addProduct(beta, inputsFirst, c, sums);
      return new Taken(w, inputsFirst, g, c, sums);
    }
  }

  /**
   * {@code A n + c}: a norm of one side, and a matrix that takes its output. The sums are the
   * largest that a partial sum of an element of c may be.
   */
  private record Taken(StoredMatrix w, boolean inputsFirst, double[] g, double[] c, double[] sums) {
    double gain(int row, int column) {
      return g[inputsFirst ? row : column];
    }
  }

  MatrixProof(Side before, Side after) {
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
  List<Compared> findings(boolean converted, boolean mapped) throws IOException {
    List<NormSite> sites = before.norms.norms();
    List<NormSite> others = after.norms.norms();
    if (sites.size() != others.size()) {
      throw new RefusedException(
          "the result has %s norms, the model has %s".formatted(others.size(), sites.size()));
    }
    requireSameTensors();
    for (int i = 0; i < sites.size(); i++) {
      NormSite site = sites.get(i);
      NormSpec spec = site.spec();
      spec = converted && !mapped ? spec.withKind(NormSpec.Kind.RMS_NORM) : spec;
      norms.add(spec.equals(others.get(i).spec()) ? 0 : 1, 0, site.name());
      // A norm whose output goes elsewhere, too, keeps its bytes, and so do its matrices.
      boolean numbers = !site.consumers().isEmpty();
      for (String name : RewritingPlan.changed(site)) {
        Tensor tensor = before.tensors.tensor(name);
        numbers &= tensor.dtype().elementType().isPresent() && tensor.shape().size() <= 2;
      }
      if (numbers) {
        compared.addAll(RewritingPlan.changed(site));
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
    return converted
        ? List.of(norms, matrices, biases, stream, copies)
        : List.of(norms, matrices, biases, copies);
  }

  private void compareMatrix(NormSite site, NormSite other, int consumer) throws IOException {
    Projection matrix = site.consumers().get(consumer);
    try (Arena arena = Arena.ofConfined()) {
      Taken x = before.taken(site, matrix, arena);
      Taken y = after.taken(other, other.consumers().get(consumer), arena);
      for (int row = 0; row < x.w.rows; row++) {
        for (int column = 0; column < x.w.columns; column++) {
          double a = x.w.get(row, column) * x.gain(row, column);
          double gain = y.gain(row, column);
          double bound = bound(x.w.type, a, Math.abs(gain), 8 * Math.abs(a));
          matrices.add(a - y.w.get(row, column) * gain, bound, matrix.weight());
        }
      }
      ElementType type =
          matrix.bias().isPresent() ? before.matrix(matrix.bias().get(), arena).type : x.w.type;
      for (int i = 0; i < x.c.length; i++) {
        double bound = bound(type, x.c[i], 1, 2 * (x.g.length + 16) * x.sums[i]);
        biases.add(x.c[i] - y.c[i], bound, matrix.weight());
      }
    }
  }

  /**
   * How far a number that was rounded once to its type may be from the exact one.
   *
   * @param factor what the stored number is multiplied by
   * @param terms the absolute values of what was added in float64
   */
  private static double bound(ElementType type, double exact, double factor, double terms) {
    double tiniest = Math.max(type.minValue() / 2, Double.MIN_VALUE);
    return type.unitRoundoff() * Math.abs(exact) + tiniest * factor + TERM * terms;
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
      double[] means = stored.means(rows);
      for (int row = 0; row < stored.rows; row++) {
        for (int column = 0; column < stored.columns; column++) {
          double value = stored.get(row, column);
          double exact = value - means[rows ? row : column];
          double bound = bound(stored.type, exact, 1, 2 * Math.abs(value));
          stream.add(exact - changed.get(row, column), bound, name);
        }
      }
    }
  }

  /** The result may have one more: a head that was tied, which is like the embedding. */
  private void requireSameTensors() throws IOException {
    Set<Tensor> tensors = new HashSet<>(before.tensors.tensors());
    if (before.norms.tied() && !after.norms.tied()) {
      Tensor embedding = before.tensors.tensor(before.norms.head().orElseThrow().weight());
      compared.add(after.norms.ownHead());
      tensors.add(new Tensor(after.norms.ownHead(), embedding.dtype(), embedding.shape()));
    }
    for (Tensor tensor : after.tensors.tensors()) {
      if (!tensors.remove(tensor)) {
        throw new RefusedException("the result has %s, the model has not".formatted(tensor));
      }
    }
    if (!tensors.isEmpty()) {
      throw new RefusedException("the result lacks " + tensors.iterator().next());
    }
  }

  private void compareCopies() throws IOException {
    for (Tensor tensor : before.tensors.tensors()) {
      if (!compared.contains(tensor.name())) {
        boolean same = StoredMatrix.sameBytes(before.tensors, tensor, after.tensors, tensor);
        copies.add(same ? 0 : 1, 0, tensor.name());
      }
    }
  }
}
