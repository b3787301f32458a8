package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaMemory;
import io.github.rmsnorm4j.cuda.CudaNorm;
import io.github.rmsnorm4j.cuda.CudaQuantizedRows;
import io.github.rmsnorm4j.cuda.CudaRows;
import io.github.rmsnorm4j.cuda.CudaStream;
import io.github.rmsnorm4j.formats.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Rows are normalised on a GPU. While it copies and normalises one piece, the rows of the next one
 * are read, and those of the one before are written. So there are two pieces, each with pinned
 * memory of the host, memory of the device and a stream of its own.
 */
final class CudaNormalizer implements Normalizer {
  private static final long PIECE = 16 << 20;

  private final CudaDevice device;
  private final Arena arena = Arena.ofConfined();
  private final Map<Integer, CudaNorm> byWidth = new HashMap<>();
  private final List<OfDevice> lanes;

  /** Owns the device from now on. */
  CudaNormalizer(CudaDevice device) {
    this.device = device;
    try {
      lanes = List.of(new OfDevice(), new OfDevice());
    } catch (RuntimeException | Error e) {
      device.close();
      throw e;
    }
  }

  @Override
  public Backend backend(List<Tensor> tensors) {
    return Backend.scalar(); // The norm only says what is wanted.
  }

  @Override
  public void add(Norm norm) {
    byWidth.put(norm.width(), device.norm(norm, arena));
  }

  @Override
  public List<OfDevice> pieces(Norm norm, PieceShape shape, long rows, boolean sums) {
    CudaNorm onDevice = byWidth.get(norm.width());
    long count = Math.min(shape.rowsIn(PIECE, rows), fitting(shape));
    lanes.forEach(lane -> lane.prepare(onDevice, shape, count, sums));
    return lanes;
  }

  /**
   * Rows of a piece for which there is memory. Half is left to kernels and other programs. A norm
   * may need the elements of which codes are made, in float32.
   */
  private long fitting(PieceShape shape) {
    long ofResult =
        shape.codes() == null
            ? shape.resultRow()
            : shape.resultRow() + (long) Float.BYTES * shape.width();
    long ofRow = shape.xRow() + shape.besideRow() + (shape.isInPlace() ? 0 : ofResult);
    long held = lanes.stream().mapToLong(OfDevice::bytesOfDevice).sum();
    return Math.max(1, (held + device.freeBytes() / 2) / (lanes.size() * ofRow));
  }

  @Override
  public String describe(Norm norm, List<Tensor> tensors) {
    return device.toString();
  }

  /** Its memory is freed when the work on it is done, also after a failure. */
  @Override
  public void close() {
    try {
      lanes.forEach(OfDevice::close);
      arena.close();
    } finally {
      device.close();
    }
  }

  private Buffer<CudaMemory> onDevice() {
    return new Buffer<>(Arena::ofConfined, device::allocate);
  }

  /** A stream, and the memory that its work is on. */
  final class OfDevice extends Piece {
    private final CudaStream stream = device.stream();
    private final Buffer<CudaMemory> x = onDevice();
    private final Buffer<CudaMemory> beside = onDevice();
    private final Buffer<CudaMemory> result = onDevice();
    private CudaNorm norm;
    private boolean sums;

    /** All rows that fit; null where they are not quantised. Work of a norm may stay with it. */
    private CudaQuantizedRows quantized;

    /** Null after the first rows were compared. */
    private FirstRows first;

    private boolean isCompared;

    private OfDevice() {
      super(() -> new Buffer<>(Arena::ofConfined, device::allocatePinned));
    }

    private void prepare(CudaNorm norm, PieceShape shape, long rows, boolean sums) {
      prepare(shape, rows);
      this.norm = norm.on(stream);
      this.sums = sums;
      x.atLeast(rows * shape.xRow());
      beside.atLeast(rows * shape.besideRow());
      result.atLeast(shape.isInPlace() ? 0 : rows * shape.resultRow());
      quantized = shape.codes() == null ? null : quantized(rows);
      isCompared = false;
    }

    private long bytesOfDevice() {
      return x.bytes() + beside.bytes() + result.bytes();
    }

    private CudaMemory resultOfDevice() {
      return (shape().isInPlace() ? x : result).memory();
    }

    @Override
    void start() {
      if (!isCompared) {
        first = new FirstRows(norm.norm(), this, sums);
        isCompared = true;
      }
      CudaRows in = sent(x(), x, shape().x());
      CudaRows other = shape().beside() == null ? null : sent(beside(), beside, shape().beside());
      boolean isGated = norm.norm().spec().gate() != Gate.NONE;
      if (shape().codes() == null) {
        CudaRows y = rows(resultOfDevice(), shape().y());
        if (other == null) {
          norm.apply(in, y);
        } else if (isGated) {
          norm.applyGated(in, other, y);
        } else {
          norm.addAndApply(in, other, y);
        }
      } else {
        CudaQuantizedRows q = count() == most() ? quantized : quantized(count());
        if (other == null) {
          norm.apply(in, null, q);
        } else if (isGated) {
          norm.applyGated(in, other, null, q);
        } else {
          norm.addAndApply(in, other, null, q);
        }
      }
      if (sums) {
        other.memory().copyTo(beside(), stream);
      }
      resultOfDevice().asSlice(0, count() * shape().resultRow()).copyTo(result(), stream);
    }

    /** Scales and codes are where the host has them. */
    private CudaQuantizedRows quantized(long count) {
      CudaMemory scales = resultOfDevice().asSlice(0, count * shape().scaleRow());
      CudaMemory codes = resultOfDevice().asSlice(scales.byteSize(), count * shape().codeRow());
      return CudaQuantizedRows.of(codes, scales, shape().codes(), count, shape().width());
    }

    private CudaRows sent(MemorySegment host, Buffer<CudaMemory> buffer, ElementType type) {
      CudaRows rows = rows(buffer.memory(), type);
      rows.memory().copyFrom(host.asSlice(0, rows.memory().byteSize()), stream);
      return rows;
    }

    private CudaRows rows(CudaMemory memory, ElementType type) {
      return CudaRows.of(memory, type, count(), shape().width());
    }

    @Override
    void finish() {
      stream.synchronize();
      if (first != null && !first.isBeginOf(this)) {
        throw new IllegalStateException(
            norm.device()
                + " gives other rows than the processor, so nothing is written; cuda/check says"
                + " more");
      }
      first = null;
    }

    @Override
    public void close() {
      super.close();
      List.of(x, beside, result).forEach(Buffer::close);
      stream.close();
    }
  }
}
