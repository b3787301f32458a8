package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaGradients;
import io.github.rmsnorm4j.cuda.CudaNorm;
import io.github.rmsnorm4j.cuda.CudaRows;
import io.github.rmsnorm4j.cuda.CudaSaved;
import io.github.rmsnorm4j.cuda.CudaStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Makes a call on a device, with a copy of all its memory there. */
final class DeviceCall {
  private final CudaDevice device;
  private final CudaStream stream;
  private final NormCall call;
  private final DeviceRows copies;
  private final Arena arena;

  private DeviceCall(CudaDevice device, CudaStream stream, NormCall call, DeviceRows copies) {
    this.device = device;
    this.stream = stream;
    this.call = call;
    this.copies = copies;
    this.arena = copies.arena();
  }

  /** All memory of the call as it is after the call, the guards included. */
  static CallRows run(CudaDevice device, CudaStream stream, NormCall call) {
    CallRows rows = new CallRows(call);
    try (DeviceRows copies = new DeviceRows(device)) {
      new DeviceCall(device, stream, call, copies).run(rows);
    }
    return rows;
  }

  private void run(CallRows rows) {
    CudaNorm made = device.norm(call.norm(Backend.scalar()), arena).on(stream);
    CudaNorm norm =
        call.hasOwnParameters() ? made.withParameters(copy(rows.gain), copy(rows.bias)) : made;
    CudaSaved saved = call.keeps() ? norm.saved(call.keep(), call.rows(), arena) : null;
    forward(norm, rows, saved);
    if (call.has(Trait.BACKWARD)) {
      backward(norm, rows, saved);
    }
    stream.synchronize();
    copies.takeBack();
    if (saved != null) {
      put(saved.rstd(), rows.rstd);
      put(saved.mean(), rows.mean);
    }
  }

  private void forward(CudaNorm norm, CallRows rows, CudaSaved saved) {
    CudaRows x = copy(rows.x);
    CudaRows y = copy(rows.y);
    if (call.has(Trait.PAIR)) {
      norm.applyAndAdd(x, copy(rows.residual), norm, y);
    } else if (rows.z != null && saved != null) {
      norm.applyGated(x, copy(rows.z), y, saved);
    } else if (rows.z != null) {
      norm.applyGated(x, copy(rows.z), y);
    } else if (rows.residual != null && saved != null) {
      norm.addAndApply(x, copy(rows.residual), y, saved);
    } else if (rows.residual != null) {
      norm.addAndApply(x, copy(rows.residual), y);
    } else if (saved != null) {
      norm.apply(x, y, saved);
    } else {
      norm.apply(x, y);
    }
  }

  private void backward(CudaNorm norm, CallRows rows, CudaSaved saved) {
    CudaRows dy = copy(rows.dy);
    CudaRows dx = copy(rows.dx);
    CudaGradients gradients = CudaGradients.assigned(copy(rows.dgain), copy(rows.dbias));
    if (rows.dz != null) {
      norm.backwardGated(dy, saved, dx, copy(rows.dz), gradients);
    } else if (rows.dresidual != null) {
      norm.backward(dy, saved, copy(rows.dresidual), dx, gradients);
    } else {
      norm.backward(dy, saved, dx, gradients);
    }
  }

  private CudaRows copy(GuardedRows rows) {
    return copies.rows(rows);
  }

  /** Mean and rstd are in memory of the library, without guards. */
  private static void put(CudaRows numbers, GuardedRows into) {
    if (into != null) {
      byte[] bytes = new byte[Math.toIntExact(numbers.memory().byteSize())];
      numbers.memory().copyTo(MemorySegment.ofArray(bytes));
      System.arraycopy(bytes, 0, into.bytes(), into.offset(), bytes.length);
    }
  }
}
