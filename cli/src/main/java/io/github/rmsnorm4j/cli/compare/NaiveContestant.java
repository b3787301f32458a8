package io.github.rmsnorm4j.cli.compare;

import java.lang.foreign.MemorySegment;

/** Operation by operation. */
final class NaiveContestant implements Contestant {
  private final Ground ground;
  private final Eager eager;
  private final Naive naive;

  NaiveContestant(Variant variant, Ground ground) {
    this.ground = ground;
    Subject subject = ground.subject();
    Data data = new Data(subject.type(), subject.shape());
    eager = new Eager(subject, ground.crew(), ground.tensors());
    naive = new Naive(eager, variant, data.parameters(Data.GAIN), data.parameters(Data.BIAS));
  }

  @Override
  public void prepare() {
    if (ground.subject().pass() == Pass.BACKWARD) {
      ground.tensors().giveBack(naive.forward(ground.x(), true));
    }
    eager.work();
  }

  @Override
  public MemorySegment pass() {
    return ground.subject().pass() == Pass.FORWARD
        ? naive.forward(ground.x(), false)
        : naive.backward(ground.dy());
  }

  /** What has been done since this was asked before. */
  Work work() {
    return eager.work();
  }

  @Override
  public float[] gainGradient() {
    return naive.gainGradient();
  }
}
