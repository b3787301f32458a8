package io.github.rmsnorm4j.cli.compare;

import java.lang.foreign.MemorySegment;

/** Operation by operation. */
final class NaiveContestant implements Contestant {
  private final Subject subject;
  private final Tensors tensors;
  private final MemorySegment x;
  private final MemorySegment dy;
  private final Eager eager;
  private final Naive naive;

  NaiveContestant(
      Variant variant,
      Subject subject,
      Crew crew,
      Tensors tensors,
      MemorySegment x,
      MemorySegment dy) {
    this.subject = subject;
    this.tensors = tensors;
    this.x = x;
    this.dy = dy;
    Data data = new Data(subject.type(), subject.shape());
    eager = new Eager(subject, crew, tensors);
    naive = new Naive(eager, variant, data.parameters(Data.GAIN), data.parameters(Data.BIAS));
  }

  @Override
  public void prepare() {
    if (subject.pass() == Pass.BACKWARD) {
      tensors.giveBack(naive.forward(x, true));
    }
    eager.work();
  }

  @Override
  public MemorySegment pass() {
    return subject.pass() == Pass.FORWARD ? naive.forward(x, false) : naive.backward(dy);
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
