package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Quantizer;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaMemory;
import io.github.rmsnorm4j.cuda.CudaNorm;
import io.github.rmsnorm4j.cuda.CudaQuantizedRows;
import io.github.rmsnorm4j.cuda.CudaRows;
import io.github.rmsnorm4j.cuda.CudaStream;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A forward call that writes codes and scales.
 *
 * @param call its norm, types, shape and memory
 * @param type of the codes
 * @param rule how they are made
 * @param withOutput whether y is written, too
 */
record QuantizedCall(NormCall call, QuantizedType type, Quantizer rule, boolean withOutput) {
  private static final float GIVEN = 0.037f;

  /** All memory of the call. */
  private final class Memory {
    final CallRows rows = new CallRows(call);
    final GuardedRows codes;
    final GuardedRows scales;

    Memory() {
      boolean apart = call.has(Trait.APART);
      codes = rows.put("codes", GuardedRows.ofBytes(call.rows(), call.width(), apart));
      int count = type.scales(call.width());
      scales =
          count == 0
              ? null
              : rows.put("scales", GuardedRows.of(ElementType.FLOAT32, call.rows(), count, apart));
    }

    QuantizedRows onCpu() {
      MemorySegment bytes = codes.segment();
      return scales == null
          ? QuantizedRows.of(bytes, codes.stride(), GIVEN, type, call.rows(), call.width())
          : QuantizedRows.of(
              bytes,
              codes.stride(),
              scales.segment(),
              scales.stride(),
              type,
              call.rows(),
              call.width());
    }

    CudaQuantizedRows onDevice(CudaMemory codesThere, CudaMemory scalesThere) {
      CudaMemory bytes = codesThere.asSlice(codes.offset());
      return scales == null
          ? CudaQuantizedRows.of(bytes, codes.stride(), GIVEN, type, call.rows(), call.width())
          : CudaQuantizedRows.of(
              bytes,
              codes.stride(),
              scalesThere.asSlice(scales.offset()),
              scales.stride(),
              type,
              call.rows(),
              call.width());
    }
  }

  private Norm norm(Backend backend) {
    double[] gain = new double[call.width()];
    SplittableRandom random = call.random();
    Arrays.setAll(gain, _ -> (float) random.nextDouble(0.5, 2));
    NormBuilder<?> builder = call.spec().builder(call.width()).gain(gain).threads(1);
    return builder.backend(backend).quantizer(rule).build();
  }

  /** All memory of the call as it is after the call on the CPU. */
  CallRows onCpu(Backend backend) {
    Norm norm = norm(backend);
    Memory memory = new Memory();
    CallRows rows = memory.rows;
    QuantizedRows q = memory.onCpu();
    Rows x = rows.x.onCpu();
    if (rows.residual != null) {
      norm.addAndApply(x, rows.residual.onCpu(), null, q);
    } else if (rows.z != null) {
      norm.applyGated(x, rows.z.onCpu(), null, q);
    } else if (withOutput) {
      norm.apply(x, rows.y.onCpu(), q);
    } else {
      norm.apply(x, null, q);
    }
    return rows;
  }

  /** All memory of the call as it is after the call on a device. */
  CallRows onDevice(CudaDevice device, CudaStream stream) {
    Memory memory = new Memory();
    CallRows rows = memory.rows;
    try (DeviceRows there = new DeviceRows(device)) {
      CudaNorm norm = device.norm(norm(Backend.scalar()), there.arena()).on(stream);
      CudaQuantizedRows q =
          memory.onDevice(there.memory(memory.codes), there.memory(memory.scales));
      CudaRows x = there.rows(rows.x);
      if (rows.residual != null) {
        norm.addAndApply(x, there.rows(rows.residual), null, q);
      } else if (rows.z != null) {
        norm.applyGated(x, there.rows(rows.z), null, q);
      } else if (withOutput) {
        norm.apply(x, there.rows(rows.y), q);
      } else {
        norm.apply(x, null, q);
      }
      stream.synchronize();
      there.takeBack();
    }
    return rows;
  }

  /** For example {@code llama, bfloat16, 3 x 96, apart, to int8:32 by vllm}. */
  @Override
  public String toString() {
    return "%s, to %s by %s%s".formatted(call, type, rule, withOutput ? ", with y" : "");
  }
}
