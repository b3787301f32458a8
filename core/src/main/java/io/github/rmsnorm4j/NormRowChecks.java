package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.device.CallParameters;
import io.github.rmsnorm4j.internal.device.RowChecks;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import org.jspecify.annotations.Nullable;

/** The checks of a norm's own calls, for back ends in other modules. */
record NormRowChecks(Norm norm) implements RowChecks {
  @Override
  public void parameters(CallParameters of) {
    NormArguments.checkShape(of.gain(), norm.width(), norm.groupWidth, "gain");
    NormArguments.checkShape(of.bias(), norm.width(), norm.groupWidth, "bias");
    norm.spec().requireFormula(of.bias() != null);
    norm.parameterLength(of.gain(), of.bias());
  }

  @Override
  public void forward(
      Rows x,
      @Nullable Rows residual,
      @Nullable Rows z,
      CallParameters parameters,
      Rows y,
      @Nullable Keep keep) {
    if (z == null) {
      NormArguments.requireNoGate(norm.spec().gate(), residual);
      norm.check(x, residual, parameters.gain(), parameters.bias(), y, null, null);
    } else {
      norm.checkGated(x, z, parameters.gain(), parameters.bias(), y);
      if (keep != null) {
        Norm.requireKeptOfGate(keep, z, y);
      }
    }
    requireKept(x, residual, parameters, y, keep, z == null);
  }

  private void requireKept(
      Rows x,
      @Nullable Rows residual,
      CallParameters parameters,
      Rows y,
      @Nullable Keep keep,
      boolean either) {
    if (keep == null) {
      return;
    }
    norm.requireKept(keep, x, residual, y, either);
    if (keep == Keep.OUTPUT && parameters.gain() == null) {
      norm.requireNoZeros(null, x.type() == ElementType.FLOAT64);
    }
  }

  @Override
  public void forwardPair(
      Rows x,
      CallParameters parameters,
      Rows residual,
      RowChecks next,
      CallParameters parametersOfNext,
      Rows y,
      @Nullable Keep keep,
      @Nullable Keep keepOfNext) {
    NormPair.requireFit(norm, ((NormRowChecks) next).norm);
    if (keep != null) {
      NormPair.requireKept(keep);
    }
    NormArguments.requireNonNull(residual, "residual");
    norm.check(x, null, parameters.gain(), parameters.bias(), y, null, null);
    requireKept(x, null, parameters, y, keep, false);
    NormArguments.requireApart(residual, parameters.gain(), parameters.bias());
    next.forward(x, residual, null, parametersOfNext, y, keepOfNext);
  }

  @Override
  public CodeMemory quantized(
      Rows x,
      @Nullable Rows residual,
      @Nullable Rows z,
      CallParameters parameters,
      @Nullable Rows y,
      QuantizedRows q) {
    norm.checkQuantized(x, residual, z, y, q);
    requireParameter(parameters.gain(), "gain", x, y, q);
    requireParameter(parameters.bias(), "bias", x, y, q);
    NormArguments.requireApart(residual, parameters.gain(), parameters.bias());
    return q.memory();
  }

  private void requireParameter(
      @Nullable Rows parameter, String name, Rows x, @Nullable Rows y, QuantizedRows q) {
    NormArguments.checkParameter(parameter, norm.width(), norm.groupWidth, x, y, name);
    QuantizedArguments.requireApart(parameter, q, name);
  }

  @Override
  public void backward(
      Rows dy,
      Rows kept,
      @Nullable Rows z,
      @Nullable Rows dresidual,
      CallParameters parameters,
      Rows dx,
      @Nullable Rows dz) {
    Gate gate = norm.spec().gate();
    if (dz == null) {
      NormArguments.requireNoGate(gate, "backwardGated");
    } else {
      NormArguments.requireGate(gate);
      Rows gated = NormArguments.requireNonNull(z, "z");
      BackwardArguments.checkBackwardOfGate(norm.width(), dy, kept, gated, dx, dz);
    }
    BackwardArguments.checkBackward(norm.width(), dy, kept, dresidual, dx);
    requireStays(parameters, dx, "dx");
    if (dz != null) {
      requireStays(parameters, dz, "dz");
    }
  }

  private static void requireStays(CallParameters parameters, Rows written, String name) {
    requireAccess(parameters.gain(), "gain");
    requireAccess(parameters.bias(), "bias");
    BackwardArguments.requireStays(parameters.gain(), parameters.bias(), written, name);
  }

  private static void requireAccess(@Nullable Rows parameter, String name) {
    if (parameter != null) {
      NormArguments.requireAccess(parameter, name);
    }
  }

  @Override
  public void gradients(CallParameters parameters, int gain, int bias) {
    int length = norm.parameterLength(parameters.gain(), parameters.bias());
    BackwardArguments.checkLengths(gain, bias, length, norm.width(), norm.groupWidth);
  }

  @Override
  public boolean overlap(Rows x, Rows y) {
    return Overlap.any(x, y);
  }
}
