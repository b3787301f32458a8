package io.github.rmsnorm4j.cli.compare;

import io.github.rmsnorm4j.Backend;
import java.lang.foreign.MemorySegment;

/**
 * What variants run on: the tensors of a subject, and threads.
 *
 * @param subject what on
 * @param crew the threads
 * @param backend the kernels of the fused norms
 * @param tensors where others of the same size come from
 * @param x the input
 * @param dy the gradient of the output; null in a forward pass
 */
record Ground(
    Subject subject, Crew crew, Backend backend, Tensors tensors, MemorySegment x, MemorySegment dy)
    implements AutoCloseable {
  /** With tensors that are filled with the subject's numbers. */
  static Ground of(Subject subject, Crew crew, Backend backend) {
    Tensors tensors = new Tensors(subject.tensorBytes());
    boolean backward = subject.pass() == Pass.BACKWARD;
    Data data = new Data(subject.type(), subject.shape());
    return new Ground(
        subject,
        crew,
        backend,
        tensors,
        data.fill(tensors.take(), Data.X),
        backward ? data.fill(tensors.take(), Data.DY) : null);
  }

  Contestant contestant(Variant variant) {
    return variant.isFused()
        ? new FusedContestant(variant, this)
        : new NaiveContestant(variant, this);
  }

  @Override
  public void close() {
    tensors.close();
  }
}
