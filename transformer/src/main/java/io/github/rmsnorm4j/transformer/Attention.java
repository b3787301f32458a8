package io.github.rmsnorm4j.transformer;

/**
 * Causal attention: {@code softmax(q k^T / sqrt(h)) v} per query head, H / K query heads to a key
 * and value head; queries and keys rotated, and before that normalised where the model says so.
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
  private final Rotary rotary;

  /** (N, H * h), (N, K * h), (N, K * h), (N, H * h). */
  private final Matrix q;

  private final Matrix k;
  private final Matrix v;
  private final Matrix context;

  private final HeadViews qHeads;
  private final HeadViews kHeads;
  private final HeadViews vHeads;
  private final HeadViews contextHeads;

  /** Null where a pass sees its own tokens alone. */
  private final KeyValueCache keyCache;

  private final KeyValueCache valueCache;

  /** (T, T) for each sequence and query head; (T, P + T) of a capacity where there are caches. */
  private final Matrix[] weights;

  Attention(Setup setup, String name, Rotary rotary) {
    ModelConfig config = setup.config();
    int h = config.headWidth();
    batch = setup.batch();
    heads = config.heads();
    group = heads / config.keyValueHeads();
    scale = (float) (1 / Math.sqrt(h));
    product = setup.arithmetic().product();
    positions = setup.positions();
    queryProjection = new Linear(setup, name + ".q_proj");
    keyProjection = new Linear(setup, name + ".k_proj");
    valueProjection = new Linear(setup, name + ".v_proj");
    outputProjection = new Linear(setup, name + ".o_proj");
    this.rotary = rotary;
    q = setup.allocate(setup.rows(), heads * h);
    k = setup.allocate(setup.rows(), config.keyValueHeads() * h);
    v = setup.allocate(setup.rows(), config.keyValueHeads() * h);
    context = setup.allocate(setup.rows(), heads * h);
    queryNorm = config.queryKeyNorm() ? new HeadNorm(setup, name + ".q_norm", q) : null;
    keyNorm = config.queryKeyNorm() ? new HeadNorm(setup, name + ".k_norm", k) : null;
    qHeads = new HeadViews(q, setup.sequence(), h);
    kHeads = new HeadViews(k, setup.sequence(), h);
    vHeads = new HeadViews(v, setup.sequence(), h);
    contextHeads = new HeadViews(context, setup.sequence(), h);
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
    valueProjection.forward(x, v, false);
    rotary.forward(q);
    rotary.forward(k);
    if (keyCache != null) {
      keyCache.add(positions.past(), k);
      valueCache.add(positions.past(), v);
    }
    for (int b = 0; b < batch; b++) {
      for (int head = 0; head < heads; head++) {
        forward(b, head);
      }
    }
    outputProjection.forward(context, y, add);
  }

  /** The context of one query head. */
  private void forward(int b, int head) {
    Matrix w = weights[b * heads + head];
    int shared = head / group;
    Matrix keys;
    Matrix values;
    if (keyCache == null) {
      keys = kHeads.get(b, shared);
      values = vHeads.get(b, shared);
    } else {
      int seen = positions.past() + w.rows;
      w = w.block(0, 0, w.rows, seen);
      keys = keyCache.head(shared, seen);
      values = valueCache.head(shared, seen);
    }
    product.multiply(qHeads.get(b, head), false, keys, true, scale, 0, w);
    Softmax.forward(w);
    product.multiply(w, false, values, false, 1, 0, contextHeads.get(b, head));
  }

  private static void project(Matrix x, Linear projection, HeadNorm norm, Matrix y) {
    if (norm == null) {
      projection.forward(x, y, false);
    } else {
      projection.forward(x, norm.input(), false);
      norm.forward();
    }
  }

  @Override
  public void backward(Matrix x, Matrix dy, Matrix dx, boolean add, Scratch scratch) {
    outputProjection.backward(context, dy, scratch.dcontext, false);
    scratch.dk.zero();
    scratch.dv.zero();
    for (int b = 0; b < batch; b++) {
      for (int head = 0; head < heads; head++) {
        backward(b, head, scratch);
      }
    }
    rotary.backward(scratch.dq);
    rotary.backward(scratch.dk);
    if (queryNorm != null) {
      queryNorm.backward(scratch.dqRows);
      keyNorm.backward(scratch.dkRows);
    }
    queryProjection.backward(x, scratch.dq, dx, add);
    keyProjection.backward(x, scratch.dk, dx, true);
    valueProjection.backward(x, scratch.dv, dx, true);
  }

  /** dq, and what this query head adds to dk and dv of its group. */
  private void backward(int b, int head, Scratch scratch) {
    Matrix w = weights[b * heads + head];
    Matrix ds = scratch.dscores;
    int shared = head / group;
    Matrix dcontext = scratch.dcontextHeads.get(b, head);
    product.multiply(w, true, dcontext, false, 1, 1, scratch.dvHeads.get(b, shared));
    product.multiply(dcontext, false, vHeads.get(b, shared), true, 1, 0, ds);
    Softmax.backward(w, ds);
    product.multiply(
        ds, false, kHeads.get(b, shared), false, scale, 0, scratch.dqHeads.get(b, head));
    product.multiply(
        ds, true, qHeads.get(b, head), false, scale, 1, scratch.dkHeads.get(b, shared));
  }
}
