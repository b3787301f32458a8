package io.github.rmsnorm4j.internal.formula;

import java.util.List;

/**
 * What one owner of a part of each row does in one phase of a call; see {@link Program#phases}.
 *
 * @param whole what the call asks for
 * @param rowWidth the elements of a row, those of all owners
 * @param phase 0 for the first one
 */
public record SplitFormula(Formula whole, int rowWidth, int phase) implements Formula {
  @Override
  public List<Tensor> rows() {
    return whole.rows();
  }

  @Override
  public Tensor output() {
    return whole.output();
  }

  /**
   * All phases. They are made from the steps of a long row, which leave each number that comes from
   * elements in a step of its own.
   */
  public static List<Program> phases(Formula whole, int rowWidth, Storage storage) {
    int n = Math.max(rowWidth, SumOrder.SUPER_BLOCK + 1);
    return whole.program(storage, n, n, false).phases();
  }

  @Override
  public Program program(Storage storage, int width, int part, boolean inPlace) {
    return phases(whole, rowWidth, storage).get(phase);
  }
}
