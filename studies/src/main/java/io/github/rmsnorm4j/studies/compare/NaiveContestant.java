package io.github.rmsnorm4j.studies.compare;

import java.util.Optional;

/**
 * Operation by operation.
 *
 * @param <T> a tensor
 */
final class NaiveContestant<T> implements Contestant<T> {
  private final Ground<T> ground;
  private final Operations<T, ?> operations;
  private final Naive<T, ?> naive;

  <N> NaiveContestant(Variant variant, Ground<T> ground, Operations<T, N> operations) {
    this.ground = ground;
    this.operations = operations;
    Subject subject = ground.subject();
    Data data = new Data(subject.type(), subject.shape());
    naive =
        new Naive<>(operations, variant, data.parameters(Data.GAIN), data.parameters(Data.BIAS));
  }

  @Override
  public void prepare() {
    if (ground.subject().pass() == Pass.BACKWARD) {
      ground.tensors().giveBack(naive.forward(ground.x(), true));
    }
    operations.work();
  }

  @Override
  public T pass() {
    return ground.subject().pass() == Pass.FORWARD
        ? naive.forward(ground.x(), false)
        : naive.backward(ground.dy());
  }

  @Override
  public Optional<Work> work() {
    return Optional.of(operations.work());
  }

  @Override
  public float[] gainGradient() {
    return naive.gainGradient();
  }
}
