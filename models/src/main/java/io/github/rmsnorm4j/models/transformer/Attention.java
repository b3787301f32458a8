package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.Gate;

/**
 * Causal attention: {@code softmax(q k^T / sqrt(h)) v} per query head, H / K query heads to a key
 * and value head; queries and keys rotated, and before that normalised where the model says so. The
 * outputs of heads are normalised and gated where the model says so.
 */
final class Attention implements Inner {
  private final int batch;
  private final int heads;
  private final int group;
  private final float scale;
  private final MatrixProduct product;
  private final Positions positions;
  private final Linear queryProjection;
  private final Linear keyProjection;
  private final Linear valueProjection;
  private final Linear outputProjection;
  private final HeadNorm queryNorm;
  private final HeadNorm keyNorm;

  /** Null where the outputs of heads go to the output projection as they are. */
  private final HeadGate gate;

  private final Rotary rotary;

  private final HeadMatrix q;
  private final HeadMatrix k;
  private final HeadMatrix v;
  private final HeadMatrix context;

  /** Null where a pass sees its own tokens alone. */
  private final KeyValueCache keyCache;

  private final KeyValueCache valueCache;

  /** (T, T) for each sequence and query head; (T, P + T) of a capacity where there are caches. */
  private final Matrix[] weights;

  Attention(Setup setup, String name, Rotary rotary) {
    ModelConfig config = setup.config();
    batch = setup.batch();
    heads = config.heads();
    group = heads / config.keyValueHeads();
    scale = (float) (1 / Math.sqrt(config.headWidth()));
    product = setup.arithmetic().product();
    positions = setup.positions();
    queryProjection = new Linear(setup, name + ".q_proj");
    keyProjection = new Linear(setup, name + ".k_proj");
    valueProjection = new Linear(setup, name + ".v_proj");
    outputProjection = new Linear(setup, name + ".o_proj");
    this.rotary = rotary;
    q = new HeadMatrix(setup, heads);
    k = new HeadMatrix(setup, config.keyValueHeads());
    v = new HeadMatrix(setup, config.keyValueHeads());
    context = new HeadMatrix(setup, heads);
    queryNorm = config.queryKeyNorm() ? new HeadNorm(setup, name + ".q_norm", q) : null;
    keyNorm = config.queryKeyNorm() ? new HeadNorm(setup, name + ".k_norm", k) : null;
    gate = config.headGate() == Gate.NONE ? null : new HeadGate(setup, name, context);
    weights = new Matrix[batch * heads];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = setup.allocate(setup.sequence(), positions.capacity);
    }
    keyCache = positions.continued ? new KeyValueCache(setup) : null;
    valueCache = positions.continued ? new KeyValueCache(setup) : null;
  }

  @Override
  public void forward(Matrix x, Matrix y, boolean add) {
    project(x, queryProjection, queryNorm, q);
    project(x, keyProjection, keyNorm, k);
    valueProjection.forward(x, v.all, false);
    rotary.forward(q.all);
    rotary.forward(k.all);
    if (keyCache != null) {
      keyCache.add(positions.past(), k.all);
      valueCache.add(positions.past(), v.all);
    }
    for (int b = 0; b < batch; b++) {
      for (int head = 0; head < heads; head++) {
        forward(b, head);
      }
    }
    outputProjection.forward(gate == null ? context.all : gate.forward(x), y, add);
  }

  /** The context of one query head. */
  private void forward(int b, int head) {
    Matrix w = weights[b * heads + head];
    int shared = head / group;
    Matrix keys;
    Matrix values;
    if (keyCache == null) {
      keys = k.get(b, shared);
      values = v.get(b, shared);
    } else {
      int seen = positions.past() + w.rows;
      w = w.block(0, 0, w.rows, seen);
      keys = keyCache.head(shared, seen);
      values = valueCache.head(shared, seen);
    }
    product.multiply(q.get(b, head), false, keys, true, scale, 0, w);
    Softmax.forward(w);
    product.multiply(w, false, values, false, 1, 0, context.get(b, head));
  }

  private static void project(Matrix x, Linear projection, HeadNorm norm, HeadMatrix y) {
    if (norm == null) {
      projection.forward(x, y.all, false);
    } else {
      projection.forward(x, norm.input.all, false);
      norm.forward();
    }
  }

  @Override
  public void backward(Matrix x, Matrix dy, Matrix dx, boolean add, Scratch scratch) {
    if (gate == null) {
      outputProjection.backward(context.all, dy, scratch.dcontext.all, false);
    } else {
      outputProjection.backward(gate.output(), dy, scratch.dgated.all, false);
      gate.backward(x, scratch.dgated, scratch.dcontext, dx, add);
    }
    scratch.dk.all.zero();
    scratch.dv.all.zero();
    for (int b = 0; b < batch; b++) {
      for (int head = 0; head < heads; head++) {
        backward(b, head, scratch);
      }
    }
    rotary.backward(scratch.dq.all);
    rotary.backward(scratch.dk.all);
    if (queryNorm != null) {
      queryNorm.backward(scratch.dq);
      keyNorm.backward(scratch.dk);
    }
    queryProjection.backward(x, scratch.dq.all, dx, add || gate != null);
    keyProjection.backward(x, scratch.dk.all, dx, true);
    valueProjection.backward(x, scratch.dv.all, dx, true);
  }

  /** dq, and what this query head adds to dk and dv of its group. */
  private void backward(int b, int head, Scratch scratch) {
    Matrix w = weights[b * heads + head];
    Matrix ds = scratch.dscores;
    int shared = head / group;
    Matrix dcontext = scratch.dcontext.get(b, head);
    product.multiply(w, true, dcontext, false, 1, 1, scratch.dv.get(b, shared));
    product.multiply(dcontext, false, v.get(b, shared), true, 1, 0, ds);
    Softmax.backward(w, ds);
    product.multiply(ds, false, k.get(b, shared), false, scale, 0, scratch.dq.get(b, head));
    product.multiply(ds, true, q.get(b, head), false, scale, 1, scratch.dk.get(b, shared));
  }
}
