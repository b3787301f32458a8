package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import java.util.Arrays;

/** Makes a call on the CPU. */
final class CpuCall {
  private CpuCall() {}

  /** All memory of the call as it is after the call. */
  static CallRows run(NormCall call, Backend backend) {
    CallRows rows = new CallRows(call);
    Norm norm = call.norm(backend);
    Saved saved = new Saved(call.keeps() ? call.keep() : Keep.NOTHING, call.rows());
    forward(call, norm, rows, saved);
    put(saved.rstd(), rows.rstd);
    put(saved.mean(), rows.mean);
    if (call.has(Trait.BACKWARD)) {
      backward(norm, rows, saved, call);
    }
    return rows;
  }

  private static void forward(NormCall call, Norm norm, CallRows rows, Saved saved) {
    Rows x = rows.x.onCpu();
    Rows y = rows.y.onCpu();
    Rows gain = rows.gain == null ? null : rows.gain.onCpu();
    Rows bias = rows.bias == null ? null : rows.bias.onCpu();
    if (call.has(Trait.PAIR)) {
      norm.applyAndAdd(x, rows.residual.onCpu(), norm, y);
    } else if (rows.z != null && call.keeps()) {
      norm.withParameters(gain, bias).applyGated(x, rows.z.onCpu(), y, saved);
    } else if (rows.z != null) {
      norm.applyGated(x, rows.z.onCpu(), y);
    } else if (rows.residual != null && call.keeps()) {
      norm.withParameters(gain, bias).addAndApply(x, rows.residual.onCpu(), y, saved);
    } else if (rows.residual != null) {
      norm.addAndApply(x, rows.residual.onCpu(), y);
    } else if (call.keeps()) {
      norm.withParameters(gain, bias).apply(x, y, saved);
    } else {
      norm.apply(x, y);
    }
  }

  private static void backward(Norm norm, CallRows rows, Saved saved, NormCall call) {
    boolean wide = call.arithmetic() == ElementType.FLOAT64;
    int length = call.samples() * call.parameters();
    double[] dgain = rows.dgain == null ? null : new double[length];
    double[] dbias = rows.dbias == null ? null : new double[length];
    float[] dgainNarrow = rows.dgain == null ? null : new float[length];
    float[] dbiasNarrow = rows.dbias == null ? null : new float[length];
    ParameterGradients gradients =
        wide
            ? ParameterGradients.assigned(dgain, dbias)
            : ParameterGradients.assigned(dgainNarrow, dbiasNarrow);
    Rows dy = rows.dy.onCpu();
    Rows dx = rows.dx.onCpu();
    if (rows.dz != null) {
      norm.backwardGated(dy, saved, dx, rows.dz.onCpu(), gradients);
    } else if (rows.dresidual != null) {
      norm.backward(dy, saved, rows.dresidual.onCpu(), dx, gradients);
    } else {
      norm.backward(dy, saved, dx, gradients);
    }
    put(wide ? dgain : widened(dgainNarrow), rows.dgain);
    put(wide ? dbias : widened(dbiasNarrow), rows.dbias);
  }

  private static double[] widened(float[] numbers) {
    if (numbers == null) {
      return null;
    }
    double[] wide = new double[numbers.length];
    for (int i = 0; i < wide.length; i++) {
      wide[i] = numbers[i];
    }
    return wide;
  }

  private static void put(double[] numbers, GuardedRows into) {
    if (into != null) {
      into.put(Arrays.copyOf(numbers, into.rows() * into.width()));
    }
  }
}
