package io.github.rmsnorm4j.benchmarks.peers;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.benchmarks.Kernel;

/**
 * One thing that several systems can do, so that they can be timed side by side.
 *
 * @param kernel the norm
 * @param backward whether its gradients are wanted, instead of its output
 * @param type of the elements
 * @param rows how many
 * @param width elements of a row
 */
public record Contest(Kernel kernel, boolean backward, ElementType type, int rows, int width) {
  /**
   * {@return a contest of float32 rows, forward}
   *
   * @param kernel the norm
   * @param rows how many
   * @param width elements of a row
   */
  public static Contest forward(Kernel kernel, int rows, int width) {
    return new Contest(kernel, false, ElementType.FLOAT32, rows, width);
  }

  /**
   * {@return a contest of float32 rows, backward}
   *
   * @param kernel the norm
   * @param rows how many
   * @param width elements of a row
   */
  public static Contest backward(Kernel kernel, int rows, int width) {
    return new Contest(kernel, true, ElementType.FLOAT32, rows, width);
  }

  /**
   * {@return this contest with rows of another type}
   *
   * @param other type of the elements
   */
  public Contest with(ElementType other) {
    return new Contest(kernel, backward, other, rows, width);
  }

  /** {@return how many elements there are, in rows and columns} */
  public int elements() {
    return Math.multiplyExact(rows, width);
  }

  /** For example {@code RMSNorm float32 128 x 4096, backward}. */
  @Override
  public String toString() {
    return "%s %s %s x %s%s".formatted(kernel, type, rows, width, backward ? ", backward" : "");
  }
}
