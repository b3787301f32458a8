package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.cuda.CudaGradients;
import io.github.rmsnorm4j.cuda.CudaMemory;
import io.github.rmsnorm4j.cuda.CudaNorm;
import io.github.rmsnorm4j.cuda.CudaRows;
import io.github.rmsnorm4j.cuda.CudaSaved;

/** This library's norm on a GPU. */
final class GpuFusedContestant implements Contestant<CudaMemory> {
  private final GpuGround ground;
  private final Shape shape;
  private final CudaNorm norm;

  // Of a backward pass; null in a forward one.
  private final CudaSaved saved;
  private final CudaRows dgain;
  private final CudaRows dbias;

  GpuFusedContestant(Variant variant, GpuGround ground) {
    this.ground = ground;
    Subject subject = ground.subject();
    shape = subject.shape();
    Data data = new Data(subject.type(), shape);
    float[] bias = data.parameters(Data.BIAS);
    norm =
        ground
            .device()
            .norm(
                variant.norm(data.parameters(Data.GAIN), bias, 1, Backend.scalar()), ground.arena())
            .on(ground.stream());
    boolean backward = subject.pass() == Pass.BACKWARD;
    saved = backward ? norm.saved(Keep.INPUT, shape.rows(), ground.arena()) : null;
    dgain = backward ? gradient() : null;
    dbias = backward && !variant.isRms() ? gradient() : null;
  }

  private CudaRows gradient() {
    return CudaRows.of(ground.columns().take(), ElementType.FLOAT32, 1, shape.width());
  }

  @Override
  public void prepare() {
    if (saved != null) {
      CudaMemory y = ground.tensors().take();
      norm.apply(rows(ground.x()), rows(y), saved);
      ground.tensors().giveBack(y);
    }
  }

  @Override
  public CudaMemory pass() {
    CudaMemory out = ground.tensors().take();
    if (saved == null) {
      norm.apply(rows(ground.x()), rows(out));
    } else {
      norm.backward(rows(ground.dy()), saved, rows(out), CudaGradients.assigned(dgain, dbias));
    }
    return out;
  }

  private CudaRows rows(CudaMemory tensor) {
    return CudaRows.of(tensor, ground.subject().type(), shape.rows(), shape.width());
  }

  @Override
  public float[] gainGradient() {
    return ground.floats(dgain.memory());
  }
}
