package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.backend.NormColumns;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.norm.SumsOverRows;

/**
 * A backward pass of checked rows. If each group of a row has a gain of its own, or the rows of
 * each sample have, each group or sample is a pass of its own.
 *
 * @param dresidual null without a gradient of the residual
 * @param dz null without a gate
 * @param gain as float[] or double[], like the arithmetic; null without one
 * @param bias likewise; null, too, where the formula does not need it
 * @param parts the groups of a row, or the samples, that have a gain of their own; 1 if all rows
 *     and their groups share it
 */
record BackwardRun(
    Norm norm,
    Rows dy,
    Rows kept,
    Saved saved,
    Rows dresidual,
    Rows dx,
    Rows dz,
    ParameterGradients gradients,
    Object gain,
    Object bias,
    int parts) {

  /**
   * Runs it.
   *
   * @param ofNorm the gain and bias if they are the norm's; null if they are of the call
   */
  void run(NormColumns ofNorm) {
    if (parts == 1) {
      Object[] columns = {gain, bias};
      Call call = call(rows(0, norm.groups), columns, ofNorm, saved.mean(), saved.rstd());
      run(call, kept.rows() * norm.groups, 0);
      return;
    }
    try (ParameterParts parameters = new ParameterParts(norm.groupWidth)) {
      for (int part = 0; part < parts; part++) {
        part(parameters, part);
      }
    }
  }

  private void part(ParameterParts parameters, int part) {
    boolean ofGroups = norm.groups > 1;
    long n = ofGroups ? kept.rows() : kept.rows() / parts;
    long first = ofGroups ? part : part * n;
    int step = ofGroups ? parts : 1;
    Object[] columns = {parameters.gain(gain, part), parameters.bias(bias, part)};
    double[] mean = parameters.mean(saved.mean(), first, step, n);
    double[] rstd = parameters.rstd(saved.rstd(), first, step, n);
    run(call(rows(part, 1), columns, null, mean, rstd), n, part * norm.groupWidth);
  }

  private RowMemory[] rows(int part, int groups) {
    RowMemory[] rows = new RowMemory[(dz == null ? Backward.DX : Backward.DZ).place() + 1];
    rows[Forward.X.place()] = memory(kept, part, groups);
    rows[Forward.RESIDUAL.place()] = dresidual == null ? null : memory(dresidual, part, groups);
    rows[Backward.DY.place()] = memory(dy, part, groups);
    rows[Backward.DX.place()] = memory(dx, part, groups);
    if (dz != null) {
      rows[Forward.Z.place()] = memory(saved.z(), part, groups);
      rows[Backward.DZ.place()] = memory(dz, part, groups);
    }
    return rows;
  }

  private RowMemory memory(Rows all, int part, int groups) {
    if (parts == 1 || all.rows() == 0) {
      return norm.memory.of(all, groups);
    }
    long n = all.rows() / parts;
    Rows of = norm.groups > 1 ? all.group(part, norm.groupWidth) : all.range(part * n, n);
    return norm.memory.of(of, groups);
  }

  private Call call(
      RowMemory[] rows, Object[] columns, NormColumns ofNorm, double[] mean, double[] rstd) {
    BackwardFormula formula =
        new BackwardFormula(
            norm.spec(),
            saved.keep() == Keep.OUTPUT,
            rstd != null,
            columns[Forward.GAIN.place()] != null,
            columns[Forward.BIAS.place()] != null,
            gradients.gain() != null,
            gradients.bias() != null);
    NormChoices of = norm.choicesOf(kept.type());
    return new Call(of, formula, rows, columns, ofNorm, mean, rstd, rstd != null);
  }

  private void run(Call call, long rows, int from) {
    int threads = CallMemory.isShared(call.rows()) ? norm.threads : 1;
    try (call;
        SumsOverRows sums = SumsOverRows.run(call, norm.backwardPlans, rows, threads)) {
      gradients.take(sums.gain(), sums.bias(), from, norm.groupWidth);
    }
  }
}
