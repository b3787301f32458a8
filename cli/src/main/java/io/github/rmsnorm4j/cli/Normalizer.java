package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.formats.Tensor;
import java.util.List;

/** Where rows are normalised: by this processor, or on a GPU. */
interface Normalizer extends AutoCloseable {
  /** The kernels of norms for tensors, where this processor runs them. */
  Backend backend(List<Tensor> tensors);

  /**
   * Takes a norm, before any pieces of its rows are asked for.
   *
   * @throws IllegalArgumentException if there is no kernel for one of its choices
   */
  void add(Norm norm);

  /**
   * Memory for pieces of a tensor's rows, all alike. While one of them is normalised, rows may be
   * put into another one. Pieces of the tensor before are not used any more.
   *
   * @param norm one that was taken
   * @param rows how many the tensor has, at least 1
   * @param sums whether the sums with a residual are wanted
   */
  List<? extends Piece> pieces(Norm norm, PieceShape shape, long rows, boolean sums);

  /** What has normalised the tensors, in a few words. */
  String describe(Norm norm, List<Tensor> tensors);

  /** Gives its memory back. */
  @Override
  void close();
}
