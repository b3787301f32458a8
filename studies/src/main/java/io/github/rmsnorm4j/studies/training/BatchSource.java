package io.github.rmsnorm4j.studies.training;

/**
 * Where batches come from. The batch of a step depends on the source's seed and that step alone, so
 * training that goes on from a checkpoint sees what it would have seen.
 */
public interface BatchSource {
  /** {@return how many tokens there are: the vocabulary's size} */
  int vocabulary();

  /** {@return the length that its sequences have, in tokens} */
  int sequence();

  /**
   * Writes a batch; not for several threads at once.
   *
   * @param step which
   * @param tokens takes the tokens, one sequence after the other; as many sequences as there is
   *     room for
   * @param targets takes the token wanted at each place, or -1 where none is
   */
  void fill(long step, int[] tokens, int[] targets);
}
