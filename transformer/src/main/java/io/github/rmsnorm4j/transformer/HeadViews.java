package io.github.rmsnorm4j.transformer;

/** The heads of (N, heads * h) queries, keys or values as (T, h) matrices, made once. */
final class HeadViews {
  private final int heads;
  private final Matrix[] views;

  HeadViews(Matrix all, int sequence, int headWidth) {
    heads = all.columns / headWidth;
    int batch = all.rows / sequence;
    views = new Matrix[batch * heads];
    for (int b = 0; b < batch; b++) {
      for (int head = 0; head < heads; head++) {
        views[b * heads + head] = all.block(b * sequence, head * headWidth, sequence, headWidth);
      }
    }
  }

  Matrix get(int b, int head) {
    return views[b * heads + head];
  }
}
