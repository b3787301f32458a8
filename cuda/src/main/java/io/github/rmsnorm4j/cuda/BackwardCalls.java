package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.cuda.ptx.Arguments;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.cuda.ptx.TreeKernel;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.device.NormParts;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The launches of a backward pass. Where groups or samples have a gain or a bias of their own, each
 * is a pass of its own, as on the CPU.
 *
 * @param parts of the norm
 * @param sharedBytes shared memory that a block of threads may have on the device
 * @param keep what the forward pass kept; x is the output if that was kept
 * @param rows the rows of the call, checked: x, dy and dx, and a gradient of the residual or the
 *     rows of a gate and their gradient
 * @param gain null without one
 * @param bias null without one
 * @param mean the address of the kept means; 0 without
 * @param rstd the address of the kept rstd; 0 without
 * @param gradients of gain and bias
 */
record BackwardCalls(
    NormParts parts,
    int sharedBytes,
    Keep keep,
    Map<Tensor, DeviceRows> rows,
    DeviceColumn gain,
    DeviceColumn bias,
    long mean,
    long rstd,
    Gradients gradients) {
  /**
   * Where the gradients of gain and bias go, in the compute type.
   *
   * @param gain where dgain goes; null where it is not wanted
   * @param bias where dbias goes; null where it is not wanted
   * @param adds whether the sums are added to what is there
   * @param tables the address of {@link #tableBytes} of memory; 0 where there are none
   */
  record Gradients(DeviceColumn gain, DeviceColumn bias, boolean adds, long tables) {
    private int length() {
      return Math.max(DeviceColumn.length(gain), DeviceColumn.length(bias));
    }
  }

  /** The same call with memory for its tables. */
  BackwardCalls withTables(long address) {
    Gradients g = gradients;
    Gradients there = new Gradients(g.gain, g.bias, g.adds, address);
    return new BackwardCalls(parts, sharedBytes, keep, rows, gain, bias, mean, rstd, there);
  }

  private NormChoices choices() {
    return parts.choices(rows.get(Forward.X).type());
  }

  private ElementType arithmetic() {
    return NormKernels.arithmetic(rows.get(Forward.X).type());
  }

  /** How many passes there are. */
  private int passes() {
    int length = Math.max(DeviceColumn.length(gain), DeviceColumn.length(bias));
    return Math.max(1, Math.max(length, gradients.length()) / choices().width());
  }

  private boolean isOfGroups() {
    return parts.groups() > 1;
  }

  /** Rows of a pass. */
  private long rowsOfPass() {
    long all = rows.get(Forward.X).rows();
    return passes() == 1 ? all * parts.groups() : isOfGroups() ? all : all / passes();
  }

  /** The bytes of device memory that the call needs for sums of rows. */
  long tableBytes() {
    int tables = (gradients.gain() == null ? 0 : 1) + (gradients.bias() == null ? 0 : 1);
    return tables * oneTable();
  }

  private long oneTable() {
    return TreeKernel.tableBytes(rowsOfPass(), choices().width(), arithmetic());
  }

  /** The launches, in order: all passes use the tables, one after the other. */
  List<KernelCall> launches() {
    List<KernelCall> calls = new ArrayList<>();
    boolean biased = bias != null && (keep == Keep.OUTPUT || choices().spec().gate().isAfter());
    BackwardFormula formula =
        new BackwardFormula(
            choices().spec(),
            keep == Keep.OUTPUT,
            keep != Keep.NOTHING,
            gain != null,
            biased,
            gradients.gain() != null,
            gradients.bias() != null);
    long biasTable = gradients.tables() + (gradients.gain() == null ? 0 : oneTable());
    for (int pass = 0; pass < passes(); pass++) {
      if (rowsOfPass() > 0) {
        calls.add(rows(formula, pass, biasTable));
      }
      tree(calls, gradients.gain(), gradients.tables(), pass);
      tree(calls, gradients.bias(), biasTable, pass);
    }
    return calls;
  }

  private KernelCall rows(BackwardFormula formula, int pass, long biasTable) {
    int count = Math.toIntExact(rowsOfPass());
    Map<Tensor, DeviceRows> ofPass = new TreeMap<>();
    rows.forEach((tensor, all) -> ofPass.put(tensor, ofPass(all, pass)));
    Map<Tensor, ElementType> types = NormKernels.types(ofPass);
    DeviceColumn.putType(types, Forward.GAIN, gain, arithmetic());
    if (formula.bias()) {
      DeviceColumn.putType(types, Forward.BIAS, bias, arithmetic());
    }
    PtxKernel kernel =
        NormKernels.of(formula, types, DeviceColumn.addsOffset(gain), choices(), null, sharedBytes);
    Arguments arguments = new Arguments(kernel.parameters());
    int groups = passes() == 1 ? parts.groups() : 1;
    ofPass.forEach((tensor, of) -> of.set(arguments, tensor, groups));
    int width = choices().width();
    if (gain != null) {
      arguments.column(Forward.GAIN, gain.address(pass));
      DeviceColumn.setOffset(arguments, gain);
    }
    if (formula.bias()) {
      arguments.column(Forward.BIAS, bias.address(pass));
    }
    if (formula.gainGradient()) {
      arguments.column(Backward.GAIN_GRADIENT, gradients.tables());
    }
    if (formula.biasGradient()) {
      arguments.column(Backward.BIAS_GRADIENT, biasTable);
    }
    if (formula.keptStatistic()) {
      boolean strided = isOfGroups() && passes() > 1;
      long first = (strided ? pass : pass * rowsOfPass()) * Double.BYTES;
      int step = strided ? parts.groups() : 1;
      arguments.statistic(mean == 0 ? 0 : mean + first, rstd + first, step);
    }
    arguments.call(count, choices());
    return new KernelCall(kernel, kernel.launch(count, width), arguments.bytes());
  }

  private DeviceRows ofPass(DeviceRows all, int pass) {
    if (passes() == 1) {
      return all;
    }
    return isOfGroups() ? all.group(pass, parts.groups()) : all.sample(pass, passes());
  }

  private void tree(List<KernelCall> calls, DeviceColumn gradient, long table, int pass) {
    if (gradient == null) {
      return;
    }
    int width = choices().width();
    PtxKernel kernel = NormKernels.tree(arithmetic());
    Arguments arguments =
        new Arguments(kernel.parameters())
            .set("table_address", table)
            .set("gradient_address", gradient.address(pass))
            .set("blocks", TreeKernel.blocks(rowsOfPass()))
            .set("width", width)
            .set("adds", gradients.adds() ? 1 : 0);
    calls.add(new KernelCall(kernel, TreeKernel.launch(width), arguments.bytes()));
  }
}
