package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.device.CallParameters;
import io.github.rmsnorm4j.internal.device.RowChecks;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import org.jspecify.annotations.Nullable;

/** The checks of a norm's own calls, for back ends in other modules. */
record NormRowChecks(Norm norm) implements RowChecks {
  @Override
  public void parameters(CallParameters of) {
    ForwardArguments.checkShapes(norm, of.gain(), of.bias());
  }

  private ForwardCall call(RowsOfCall rows, CallParameters parameters) {
    Rows x = NormArguments.requireNonNull(rows.of(Forward.X), "x");
    ForwardCall call = new ForwardCall(norm, x, rows.of(Forward.Y));
    call.residual = rows.of(Forward.RESIDUAL);
    call.z = rows.of(Forward.Z);
    return call.with(parameters.gain(), parameters.bias());
  }

  @Override
  public void forward(RowsOfCall rows, CallParameters parameters, @Nullable Keep keep) {
    checkKept(call(rows, parameters), keep, true);
  }

  private static void checkKept(ForwardCall call, @Nullable Keep keep, boolean either) {
    ForwardArguments.check(call);
    if (keep != null) {
      ForwardArguments.requireKept(call, keep, either);
    }
    if (keep == Keep.OUTPUT && call.gain == null) {
      ForwardArguments.requireNoZeros(call);
    }
  }

  @Override
  public void forwardPair(
      RowsOfCall rows,
      CallParameters parameters,
      RowChecks next,
      CallParameters parametersOfNext,
      @Nullable Keep keep,
      @Nullable Keep keepOfNext) {
    NormRowChecks checks = (NormRowChecks) next;
    NormPair.requireFit(norm, checks.norm);
    if (keep != null) {
      NormPair.requireKept(keep);
    }
    ForwardCall first = call(rows, parameters);
    first.residual = null;
    NormPair pair = new NormPair(first, checks.call(rows, parametersOfNext));
    pair.check();
    checkKept(first, keep, false);
    checkKept(pair.next(), keepOfNext, true);
  }

  @Override
  public CodeMemory quantized(RowsOfCall rows, CallParameters parameters, QuantizedRows q) {
    ForwardArguments.check(call(rows, parameters).to(q));
    return q.memory();
  }

  @Override
  public void backward(RowsOfCall rows, CallParameters parameters) {
    Gate gate = norm.spec().gate();
    if (rows.of(Backward.DZ) == null) {
      NormArguments.requireNoGate(gate, "backwardGated");
    } else {
      NormArguments.requireGate(gate);
    }
    // Numbers and gradients are in memory of a device.
    BackwardArguments.check(norm, operand -> of(operand, rows, parameters));
  }

  private static @Nullable Object of(
      CallOperand operand, RowsOfCall rows, CallParameters parameters) {
    return switch (operand) {
      case KEPT -> rows.of(Forward.X);
      case Z -> rows.of(Forward.Z);
      case DY -> rows.of(Backward.DY);
      case DRESIDUAL -> rows.of(Forward.RESIDUAL);
      case DX -> rows.of(Backward.DX);
      case DZ -> rows.of(Backward.DZ);
      case GAIN -> parameters.gain();
      case BIAS -> parameters.bias();
      default -> null;
    };
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
