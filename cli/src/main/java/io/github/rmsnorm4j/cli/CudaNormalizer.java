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
  private final List<Lane> lanes;

  /** Owns the device from now on. */
  CudaNormalizer(CudaDevice device) {
    this.device = device;
    try {
      lanes = List.of(new Lane(), new Lane());
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
  public Pieces pieces(Norm norm, PieceShape shape, long rows, boolean sums) {
    CudaNorm onDevice = byWidth.get(norm.width());
    long count = Math.min(shape.rowsIn(PIECE, rows), fitting(shape));
    List<OfDevice> pieces =
        lanes.stream().map(lane -> new OfDevice(onDevice, shape, lane, count, sums)).toList();
    return new Pieces(pieces, count);
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
    long held = lanes.stream().mapToLong(Lane::bytesOfDevice).sum();
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
      lanes.forEach(Lane::close);
      arena.close();
    } finally {
      device.close();
    }
  }

  /** A stream, and the memory that its work is on. */
  private final class Lane implements AutoCloseable {
    final CudaStream stream = device.stream();
    final Buffer<MemorySegment> hostX = pinned();
    final Buffer<MemorySegment> hostBeside = pinned();
    final Buffer<MemorySegment> hostResult = pinned();
    final Buffer<CudaMemory> x = onDevice();
    final Buffer<CudaMemory> beside = onDevice();
    final Buffer<CudaMemory> result = onDevice();

    private Buffer<MemorySegment> pinned() {
      return new Buffer<>(Arena::ofConfined, device::allocatePinned);
    }

    private Buffer<CudaMemory> onDevice() {
      return new Buffer<>(Arena::ofConfined, device::allocate);
    }

    long bytesOfDevice() {
      return x.bytes() + beside.bytes() + result.bytes();
    }

    @Override
    public void close() {
      List.of(hostX, hostBeside, hostResult, x, beside, result).forEach(Buffer::close);
      stream.close();
    }
  }

  private static final class OfDevice extends Piece {
    private final CudaNorm norm;
    private final CudaStream stream;
    private final CudaMemory x;
    private final CudaMemory beside;
    private final CudaMemory result;
    private final boolean sums;

    /** All rows that fit; null where they are not quantised. Work of a norm may stay with it. */
    private final CudaQuantizedRows quantized;

    private final long rows;

    /** Null after the first rows were compared. */
    private FirstRows first;

    private boolean isCompared;

    OfDevice(CudaNorm norm, PieceShape shape, Lane lane, long rows, boolean sums) {
      MemorySegment hostX = lane.hostX.atLeast(rows * shape.xRow());
      super(
          shape,
          hostX,
          lane.hostBeside.atLeast(rows * shape.besideRow()),
          shape.isInPlace() ? hostX : lane.hostResult.atLeast(rows * shape.resultRow()));
      this.norm = norm.on(lane.stream);
      this.stream = lane.stream;
      this.x = lane.x.atLeast(rows * shape.xRow());
      this.beside = lane.beside.atLeast(rows * shape.besideRow());
      this.result = shape.isInPlace() ? x : lane.result.atLeast(rows * shape.resultRow());
      this.sums = sums;
      this.rows = rows;
      this.quantized = shape.codes() == null ? null : quantized(rows);
    }

    @Override
    void start() {
      if (!isCompared) {
        first = new FirstRows(norm.norm(), this, sums);
        isCompared = true;
      }
      CudaRows in = sent(x(), x, shape().x());
      CudaRows other = shape().beside() == null ? null : sent(beside(), beside, shape().beside());
      if (shape().codes() == null) {
        apply(in, other, rows(result, shape().y()));
      } else {
        quantize(in, other, count() == rows ? quantized : quantized(count()));
      }
      if (sums) {
        other.memory().copyTo(beside(), stream);
      }
      result.asSlice(0, count() * shape().resultRow()).copyTo(result(), stream);
    }

    private void apply(CudaRows in, CudaRows other, CudaRows y) {
      if (other == null) {
        norm.apply(in, y);
      } else if (norm.norm().spec().gate() != Gate.NONE) {
        norm.applyGated(in, other, y);
      } else {
        norm.addAndApply(in, other, y);
      }
    }

    private void quantize(CudaRows in, CudaRows other, CudaQuantizedRows q) {
      if (other == null) {
        norm.apply(in, null, q);
      } else if (norm.norm().spec().gate() != Gate.NONE) {
        norm.applyGated(in, other, null, q);
      } else {
        norm.addAndApply(in, other, null, q);
      }
    }

    /** Scales and codes are where the host has them. */
    private CudaQuantizedRows quantized(long count) {
      CudaMemory scales = result.asSlice(0, count * shape().scaleRow());
      CudaMemory codes = result.asSlice(scales.byteSize(), count * shape().codeRow());
      return CudaQuantizedRows.of(codes, scales, shape().codes(), count, shape().width());
    }

    private CudaRows sent(MemorySegment host, CudaMemory memory, ElementType type) {
      CudaRows rows = rows(memory, type);
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
  }
}
