package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.device.RowChecks;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;

/** The checks of a norm's own calls, for back ends in other modules. */
record NormRowChecks(Norm norm) implements RowChecks {
  @Override
  public void forward(Rows x, Rows residual, Rows z, Rows y, Keep keep) {
    Gate gate = norm.spec().gate();
    if (z == null) {
      NormArguments.requireNoGate(gate, "applyGated");
      norm.check(x, residual, null, null, y, null, null);
    } else {
      norm.checkGated(x, z, null, null, y);
    }
    if (keep != null && z != null) {
      Norm.requireKeptOfGate(keep, z, y);
    }
    if (keep != null) {
      norm.requireKept(keep, x, residual, null, y, z == null);
    }
  }

  @Override
  public CodeMemory quantized(Rows x, Rows residual, Rows z, Rows y, QuantizedRows q) {
    norm.checkQuantized(x, residual, z, y, q);
    return q.memory();
  }

  @Override
  public void backward(Rows dy, Rows kept, Rows z, Rows dresidual, Rows dx, Rows dz) {
    Gate gate = norm.spec().gate();
    if (dz == null) {
      NormArguments.requireNoGate(gate, "backwardGated");
    } else {
      NormArguments.requireGate(gate);
      BackwardArguments.checkBackwardOfGate(norm.width(), dy, kept, z, dx, dz);
    }
    BackwardArguments.checkBackward(norm.width(), dy, kept, dresidual, dx);
  }

  @Override
  public void gradients(int gain, int bias) {
    int parameters = norm.parameterLength(null, null);
    BackwardArguments.checkLengths(gain, bias, parameters, norm.width(), norm.groupWidth);
  }

  @Override
  public boolean overlap(Rows x, Rows y) {
    return Overlap.any(x, y);
  }
}
