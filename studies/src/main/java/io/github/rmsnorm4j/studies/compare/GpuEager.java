package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.CudaMemory;
import io.github.rmsnorm4j.cuda.eager.TensorOperations;
import java.lang.foreign.MemorySegment;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** Operations on a GPU, each a kernel. */
final class GpuEager implements Operations<CudaMemory, CudaMemory> {
  private final GpuGround ground;
  private final TensorOperations kernels;
  private final ElementType type;
  private final WorkCount count = new WorkCount();

  GpuEager(GpuGround ground, TensorOperations kernels) {
    this.ground = ground;
    this.kernels = kernels;
    type = ground.subject().type();
  }

  @Override
  public CudaMemory columns(float[] values) {
    CudaMemory columns = ground.columns().take();
    columns.copyFrom(MemorySegment.ofArray(values));
    return columns;
  }

  @Override
  public float[] values(CudaMemory columns) {
    float[] values = ground.floats(columns);
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) type.round(values[i]);
    }
    return values;
  }

  @Override
  public CudaMemory square(CudaMemory a) {
    return tensor(2, y -> kernels.square(a, y));
  }

  @Override
  public CudaMemory multiply(CudaMemory a, CudaMemory b) {
    return tensor(3, y -> kernels.multiply(a, b, y));
  }

  @Override
  public CudaMemory add(CudaMemory a, CudaMemory b) {
    return tensor(3, y -> kernels.add(a, b, y));
  }

  @Override
  public CudaMemory scale(CudaMemory a, CudaMemory by) {
    return tensor(2, y -> kernels.scale(a, by, y));
  }

  @Override
  public CudaMemory subtract(CudaMemory a, CudaMemory of) {
    return tensor(2, y -> kernels.subtract(a, of, y));
  }

  @Override
  public CudaMemory scaleColumns(CudaMemory a, CudaMemory by) {
    return tensor(2, y -> kernels.scaleColumns(a, by, y));
  }

  @Override
  public CudaMemory shiftColumns(CudaMemory a, CudaMemory by) {
    return tensor(2, y -> kernels.shiftColumns(a, by, y));
  }

  @Override
  public CudaMemory rowSums(CudaMemory a) {
    return numbers(a, kernels::rowSums);
  }

  @Override
  public CudaMemory rowMeans(CudaMemory a) {
    return numbers(a, kernels::rowMeans);
  }

  @Override
  public CudaMemory columnSums(CudaMemory a) {
    count.add(1);
    CudaMemory sums = ground.columns().take();
    CudaMemory table = ground.tables().take();
    kernels.columnSums(a, table, sums);
    ground.tables().giveBack(table);
    return sums;
  }

  @Override
  public CudaMemory rstd(CudaMemory variances, double epsilon) {
    kernels.rstd(variances, epsilon);
    return variances;
  }

  @Override
  public CudaMemory throughRoot(CudaMemory gradients, CudaMemory rstd) {
    kernels.throughRoot(gradients, rstd);
    return gradients;
  }

  private CudaMemory tensor(int moved, Consumer<CudaMemory> operation) {
    count.add(moved);
    CudaMemory y = ground.tensors().take();
    operation.accept(y);
    return y;
  }

  private CudaMemory numbers(CudaMemory a, BiConsumer<CudaMemory, CudaMemory> operation) {
    count.add(1);
    CudaMemory numbers = ground.numbers().take();
    operation.accept(a, numbers);
    return numbers;
  }

  @Override
  public void free(CudaMemory tensor) {
    ground.tensors().giveBack(tensor);
  }

  @Override
  public void forgetRows(CudaMemory numbers) {
    ground.numbers().giveBack(numbers);
  }

  @Override
  public void forgetColumns(CudaMemory numbers) {
    ground.columns().giveBack(numbers);
  }

  @Override
  public Work work() {
    return count.take();
  }
}
