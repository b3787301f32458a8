package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.Arguments;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.device.NormParts;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.ForwardFormula;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.List;
import java.util.Map;

/**
 * The launches of a forward pass.
 *
 * @param parts of the norm
 * @param sharedBytes shared memory that a block of threads may have on the device
 * @param rows the rows of the call, checked: x and y, and a residual or the rows of a gate; y may
 *     be missing where no block of codes has elements of several groups
 * @param gain null without one
 * @param bias null without one
 * @param mean the address for the mean, or the length, of each group of each row in float64; 0
 *     where it is not wanted
 * @param rstd the address for rstd; 0 where it is not wanted
 * @param codes what the output becomes; null where it is stored alone
 */
record ForwardCalls(
    NormParts parts,
    int sharedBytes,
    Map<Tensor, DeviceRows> rows,
    DeviceColumn gain,
    DeviceColumn bias,
    long mean,
    long rstd,
    DeviceCodes codes) {
  /** The launches: none without rows. */
  List<KernelCall> launches() {
    if (rows.get(Forward.X).rows() == 0) {
      return List.of();
    }
    if (codes == null) {
      return List.of(ofRows(null));
    }
    return codes.fitGroups(parts.groups())
        ? List.of(ofRows(codes))
        : List.of(ofRows(null), codes.launch(rows.get(Forward.Y)));
  }

  /**
   * The launch of the kernel that does the norm.
   *
   * @param codes what the output becomes at once; null where it is stored alone
   */
  private KernelCall ofRows(DeviceCodes codes) {
    DeviceRows x = rows.get(Forward.X);
    NormChoices choices = parts.choices(x.type());
    int count = Math.toIntExact(x.rows() * parts.groups());
    ElementType arithmetic = NormKernels.arithmetic(x.type());
    int length = Math.max(DeviceColumn.length(gain), DeviceColumn.length(bias));
    boolean inParts = length > choices.width();
    Map<Tensor, ElementType> types = NormKernels.types(rows);
    if (inParts && gain != null) {
      types.put(Forward.GAIN_OF_GROUPS, gain.stored());
    }
    if (inParts && bias != null) {
      types.put(Forward.BIAS_OF_GROUPS, bias.stored());
    }
    if (!inParts) {
      DeviceColumn.putType(types, Forward.GAIN, gain, arithmetic);
      DeviceColumn.putType(types, Forward.BIAS, bias, arithmetic);
    }
    ForwardFormula formula =
        ForwardFormula.of(
            choices.spec(), x.type(), gain == null ? null : gain.type(), bias != null);
    if (codes != null) {
      types.putIfAbsent(Forward.Y, codes.output());
    }
    boolean stored = rows.containsKey(Forward.Y);
    PtxKernel kernel =
        NormKernels.of(
            formula,
            types,
            DeviceColumn.addsOffset(gain),
            choices,
            codes == null ? null : codes.codes(stored),
            sharedBytes);
    Arguments arguments = new Arguments(kernel.parameters());
    rows.forEach((tensor, of) -> of.set(arguments, tensor, parts.groups()));
    if (codes != null) {
      codes.set(arguments, parts.groups());
    }
    if (inParts) {
      part(arguments, Forward.GAIN_OF_GROUPS, gain, choices.width());
      part(arguments, Forward.BIAS_OF_GROUPS, bias, choices.width());
    } else {
      column(arguments, Forward.GAIN, gain);
      column(arguments, Forward.BIAS, bias);
    }
    DeviceColumn.setOffset(arguments, gain);
    arguments.statistic(mean, rstd, 1).call(count, choices);
    return new KernelCall(kernel, kernel.launch(count, choices.width()), arguments.bytes());
  }

  private static void column(Arguments arguments, Tensor tensor, DeviceColumn column) {
    if (column != null) {
      arguments.column(tensor, column.address());
    }
  }

  /** A parameter of groups returns after the groups of a row, one of samples stays for its rows. */
  private void part(Arguments arguments, Tensor tensor, DeviceColumn column, int width) {
    if (column == null) {
      return;
    }
    long bytes = column.stepBytes();
    if (parts.groups() > 1) {
      arguments.rows(tensor, column.address(), bytes, parts.groups(), 0);
    } else {
      int samples = column.length() / width;
      int ofSample = Math.toIntExact(rows.get(Forward.X).rows() / samples);
      arguments.rows(tensor, column.address(), 0, ofSample, bytes);
    }
  }
}
