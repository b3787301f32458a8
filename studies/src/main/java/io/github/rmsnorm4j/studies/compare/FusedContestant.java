package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import java.lang.foreign.MemorySegment;

/** This library's norm on this processor. */
final class FusedContestant implements Contestant<MemorySegment> {
  private final CpuGround ground;
  private final Norm norm;
  private final Saved saved;
  private final float[] dgain;
  private final ParameterGradients gradients;

  FusedContestant(Variant variant, CpuGround ground) {
    this.ground = ground;
    Subject subject = ground.subject();
    Data data = new Data(subject.type(), subject.shape());
    float[] bias = data.parameters(Data.BIAS);
    norm = variant.norm(data.parameters(Data.GAIN), bias, ground.crew().threads, ground.backend());
    saved = new Saved(Keep.INPUT, subject.shape().rows());
    dgain = new float[bias.length];
    gradients = ParameterGradients.assigned(dgain, variant.isRms() ? null : new float[bias.length]);
  }

  @Override
  public void prepare() {
    if (ground.subject().pass() == Pass.BACKWARD) {
      MemorySegment y = ground.tensors().take();
      norm.apply(rows(ground.x()), rows(y), saved);
      ground.tensors().giveBack(y);
    }
  }

  @Override
  public MemorySegment pass() {
    MemorySegment out = ground.tensors().take();
    if (ground.subject().pass() == Pass.FORWARD) {
      norm.apply(rows(ground.x()), rows(out));
    } else {
      norm.backward(rows(ground.dy()), saved, rows(out), gradients);
    }
    return out;
  }

  private Rows rows(MemorySegment tensor) {
    Subject subject = ground.subject();
    return Rows.of(tensor, subject.type(), subject.shape().rows(), subject.shape().width());
  }

  @Override
  public float[] gainGradient() {
    return dgain;
  }
}
