package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaMemory;
import io.github.rmsnorm4j.cuda.CudaStream;
import io.github.rmsnorm4j.cuda.eager.TensorOperations;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.LongSupplier;

/** Tensors in the memory of a GPU. All work is on one stream. */
final class GpuGround implements Ground<CudaMemory> {
  private final CudaDevice device;
  private final Subject subject;
  private final Data data;
  private final Arena arena = Arena.ofConfined();
  private final CudaStream stream;
  private final TensorOperations kernels;
  private final EventClock clock;
  private final GpuTensors tensors;
  private final GpuTensors numbers;
  private final GpuTensors columns;
  private final GpuTensors tables;
  private final CudaMemory x;
  private final CudaMemory dy;

  GpuGround(CudaDevice device, Subject subject) {
    this.device = device;
    this.subject = subject;
    data = new Data(subject.type(), subject.shape());
    int rows = subject.shape().rows();
    int width = subject.shape().width();
    stream = device.stream();
    kernels = new TensorOperations(device, stream, subject.type(), rows, width);
    clock = new EventClock(device, stream);
    tensors = new GpuTensors(device, arena, subject.tensorBytes());
    numbers = new GpuTensors(device, arena, (long) rows * Double.BYTES);
    columns = new GpuTensors(device, arena, (long) width * Float.BYTES);
    tables = new GpuTensors(device, arena, kernels.tableBytes());
    x = filled(Data.X);
    dy = subject.pass() == Pass.BACKWARD ? filled(Data.DY) : null;
  }

  /** Rows of one period from the host, then copies of them. */
  private CudaMemory filled(int seed) {
    CudaMemory tensor = tensors.take();
    long bytes = subject.tensorBytes();
    long done = bytes / subject.shape().rows() * data.period;
    try (Arena ofHost = Arena.ofConfined()) {
      MemorySegment period = ofHost.allocate(done, Float.BYTES);
      tensor.copyFrom(data.fill(period, seed));
    }
    while (done < bytes) {
      long n = Math.min(done, bytes - done);
      tensor.asSlice(done, n).copyFrom(tensor.asSlice(0, n), stream);
      done += n;
    }
    return tensor;
  }

  @Override
  public Subject subject() {
    return subject;
  }

  @Override
  public GpuTensors tensors() {
    return tensors;
  }

  /** Numbers of rows. */
  GpuTensors numbers() {
    return numbers;
  }

  /** Numbers of columns. */
  GpuTensors columns() {
    return columns;
  }

  /** Memory in which sums of columns are made. */
  GpuTensors tables() {
    return tables;
  }

  @Override
  public CudaMemory x() {
    return x;
  }

  @Override
  public CudaMemory dy() {
    return dy;
  }

  CudaDevice device() {
    return device;
  }

  CudaStream stream() {
    return stream;
  }

  Arena arena() {
    return arena;
  }

  @Override
  public Contestant<CudaMemory> contestant(Variant variant) {
    return variant.isFused()
        ? new GpuFusedContestant(variant, this)
        : new NaiveContestant<>(variant, this, new GpuEager(this, kernels));
  }

  @Override
  public void copy(CudaMemory to) {
    to.copyFrom(x, stream);
  }

  @Override
  public double[] read(CudaMemory tensor, int row) {
    try (Arena ofHost = Arena.ofConfined()) {
      MemorySegment one = ofHost.allocate(rowBytes(), Float.BYTES);
      row(tensor, row).copyTo(one);
      return data.read(one, 0);
    }
  }

  @Override
  public void write(CudaMemory tensor, int row, double[] values) {
    try (Arena ofHost = Arena.ofConfined()) {
      MemorySegment one = ofHost.allocate(rowBytes(), Float.BYTES);
      data.write(one, 0, values);
      row(tensor, row).copyFrom(one);
    }
  }

  float[] floats(CudaMemory memory) {
    float[] values = new float[Math.toIntExact(memory.byteSize() / Float.BYTES)];
    memory.copyTo(MemorySegment.ofArray(values));
    return values;
  }

  private CudaMemory row(CudaMemory tensor, int row) {
    return tensor.asSlice(row * rowBytes(), rowBytes());
  }

  private long rowBytes() {
    return subject.tensorBytes() / subject.shape().rows();
  }

  /** The first call loads the kernels. */
  @Override
  public void rehearse(Runnable work) {
    work.run();
    stream.synchronize();
  }

  @Override
  public LongSupplier clock() {
    return clock;
  }

  /** Bytes that were held at once at most: tensors, numbers of rows and columns, sums. */
  long peakBytes() {
    return List.of(tensors, numbers, columns, tables).stream()
        .mapToLong(GpuTensors::peakBytes)
        .sum();
  }

  @Override
  public void close() {
    clock.close();
    arena.close();
    kernels.close();
    stream.close();
  }
}
