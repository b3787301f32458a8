package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.Backend;
import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;

/**
 * Tensors in the memory of this process.
 *
 * @param subject what on
 * @param crew the threads
 * @param backend the kernels of the fused norms
 * @param tensors where others of the same size come from
 * @param x the input
 * @param dy the gradient of the output; null in a forward pass
 */
record CpuGround(
    Subject subject, Crew crew, Backend backend, Tensors tensors, MemorySegment x, MemorySegment dy)
    implements Ground<MemorySegment> {
  /** With tensors that are filled with the subject's numbers. */
  static CpuGround of(Subject subject, Crew crew, Backend backend) {
    Tensors tensors = new Tensors(subject.tensorBytes());
    boolean backward = subject.pass() == Pass.BACKWARD;
    Data data = new Data(subject.type(), subject.shape());
    return new CpuGround(
        subject,
        crew,
        backend,
        tensors,
        data.fill(tensors.take(), Data.X),
        backward ? data.fill(tensors.take(), Data.DY) : null);
  }

  @Override
  public Contestant<MemorySegment> contestant(Variant variant) {
    return variant.isFused()
        ? new FusedContestant(variant, this)
        : new NaiveContestant<>(variant, this, new Eager(subject, crew, tensors));
  }

  /** Row by row and on as many threads, as the norms go. */
  @Override
  public void copy(MemorySegment to) {
    long row = subject.tensorBytes() / subject.shape().rows();
    crew.run(
        subject.shape().rows(),
        2 * subject.tensorBytes(),
        (from, end) -> MemorySegment.copy(x, from * row, to, from * row, (end - from) * row));
  }

  @Override
  public double[] read(MemorySegment tensor, int row) {
    return new Data(subject.type(), subject.shape()).read(tensor, row);
  }

  @Override
  public void write(MemorySegment tensor, int row, double[] values) {
    new Data(subject.type(), subject.shape()).write(tensor, row, values);
  }

  @Override
  public void rehearse(Runnable work) {
    CompilerRest.after(work);
  }

  @Override
  public LongSupplier clock() {
    return System::nanoTime;
  }

  @Override
  public void close() {
    tensors.close();
  }
}
