package io.github.rmsnorm4j;

import java.lang.reflect.Array;
import org.jspecify.annotations.Nullable;

/**
 * Checks the arguments of a backward pass, as {@link NormArguments} checks those of a forward pass.
 */
final class BackwardArguments {
  /** Stands for the length of a gradient that is not wanted. */
  static final int NONE = -1;

  private BackwardArguments() {}

  /** Checks the rows of a gate and its gradient; {@link #checkBackward} checks the others. */
  static void checkBackwardOfGate(int width, Rows dy, Rows kept, Rows z, Rows dx, Rows dz) {
    NormArguments.requireWidth(dy, width, "dy");
    NormArguments.requireWidth(dx, width, "dx");
    NormArguments.requireWidth(dz, width, "dz");
    NormArguments.requireAccess(dy, "dy");
    NormArguments.requireAccess(dx, "dx");
    NormArguments.requireAccess(dz, "dz");
    NormArguments.requireAccess(z, "z");
    requireRows(dz, kept, "dz");
    NormArguments.requireArithmetic(dz, kept, "dz");
    if (dz.segment().isReadOnly()) {
      throw new IllegalArgumentException("dz is read-only, it must be writable");
    }
    if (Overlap.any(dz, kept) || Overlap.any(dz, z) || Overlap.any(dx, z)) {
      throw new IllegalArgumentException("dx or dz overlaps x or z: it must be other memory");
    }
    if (Overlap.any(dx, dz)) {
      throw new IllegalArgumentException("dx overlaps dz: each must be memory of its own");
    }
    NormArguments.requireSameOrDisjoint(dz, dy, "dz", "dy");
  }

  /** Checks the rows of a backward pass; the forward pass has checked the kept rows. */
  static void checkBackward(int width, Rows dy, Rows kept, @Nullable Rows dresidual, Rows dx) {
    NormArguments.requireWidth(dy, width, "dy");
    NormArguments.requireWidth(dx, width, "dx");
    NormArguments.requireAccess(dy, "dy");
    NormArguments.requireAccess(kept, "what was kept");
    NormArguments.requireAccess(dx, "dx");
    requireRows(dy, kept, "dy");
    requireRows(dx, kept, "dx");
    NormArguments.requireArithmetic(dy, kept, "dy");
    NormArguments.requireArithmetic(dx, kept, "dx");
    if (dx.segment().isReadOnly()) {
      throw new IllegalArgumentException("dx is read-only, it must be writable");
    }
    if (Overlap.any(dx, kept)) {
      throw new IllegalArgumentException("dx overlaps what was kept: it must be other memory");
    }
    NormArguments.requireSameOrDisjoint(dx, dy, "dx", "dy");
    if (dresidual != null) {
      NormArguments.requireWidth(dresidual, width, "dresidual");
      NormArguments.requireAccess(dresidual, "dresidual");
      requireRows(dresidual, kept, "dresidual");
      NormArguments.requireArithmetic(dresidual, kept, "dresidual");
      NormArguments.requireSameOrDisjoint(dx, dresidual, "dx", "dresidual");
    }
  }

  private static void requireRows(Rows rows, Rows kept, String name) {
    if (rows.rows() != kept.rows()) {
      throw new IllegalArgumentException(
          name
              + " has "
              + rows.rows()
              + " rows, the forward pass had "
              + kept.rows()
              + ": they must be the same");
    }
  }

  /** dx must not overlap the parameters and per-row scalars that a backward pass reads. */
  static void checkStays(Saved saved, Rows dx, String name) {
    requireStays(saved.gain(), saved.bias(), dx, name);
    if (NormArguments.overlapsArray(saved.rstd(), dx)
        || NormArguments.overlapsArray(saved.mean(), dx)) {
      throw new IllegalArgumentException(name + " overlaps what was kept: it must be other memory");
    }
  }

  /** dx must not overlap gain and bias of the forward call; null where there are none. */
  static void requireStays(@Nullable Rows gain, @Nullable Rows bias, Rows dx, String name) {
    if (NormArguments.overlaps(gain, dx) || NormArguments.overlaps(bias, dx)) {
      throw new IllegalArgumentException(
          name + " overlaps the gain or the bias: they would be overwritten while in use");
    }
  }

  /**
   * Checks the arrays for gradients of gain and bias.
   *
   * @param parameters the length of gain and bias; 0 if it may be that of a row or of a group
   * @param rows all rows of the call; null where there are none
   */
  static void checkGradients(
      ParameterGradients gradients,
      int parameters,
      int width,
      int group,
      Saved saved,
      @Nullable Rows[] rows) {
    checkLengths(length(gradients.gain()), length(gradients.bias()), parameters, width, group);
    for (Rows of : rows) {
      requireOwn(gradients, of);
    }
    requireOwn(gradients, saved.gain());
    requireOwn(gradients, saved.bias());
    requireNotKept(gradients.gain(), saved);
    requireNotKept(gradients.bias(), saved);
    if (gradients.gain() != null && gradients.gain() == gradients.bias()) {
      throw new IllegalArgumentException("dgain and dbias are one array: each needs its own");
    }
  }

  private static int length(@Nullable Object gradient) {
    return gradient == null ? NONE : Array.getLength(gradient);
  }

  /**
   * Checks the lengths of the gradients of gain and bias.
   *
   * @param gain that of dgain; {@link #NONE} if it is not wanted
   * @param bias that of dbias; {@link #NONE} if it is not wanted
   * @param parameters that of gain and bias; 0 if it may be that of a row or of a group
   */
  static void checkLengths(int gain, int bias, int parameters, int width, int group) {
    checkLength(gain, parameters, width, group, "dgain");
    checkLength(bias, gain == NONE ? parameters : gain, width, group, "dbias");
  }

  private static void checkLength(int length, int parameters, int width, int group, String name) {
    if (length == NONE) {
      return;
    }
    if (parameters == 0) {
      NormArguments.requireParameterLength(length, width, group, name);
    } else if (length != parameters) {
      throw new IllegalArgumentException(
          name
              + " has "
              + length
              + " elements, it must have as many as the other parameters, "
              + parameters);
    }
  }

  /** A gradient must not be written over the statistics that backward passes read. */
  private static void requireNotKept(@Nullable Object gradient, Saved saved) {
    if (gradient != null && (gradient == saved.rstd() || gradient == saved.mean())) {
      throw new IllegalArgumentException(
          "dgain or dbias is the rstd or the mean of saved: each must be an array of its own");
    }
  }

  private static void requireOwn(ParameterGradients gradients, @Nullable Rows rows) {
    if (rows != null
        && (NormArguments.overlapsArray(gradients.gain(), rows)
            || NormArguments.overlapsArray(gradients.bias(), rows))) {
      throw new IllegalArgumentException(
          "dgain or dbias overlaps rows of the call: each must be an array of its own");
    }
  }
}
