package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.internal.Floats;
import io.github.rmsnorm4j.models.transformer.StepTimes.Part;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Causal attention: {@code softmax(q k^T / sqrt(h)) v} per query head, H / K query heads to a key
 * and value head.
 *
 * @param keyCache the keys of the sequence so far, (P, K * h); null where a pass sees its own
 *     tokens alone
 * @param weights (T, T) for each sequence and query head; (T, P) where there are caches
 */
record Attention(
    Tape tape,
    Variable q,
    Variable k,
    Variable v,
    Variable context,
    Matrix keyCache,
    Matrix valueCache,
    Matrix[] weights) {

  static void add(Tape tape, Variable q, Variable k, Variable v, Variable context) {
    Matrix keys = tape.continues ? tape.allocate(tape.positions, k.values.columns) : null;
    Matrix values = tape.continues ? tape.allocate(tape.positions, v.values.columns) : null;
    Matrix[] weights = new Matrix[tape.batch * tape.config.heads()];
    Arrays.setAll(weights, i -> tape.allocate(tape.sequence, tape.positions));
    Attention layer = new Attention(tape, q, k, v, context, keys, values, weights);
    tape.add(Part.ATTENTION, layer::forward, layer::backward);
  }

  /** Each head of each sequence, (T, h). */
  private Matrix[] heads(Matrix of) {
    return of.tiles(tape.sequence, tape.config.headWidth());
  }

  /** How many query heads share a key and value head. */
  private int group() {
    return tape.config.heads() / tape.config.keyValueHeads();
  }

  private float scale() {
    return (float) (1 / Math.sqrt(tape.config.headWidth()));
  }

  private void forward() {
    if (keyCache != null) {
      continueRows(keyCache, k.values);
      continueRows(valueCache, v.values);
    }
    MatrixProduct product = tape.arithmetic.product();
    for (int i = 0; i < weights.length; i++) {
      Matrix keys = seen(keyCache, k, i / group());
      Matrix values = seen(valueCache, v, i / group());
      Matrix w = weights[i];
      w = keyCache == null ? w : w.block(0, 0, w.rows, keys.rows);
      product.multiply(heads(q.values)[i], false, keys, true, scale(), 0, w);
      softmax(w);
      product.multiply(w, false, values, false, 1, 0, heads(context.values)[i]);
    }
  }

  /** A head of all positions that a pass sees. */
  private Matrix seen(Matrix cache, Variable own, int head) {
    if (cache == null) {
      return heads(own.values)[head];
    }
    int width = tape.config.headWidth();
    return cache.block(0, head * width, tape.past() + tape.sequence, width);
  }

  /** Copies the rows of a pass behind those of the passes before it. */
  private void continueRows(Matrix cache, Matrix pass) {
    long bytes = pass.elements() * Float.BYTES;
    long first = (long) tape.past() * cache.columns * Float.BYTES;
    MemorySegment.copy(pass.segment, 0, cache.segment, first, bytes);
  }

  private void backward() {
    Matrix[] dks = heads(k.gradient());
    Matrix[] dvs = heads(v.gradient());
    k.gradient().zero();
    v.gradient().zero();
    MatrixProduct product = tape.arithmetic.product();
    Matrix ds = tape.shared("scores", tape.sequence, tape.sequence);
    for (int i = 0; i < weights.length; i++) {
      Matrix dcontext = heads(context.gradient())[i];
      product.multiply(weights[i], true, dcontext, false, 1, 1, dvs[i / group()]);
      product.multiply(dcontext, false, heads(v.values)[i / group()], true, 1, 0, ds);
      softmaxBackward(weights[i], ds);
      Matrix dq = heads(q.gradient())[i];
      product.multiply(ds, false, heads(k.values)[i / group()], false, scale(), 0, dq);
      product.multiply(ds, true, heads(q.values)[i], false, scale(), 1, dks[i / group()]);
    }
  }

  /**
   * Scores to weights, in place: row t of (T, P + T), with P positions before the pass, is over
   * columns 0 to P + t, and what lies in the future becomes 0.
   */
  private static void softmax(Matrix scores) {
    Floats x = scores.floats();
    int columns = scores.columns;
    int past = columns - scores.rows;
    for (int t = 0; t < scores.rows; t++) {
      long row = (long) t * scores.stride;
      int last = past + t;
      float largest = Float.NEGATIVE_INFINITY;
      for (int j = 0; j <= last; j++) {
        largest = Math.max(largest, x.get(row + j));
      }
      double sum = 0;
      for (int j = 0; j <= last; j++) {
        float e = (float) Math.exp(x.get(row + j) - largest);
        x.set(row + j, e);
        sum += e;
      }
      float scale = (float) (1 / sum);
      for (int j = 0; j <= last; j++) {
        x.set(row + j, x.get(row + j) * scale);
      }
      for (int j = last + 1; j < columns; j++) {
        x.set(row + j, 0);
      }
    }
  }

  /** {@code ds = p * (dp - sum(dp * p))}, row by row, written over dp; P is 0. */
  private static void softmaxBackward(Matrix weights, Matrix gradient) {
    Floats p = weights.floats();
    Floats g = gradient.floats();
    for (int t = 0; t < weights.rows; t++) {
      long prow = (long) t * weights.stride;
      long grow = (long) t * gradient.stride;
      double sum = 0;
      for (int j = 0; j <= t; j++) {
        sum += (double) p.get(prow + j) * g.get(grow + j);
      }
      float mean = (float) sum;
      for (int j = 0; j <= t; j++) {
        g.set(grow + j, p.get(prow + j) * (g.get(grow + j) - mean));
      }
      for (int j = t + 1; j < weights.columns; j++) {
        g.set(grow + j, 0);
      }
    }
  }
}
