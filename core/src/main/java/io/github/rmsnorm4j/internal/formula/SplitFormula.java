package io.github.rmsnorm4j.internal.formula;

import java.util.List;

/**
 * What one owner of a part of each row does in one phase of a call; see {@link Program#phase}.
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

  /** The steps of a long row leave each number that comes from elements in a step of its own. */
  @Override
  public Program program(Storage storage, int width, int part, boolean inPlace) {
    int n = Math.max(rowWidth, SumOrder.SUPER_BLOCK + 1);
    return whole.program(storage, n, n, false).phase(phase);
  }
}
