package io.github.rmsnorm4j.cli.compare;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import java.lang.foreign.MemorySegment;

/** This library's norm. */
final class FusedContestant implements Contestant {
  private final Subject subject;
  private final Tensors tensors;
  private final MemorySegment x;
  private final MemorySegment dy;
  private final Norm norm;
  private final Saved saved;
  private final float[] dgain;
  private final ParameterGradients gradients;

  FusedContestant(
      Variant variant,
      Subject subject,
      int threads,
      Backend backend,
      Tensors tensors,
      MemorySegment x,
      MemorySegment dy) {
    this.subject = subject;
    this.tensors = tensors;
    this.x = x;
    this.dy = dy;
    Data data = new Data(subject.type(), subject.shape());
    float[] bias = data.parameters(Data.BIAS);
    norm = variant.norm(data.parameters(Data.GAIN), bias, threads, backend);
    saved = new Saved(Keep.INPUT, subject.shape().rows());
    dgain = new float[bias.length];
    gradients = ParameterGradients.assigned(dgain, variant.isRms() ? null : new float[bias.length]);
  }

  @Override
  public void prepare() {
    if (subject.pass() == Pass.BACKWARD) {
      MemorySegment y = tensors.take();
      norm.apply(rows(x), rows(y), saved);
      tensors.giveBack(y);
    }
  }

  @Override
  public MemorySegment pass() {
    MemorySegment out = tensors.take();
    if (subject.pass() == Pass.FORWARD) {
      norm.apply(rows(x), rows(out));
    } else {
      norm.backward(rows(dy), saved, rows(out), gradients);
    }
    return out;
  }

  private Rows rows(MemorySegment tensor) {
    return Rows.of(tensor, subject.type(), subject.shape().rows(), subject.shape().width());
  }

  @Override
  public float[] gainGradient() {
    return dgain;
  }
}
