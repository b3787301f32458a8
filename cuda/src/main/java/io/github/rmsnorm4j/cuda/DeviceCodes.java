package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.Arguments;
import io.github.rmsnorm4j.cuda.ptx.Codes;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.quantized.CodeFormat;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import io.github.rmsnorm4j.internal.quantized.CodeRule;

/**
 * Codes and scales in the memory of a device, and the rule that gives them, checked by the caller.
 *
 * @param memory the addresses, strides and format
 * @param output the type of the numbers that become codes: that of y, or of what y would be
 */
record DeviceCodes(CodeMemory memory, CodeRule rule, ElementType output) {
  private CodeFormat format() {
    return memory.format();
  }

  /** Whether no block has elements of two groups. */
  boolean fitGroups(int groups) {
    int block = format().block(memory.width());
    return groups == 1 || memory.width() / groups % block == 0;
  }

  /**
   * What a kernel needs to know.
   *
   * @param stored whether the output itself is stored, too
   */
  Codes codes(boolean stored) {
    return Codes.of(format(), rule, output, stored);
  }

  /** The parameters of a kernel whose rows are groups of these. */
  void set(Arguments arguments, int groups) {
    int n = memory.width() / groups;
    set(arguments, groups, true, memory.codes().address(), n, memory.codeStride());
    if (format().given()) {
      arguments.set(Codes.GIVEN, (double) memory.scale());
    } else {
      long scales = (long) format().scales(memory.width()) / groups * Float.BYTES;
      set(arguments, groups, false, memory.scales().address(), scales, memory.scaleStride());
    }
  }

  /** The launch that gives rows their codes. */
  KernelCall launch(DeviceRows rows) {
    Codes alone = Codes.of(format(), rule, ElementType.FLOAT32, false);
    PtxKernel kernel = NormKernels.ofCodes(rows.type(), alone, rows.width());
    Arguments arguments = new Arguments(kernel.parameters());
    rows.set(arguments, Forward.X, 1);
    set(arguments, 1);
    int count = Math.toIntExact(rows.rows());
    arguments.shape(count, rows.width());
    return new KernelCall(kernel, kernel.launch(count, rows.width()), arguments.bytes());
  }

  private static void set(
      Arguments arguments, int groups, boolean codes, long address, long group, long stride) {
    boolean areApart = groups > 1 && stride != group * groups;
    arguments.rows(
        codes ? Codes.CODES : Codes.SCALES,
        address,
        groups > 1 ? group : stride,
        areApart ? groups : 0,
        areApart ? stride : 0);
  }
}
