package io.github.rmsnorm4j.cuda.eager;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaMemory;
import io.github.rmsnorm4j.cuda.CudaStream;
import io.github.rmsnorm4j.cuda.driver.CudaContext;
import io.github.rmsnorm4j.cuda.driver.DriverLibrary;
import io.github.rmsnorm4j.cuda.driver.DriverUnavailable;
import io.github.rmsnorm4j.cuda.driver.LaunchShape;
import io.github.rmsnorm4j.cuda.driver.Stream;
import io.github.rmsnorm4j.cuda.ptx.Arguments;
import io.github.rmsnorm4j.cuda.ptx.ColumnSumKernel;
import io.github.rmsnorm4j.cuda.ptx.OperationKernel;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.cuda.ptx.TreeKernel;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.EnumMap;
import java.util.Map;

/**
 * Operations on whole tensors of one shape, each of which is one kernel, on a stream. A tensor is
 * memory of the device with rows x width elements without gaps. The numbers of rows are float64,
 * with values that the type of the elements has; those of columns are float32. The caller checks
 * sizes. One thread uses it.
 *
 * <p>It shares the context of the device, as another library in the process would.
 */
public final class TensorOperations implements AutoCloseable {
  /** The numbers of rows are done as rows of this width, so that many processors do them. */
  private static final int NUMBERS_OF_ROW = 1024;

  private final CudaContext context;
  private final Stream stream;
  private final ElementType type;
  private final int rows;
  private final int width;
  private final Map<Operation, PtxKernel> kernels = new EnumMap<>(Operation.class);
  private final PtxKernel rstd;
  private final PtxKernel throughRoot;
  private final PtxKernel columns;
  private final PtxKernel tree = TreeKernel.of(ElementType.FLOAT32);

  /**
   * Operations on tensors of a device.
   *
   * @param device the device
   * @param stream of the device
   * @param type of the elements: float32, float16 or bfloat16
   * @param rows of a tensor
   * @param width of a row
   */
  public TensorOperations(
      CudaDevice device, CudaStream stream, ElementType type, int rows, int width) {
    try {
      context =
          new CudaContext(
              DriverLibrary.load(DriverLibrary.name(), CudaDevice.driverVersion().orElseThrow()),
              device.info().index(),
              device.toString());
    } catch (DriverUnavailable e) {
      throw new IllegalStateException(e.getMessage(), e); // the device came from it
    }
    this.stream = Stream.wrap(context, stream.handle());
    this.type = type;
    this.rows = rows;
    this.width = width;
    this.rstd = Operation.rstd(type, NUMBERS_OF_ROW);
    this.throughRoot = Operation.throughRoot(type, width, NUMBERS_OF_ROW);
    this.columns = ColumnSumKernel.of(type);
  }

  /** {@code y = x * x}. */
  public void square(CudaMemory x, CudaMemory y) {
    run(Operation.SQUARE, x, null, 0, 0, y);
  }

  /** {@code y = x * z}. */
  public void multiply(CudaMemory x, CudaMemory z, CudaMemory y) {
    run(Operation.MULTIPLY, x, z, 0, 0, y);
  }

  /** {@code y = x + z}. */
  public void add(CudaMemory x, CudaMemory z, CudaMemory y) {
    run(Operation.ADD, x, z, 0, 0, y);
  }

  /** Each row times its number. */
  public void scale(CudaMemory x, CudaMemory factors, CudaMemory y) {
    run(Operation.SCALE, x, null, factors.address(), 0, y);
  }

  /** Each row less its number. */
  public void subtract(CudaMemory x, CudaMemory of, CudaMemory y) {
    run(Operation.SUBTRACT, x, null, of.address(), 0, y);
  }

  /** Each column times its number. */
  public void scaleColumns(CudaMemory x, CudaMemory factors, CudaMemory y) {
    run(Operation.SCALE_COLUMNS, x, null, 0, factors.address(), y);
  }

  /** Each column and its number. */
  public void shiftColumns(CudaMemory x, CudaMemory terms, CudaMemory y) {
    run(Operation.SHIFT_COLUMNS, x, null, 0, terms.address(), y);
  }

