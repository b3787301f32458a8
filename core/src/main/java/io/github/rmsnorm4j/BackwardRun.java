package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.backend.NormColumns;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.norm.SharedSums;
import io.github.rmsnorm4j.internal.norm.SumsOverRows;
import org.jspecify.annotations.Nullable;

/**
 * Backward passes of checked rows, which are by the place of their tensor; null where there are
 * none. Gain and bias are float[] or double[], as the arithmetic is; null where there is none, or
 * the formula does not need it.
 */
final class BackwardRun {
  private BackwardRun() {}

  /**
   * All rows and their groups share gain and bias.
   *
   * @param ofNorm the gain and bias if they are the norm's; null if they are of the call
   * @param shared sums rows that have several owners; null for whole rows
   */
  static void whole(
      Norm norm,
      @Nullable Rows[] rows,
      Saved saved,
      ParameterGradients gradients,
      @Nullable Object[] columns,
      @Nullable NormColumns ofNorm,
      @Nullable SharedSums shared) {
    @Nullable RowMemory[] memory = new RowMemory[rows.length];
    for (int place = 0; place < rows.length; place++) {
      memory[place] =
          rows[place] == null ? null : norm.backEndParts().memory.of(rows[place], norm.groups);
    }
    Call call = call(norm, saved, gradients, memory, columns, ofNorm, saved.numbers());
    run(norm, call, saved.kept(norm).rows() * norm.groups, gradients, 0, shared);
  }

  /**
   * Each group of a row, or the rows of each sample, have a gain and a bias of their own, so each
   * is a pass of its own.
   *
   * @param parts the groups, or the samples
   */
  static void ofParts(
      Norm norm,
      @Nullable Rows[] rows,
      Saved saved,
      ParameterGradients gradients,
      @Nullable Object[] columns,
      int parts) {
    boolean ofGroups = norm.groups > 1;
    long all = saved.kept(norm).rows();
    long n = ofGroups ? all : all / parts;
    try (ParameterParts parameters = new ParameterParts(norm.groupWidth)) {
      for (int part = 0; part < parts; part++) {
        long first = ofGroups ? part : part * n;
        int step = ofGroups ? parts : 1;
        @Nullable Object[] ofPart = {
          parameters.gain(columns[Forward.GAIN.place()], part),
          parameters.bias(columns[Forward.BIAS.place()], part)
        };
        double @Nullable [] @Nullable [] given =
            parameters.numbers(saved.numbers(), first, step, n);
        @Nullable RowMemory[] memory = memory(norm, rows, part, n);
        Call call = call(norm, saved, gradients, memory, ofPart, null, given);
        run(norm, call, n, gradients, part * norm.groupWidth, null);
      }
    }
  }

  /** The rows of a part, which are so many. */
  private static @Nullable RowMemory[] memory(Norm norm, @Nullable Rows[] rows, int part, long n) {
    @Nullable RowMemory[] memory = new RowMemory[rows.length];
    for (int place = 0; place < rows.length; place++) {
      Rows all = rows[place];
      if (all != null && n > 0) {
        all = norm.groups > 1 ? all.group(part, norm.groupWidth) : all.range(part * n, n);
      }
      memory[place] = all == null ? null : norm.backEndParts().memory.of(all, 1);
    }
    return memory;
  }

  private static Call call(
      Norm norm,
      Saved saved,
      ParameterGradients gradients,
      @Nullable RowMemory[] rows,
      @Nullable Object[] columns,
      @Nullable NormColumns ofNorm,
      double @Nullable [] @Nullable [] given) {
    BackwardFormula formula =
        new BackwardFormula(
            norm.spec(),
            saved.keep() == Keep.OUTPUT,
            given != null,
            columns[Forward.GAIN.place()] != null,
            columns[Forward.BIAS.place()] != null,
            gradients.gain() != null,
            gradients.bias() != null);
    NormChoices choices = norm.choices(saved.kept(norm).type());
    return new Call(choices, formula, rows, columns, ofNorm, null, null, given);
  }

  private static void run(
      Norm norm,
      Call call,
      long rows,
      ParameterGradients gradients,
      int from,
      @Nullable SharedSums shared) {
    int threads = CallMemory.isShared(call.rows()) ? norm.threads : 1;
    Call rest =
        shared == null ? call : shared.run(call, norm.backEndParts().backwardPlans, rows, threads);
    try (rest;
        SumsOverRows sums =
            SumsOverRows.run(rest, norm.backEndParts().backwardPlans, rows, threads)) {
      gradients.take(sums.gain(), sums.bias(), from, norm.groupWidth);
    }
  }
}
