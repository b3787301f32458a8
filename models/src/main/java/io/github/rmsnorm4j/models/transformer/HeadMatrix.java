package io.github.rmsnorm4j.models.transformer;

/** Queries, keys or values of all heads, (N, heads * h), with views of them that are made once. */
final class HeadMatrix {
  final Matrix all;

  /** The same as rows of h, one to a head of a token. */
  final Matrix rows;

  final int heads;
  private final Matrix[] views;

  HeadMatrix(Setup setup, int heads) {
    int sequence = setup.sequence();
    int h = setup.config().headWidth();
    this.heads = heads;
    all = setup.allocate(setup.rows(), heads * h);
    rows = all.withColumns(h);
    views = new Matrix[setup.batch() * heads];
    for (int i = 0; i < views.length; i++) {
      views[i] = all.block(i / heads * sequence, i % heads * h, sequence, h);
    }
  }

  /** One head of a sequence, (T, h). */
  Matrix get(int b, int head) {
    return views[b * heads + head];
  }
}
