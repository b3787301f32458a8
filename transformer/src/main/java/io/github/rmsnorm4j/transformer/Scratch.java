package io.github.rmsnorm4j.transformer;

/** Memory of the backward pass that all blocks use one after the other. */
final class Scratch {
  /** (N, d): the gradient of the residual stream, from block to block. */
  final Matrix dstream;

  /** (N, d): the gradient on its way through a norm. */
  final Matrix dbranch;

  /** (N, H * h), (N, K * h), (N, K * h), (N, H * h). */
  final Matrix dq;

  final Matrix dk;
  final Matrix dv;
  final Matrix dcontext;

  /** The first two as rows of h, one to a head of a token. */
  final Matrix dqRows;

  final Matrix dkRows;

  /** And head by head. */
  final HeadViews dqHeads;

  final HeadViews dkHeads;
  final HeadViews dvHeads;
  final HeadViews dcontextHeads;

  /** (T, T). */
  final Matrix dscores;

  /** (N, F) each. */
  final Matrix dgate;

  final Matrix dup;

  Scratch(Setup setup) {
    ModelConfig config = setup.config();
    int n = setup.rows();
    int queries = config.heads() * config.headWidth();
    int keys = config.keyValueHeads() * config.headWidth();
    dstream = setup.allocate(n, config.width());
    dbranch = setup.allocate(n, config.width());
    dq = setup.allocate(n, queries);
    dk = setup.allocate(n, keys);
    dv = setup.allocate(n, keys);
    dcontext = setup.allocate(n, queries);
    dqRows = dq.withColumns(config.headWidth());
    dkRows = dk.withColumns(config.headWidth());
    dqHeads = new HeadViews(dq, setup.sequence(), config.headWidth());
    dkHeads = new HeadViews(dk, setup.sequence(), config.headWidth());
    dvHeads = new HeadViews(dv, setup.sequence(), config.headWidth());
    dcontextHeads = new HeadViews(dcontext, setup.sequence(), config.headWidth());
    dscores = setup.allocate(setup.sequence(), setup.sequence());
    dgate = setup.allocate(n, config.mlpWidth());
    dup = setup.allocate(n, config.mlpWidth());
  }
}
