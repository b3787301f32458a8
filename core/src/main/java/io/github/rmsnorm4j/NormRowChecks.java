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
    checkKept(call(x, residual, z, parameters, y), keep);
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

  private static void checkKept(ForwardCall call, @Nullable Keep keep) {
    ForwardArguments.check(call);
    if (keep != null) {
      ForwardArguments.requireKept(call, keep);
    }
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
    NormRowChecks checks = (NormRowChecks) next;
    NormPair.requireFit(norm, checks.norm);
    if (keep != null) {
      NormPair.requireKept(keep);
    }
    NormPair pair =
        new NormPair(
            call(x, null, null, parameters, y),
            checks.call(x, residual, null, parametersOfNext, y));
    pair.check();
    checkKept(pair.first(), keep);
    checkKept(pair.next(), keepOfNext);
  }

  @Override
  public CodeMemory quantized(
      Rows x,
      @Nullable Rows residual,
      @Nullable Rows z,
      CallParameters parameters,
      @Nullable Rows y,
      QuantizedRows q) {
    ForwardArguments.check(call(x, residual, z, parameters, y).to(q));
    return q.memory();
  }

  /** The rows of a backward call; numbers and gradients are in memory of a device. */
  private record BackwardRows(
      Rows dy,
      Rows kept,
      @Nullable Rows z,
      @Nullable Rows dresidual,
      CallParameters parameters,
      Rows dx,
      @Nullable Rows dz)
      implements CallOperands {
    @Override
    public @Nullable Object of(CallOperand operand) {
      return switch (operand) {
        case KEPT -> kept;
        case Z -> z;
        case DY -> dy;
        case DRESIDUAL -> dresidual;
        case DX -> dx;
        case DZ -> dz;
        case GAIN -> parameters.gain();
        case BIAS -> parameters.bias();
        default -> null;
      };
    }
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
    if (dz == null) {
      NormArguments.requireNoGate(norm.spec().gate(), "backwardGated");
    } else {
      NormArguments.requireGate(norm.spec().gate());
    }
    BackwardArguments.check(norm, new BackwardRows(dy, kept, z, dresidual, parameters, dx, dz));
  }

  @Override
  public void gradients(CallParameters parameters, int gain, int bias) {
    int length = GainAndBias.length(norm, parameters.gain(), parameters.bias());
    BackwardArguments.checkLengths(norm, gain, bias, length);
  }

  @Override
  public boolean overlap(Rows x, Rows y) {
    return Overlap.any(x, y);
  }
}
