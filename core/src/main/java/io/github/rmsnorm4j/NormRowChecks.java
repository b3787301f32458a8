package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.device.CallParameters;
import io.github.rmsnorm4j.internal.device.RowChecks;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import org.jspecify.annotations.Nullable;

/** The checks of a norm's own calls, for back ends in other modules. */
record NormRowChecks(Norm norm) implements RowChecks {
  @Override
  public void parameters(CallParameters of) {
    ForwardArguments.checkShapes(norm, of.gain(), of.bias());
  }

  @Override
  public void forward(
      Rows x,
      @Nullable Rows residual,
      @Nullable Rows z,
      CallParameters parameters,
      Rows y,
      @Nullable Keep keep) {
    ForwardCall call = call(x, residual, z, parameters, y);
    if (z == null) {
      NormArguments.requireNoGate(norm.spec().gate(), residual);
      ForwardArguments.check(call);
    } else {
      ForwardArguments.checkGated(call);
      if (keep != null) {
        ForwardArguments.requireKeptOfGate(call, keep);
      }
    }
    requireKept(call, keep, z == null);
  }

  private ForwardCall call(
      Rows x,
      @Nullable Rows residual,
      @Nullable Rows z,
      CallParameters parameters,
      @Nullable Rows y) {
    ForwardCall call = new ForwardCall(norm, x, y).with(parameters.gain(), parameters.bias());
    call.residual = residual;
    call.z = z;
    return call;
  }

  private static void requireKept(ForwardCall call, @Nullable Keep keep, boolean either) {
    if (keep == null) {
      return;
    }
    ForwardArguments.requireKept(call, keep, either);
    if (keep == Keep.OUTPUT && call.gain == null) {
      ForwardArguments.requireNoZeros(call);
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
    ForwardCall call = call(x, null, null, parameters, y);
    ForwardArguments.check(call);
    requireKept(call, keep, false);
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
    ForwardArguments.checkQuantized(call(x, residual, z, parameters, y), q);
    return q.memory();
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
    int length = GainAndBias.length(norm, parameters.gain(), parameters.bias());
    BackwardArguments.checkLengths(gain, bias, length, norm.width(), norm.groupWidth);
  }

  @Override
  public boolean overlap(Rows x, Rows y) {
    return Overlap.any(x, y);
  }
}
