package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.Gate;

/** Memory of the backward pass that all blocks use one after the other. */
final class Scratch {
  /** (N, d): the gradient of the residual stream, from block to block. */
  final Matrix dstream;

  /** (N, d): the gradient on its way through a norm. */
  final Matrix dbranch;

  final HeadMatrix dq;
  final HeadMatrix dk;
  final HeadMatrix dv;
  final HeadMatrix dcontext;

  /** Behind the gate of heads; null where there is none. */
  final HeadMatrix dgated;

  /** (T, T). */
  final Matrix dscores;

  /** (N, F) each. */
  final Matrix dgate;

  final Matrix dup;

  Scratch(Setup setup) {
    ModelConfig config = setup.config();
    int n = setup.rows();
    dstream = setup.allocate(n, config.width());
    dbranch = setup.allocate(n, config.width());
    dq = new HeadMatrix(setup, config.heads());
    dk = new HeadMatrix(setup, config.keyValueHeads());
    dv = new HeadMatrix(setup, config.keyValueHeads());
    dcontext = new HeadMatrix(setup, config.heads());
    dgated = config.headGate() == Gate.NONE ? null : new HeadMatrix(setup, config.heads());
    dscores = setup.allocate(setup.sequence(), setup.sequence());
    dgate = setup.allocate(n, config.mlpWidth());
    dup = setup.allocate(n, config.mlpWidth());
  }
}
