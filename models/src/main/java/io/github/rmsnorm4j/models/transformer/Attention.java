package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.transformer.StepTimes.Part;
import java.lang.foreign.MemorySegment;

/**
 * Causal attention: {@code softmax(q k^T / sqrt(h)) v} per query head, H / K query heads to a key
 * and value head.
 */
final class Attention {
  private final Tape tape;
  private final int headWidth;
  private final int group;
  private final float scale;
  private final MatrixProduct product;
  private final Variable q;
  private final Variable k;
  private final Variable v;
  private final Variable context;

  /** The keys of the sequence so far, (P, K * h); null where a pass sees its own tokens alone. */
  private final Matrix keyCache;

  private final Matrix valueCache;

  /** (T, T) for each sequence and query head; (T, P) where there are caches. */
  private final Matrix[] weights;

  Attention(Tape tape, Variable q, Variable k, Variable v, Variable context) {
    this.tape = tape;
    this.q = q;
    this.k = k;
    this.v = v;
    this.context = context;
    headWidth = tape.config.headWidth();
    group = tape.config.heads() / tape.config.keyValueHeads();
    scale = (float) (1 / Math.sqrt(headWidth));
    product = tape.arithmetic.product();
    weights = new Matrix[tape.batch * tape.config.heads()];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = tape.allocate(tape.sequence, tape.positions);
    }
    keyCache = tape.continues ? tape.allocate(tape.positions, k.values.columns) : null;
    valueCache = tape.continues ? tape.allocate(tape.positions, v.values.columns) : null;
    tape.add(Part.ATTENTION, this::forward, this::backward);
  }

  /** Each head of each sequence, (T, h). */
  private Matrix[] heads(Matrix of) {
    return of.tiles(tape.sequence, headWidth);
  }

  private void forward() {
    if (keyCache != null) {
      continueRows(keyCache, k.values);
      continueRows(valueCache, v.values);
    }
    for (int i = 0; i < weights.length; i++) {
      Matrix w = weights[i];
      Matrix keys;
      Matrix values;
      if (keyCache == null) {
        keys = heads(k.values)[i / group];
        values = heads(v.values)[i / group];
      } else {
        int seen = tape.past() + tape.sequence;
        w = w.block(0, 0, tape.sequence, seen);
        keys = keyCache.block(0, i / group * headWidth, seen, headWidth);
        values = valueCache.block(0, i / group * headWidth, seen, headWidth);
      }
      product.multiply(heads(q.values)[i], false, keys, true, scale, 0, w);
      Softmax.forward(w);
      product.multiply(w, false, values, false, 1, 0, heads(context.values)[i]);
    }
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
    Matrix ds = tape.shared("scores", tape.sequence, tape.sequence);
    for (int i = 0; i < weights.length; i++) {
      Matrix dcontext = heads(context.gradient())[i];
      product.multiply(weights[i], true, dcontext, false, 1, 1, dvs[i / group]);
      product.multiply(dcontext, false, heads(v.values)[i / group], true, 1, 0, ds);
      Softmax.backward(weights[i], ds);
      Matrix dq = heads(q.gradient())[i];
      product.multiply(ds, false, heads(k.values)[i / group], false, scale, 0, dq);
      product.multiply(ds, true, heads(q.values)[i], false, scale, 1, dks[i / group]);
    }
  }
}