  /** The mean of each row. */
  public void rowMeans(CudaMemory x, CudaMemory means) {
    run(Operation.ROW_MEANS, x, null, means.address(), 0, null);
  }

  /** The sum of each row. */
  public void rowSums(CudaMemory x, CudaMemory sums) {
    run(Operation.ROW_SUMS, x, null, sums.address(), 0, null);
  }

  /**
   * The sum of each column, added in float32.
   *
   * @param table as many bytes as {@link #tableBytes} says
   */
  public void columnSums(CudaMemory x, CudaMemory table, CudaMemory sums) {
    Arguments ofRows =
        new Arguments(columns.parameters())
            .rows(Forward.X, x.address(), (long) width * type.bytes(), 0, 0)
            .set("table_address", table.address())
            .set("rows", rows)
            .set("width", width);
    launch(columns, ColumnSumKernel.launch(rows), ofRows);
    Arguments ofTable =
        new Arguments(tree.parameters())
            .set("table_address", table.address())
            .set("gradient_address", sums.address())
            .set("blocks", TreeKernel.blocks(rows))
            .set("width", width)
            .set("adds", 0);
    launch(tree, TreeKernel.launch(width), ofTable);
  }

  /** The bytes that {@link #columnSums} needs to work. */
  public long tableBytes() {
    return TreeKernel.tableBytes(rows, width, ElementType.FLOAT32);
  }

  /** Replaces the number v of each row by {@code 1 / sqrt(v + epsilon)}. */
  public void rstd(CudaMemory numbers, double epsilon) {
    numbers(rstd, Map.of(Forward.X, numbers, Forward.Y, numbers), epsilon);
  }

  /**
   * Replaces the gradient g of each row's rstd by {@code -g * rstd^3 / width}: what its centred
   * elements are multiplied by.
   */
  public void throughRoot(CudaMemory gradients, CudaMemory rstd) {
    numbers(throughRoot, Map.of(Forward.X, gradients, Forward.Z, rstd, Forward.Y, gradients), 0);
  }

  /** An operation on the numbers of all rows. */
  private void numbers(PtxKernel kernel, Map<Tensor, CudaMemory> of, double epsilon) {
    int whole = rows / NUMBERS_OF_ROW;
    int rest = rows % NUMBERS_OF_ROW;
    if (whole > 0) {
      numbers(kernel, of, 0, whole, NUMBERS_OF_ROW, epsilon);
    }
    if (rest > 0) {
      numbers(kernel, of, rows - rest, 1, rest, epsilon);
    }
  }

  private void numbers(
      PtxKernel kernel, Map<Tensor, CudaMemory> of, int from, int count, int n, double epsilon) {
    Arguments arguments = OperationKernel.arguments(kernel, 0, count, n, epsilon);
    of.forEach(
        (tensor, memory) ->
            arguments.rows(
                tensor,
                memory.address() + (long) from * Double.BYTES,
                (long) n * Double.BYTES,
                0,
                0));
    launch(kernel, kernel.launch(count, n), arguments);
  }

  private void run(
      Operation operation, CudaMemory x, CudaMemory z, long numbers, long ofColumns, CudaMemory y) {
    PtxKernel kernel = kernels.computeIfAbsent(operation, o -> o.kernel(type, width));
    long stride = (long) width * type.bytes();
    Arguments arguments =
        OperationKernel.arguments(kernel, numbers, rows, width, 0)
            .rows(Forward.X, x.address(), stride, 0, 0);
    if (y != null) {
      arguments.rows(Forward.Y, y.address(), stride, 0, 0);
    }
    if (z != null) {
      arguments.rows(Forward.Z, z.address(), stride, 0, 0);
    }
    if (ofColumns != 0) {
      arguments.column(Forward.GAIN, ofColumns);
    }
    launch(kernel, kernel.launch(rows, width), arguments);
  }

  private void launch(PtxKernel kernel, LaunchShape shape, Arguments arguments) {
    context
        .module(kernel.text())
        .kernel(kernel.name())
        .launch(shape, stream, arguments.bytes(), kernel::name);
  }

  /** Waits for the work on the device, and gives the kernels back. */
  @Override
  public void close() {
    context.close();
  }
}
