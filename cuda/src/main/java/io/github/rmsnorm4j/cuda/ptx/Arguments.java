package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Set;

/** The block of bytes with the parameters of one launch. All addresses are of device memory. */
public final class Arguments {
  private final KernelParameters parameters;
  private final ByteBuffer block;
  private final Set<String> missing = new HashSet<>();

  /**
   * No parameter is set yet.
   *
   * @param parameters those of the kernel
   */
  public Arguments(KernelParameters parameters) {
    this.parameters = parameters;
    block = ByteBuffer.allocate(parameters.bytes()).order(ByteOrder.nativeOrder());
    parameters.all().forEach(parameter -> missing.add(parameter.name()));
  }

  /**
   * Rows: row r is {@code r / period * outerStride + r % period * stride} bytes from the address;
   * {@code r * stride} where the period is 0.
   *
   * @param tensor whose rows they are
   * @param address of the first row
   * @param stride bytes from a row to the next one of a period
   * @param period rows of a period; 0 where all rows are at the stride
   * @param outerStride bytes from a period to the next one
   * @return this
   */
  public Arguments rows(Tensor tensor, long address, long stride, int period, long outerStride) {
    String name = RowPlaces.name(tensor);
    return set(name + "_address", address)
        .set(name + "_stride", stride)
        .set(name + "_period", period)
        .set(name + "_outer", outerStride);
  }

  /**
   * A gain or bias, or the table of the sums for its gradient.
   *
   * @param tensor the column
   * @param address of its first number
   * @return this
   */
  public Arguments column(Tensor tensor, long address) {
    return set(RowPlaces.name(tensor) + "_address", address);
  }

  /**
   * Where the mean and rstd of rows go, or come from, in float64.
   *
   * @param mean the address for the first row; 0 without
   * @param rstd the address for the first row; 0 without
   * @param step from the number of a row to that of the next one
   * @return this
   */
  public Arguments statistic(long mean, long rstd, int step) {
    return set(RowKernel.MEAN, mean).set(RowKernel.RSTD, rstd).set(RowKernel.STEP, step);
  }

  /**
   * The rows of a launch, and the numbers of the norm.
   *
   * @param rows how many
   * @param choices of the norm
   * @return this
   */
  public Arguments call(int rows, NormChoices choices) {
    return set(RowKernel.ROWS, rows)
        .set(RowKernel.WIDTH, choices.width())
        .set(RowKernel.PART, choices.part())
        .set(RowKernel.EPSILON, choices.epsilon());
  }

  /**
   * What is added to each number of the gain.
   *
   * @param offset in float64; the kernel rounds it to the compute type
   * @return this
   */
  public Arguments gainOffset(double offset) {
    return set(RowKernel.OFFSET, offset);
  }

  /**
   * Sets a parameter by its name.
   *
   * @param name as in the text of the kernel
   * @param value an integer
   * @return this
   * @throws IllegalArgumentException if the kernel has no such parameter, or it is not an integer
   */
  public Arguments set(String name, long value) {
    KernelParameters.Parameter parameter = require(name);
    switch (parameter.type()) {
      case U32 -> block.putInt(parameter.offset(), Math.toIntExact(value));
      case U64 -> block.putLong(parameter.offset(), value);
      case F64 -> throw new IllegalArgumentException(name + " is float64, " + value + " is not");
    }
    return this;
  }

  /**
   * Sets a parameter by its name.
   *
   * @param name as in the text of the kernel
   * @param value a float64 number
   * @return this
   * @throws IllegalArgumentException if the kernel has no such parameter, or it is an integer
   */
  public Arguments set(String name, double value) {
    KernelParameters.Parameter parameter = require(name);
    if (parameter.type() != KernelParameters.Type.F64) {
      throw new IllegalArgumentException(name + " is an integer, " + value + " is not");
    }
    block.putDouble(parameter.offset(), value);
    return this;
  }

  private KernelParameters.Parameter require(String name) {
    KernelParameters.Parameter parameter = parameters.get(name);
    if (parameter == null) {
      throw new IllegalArgumentException("the kernel has no parameter " + name);
    }
    missing.remove(name);
    return parameter;
  }

  /**
   * {@return the block, in the byte order of this machine, which is that of the device}
   *
   * @throws IllegalStateException if a parameter has not been set
   */
  public byte[] bytes() {
    if (!missing.isEmpty()) {
      throw new IllegalStateException("parameters without a value: " + missing);
    }
    return block.array().clone();
  }
}
