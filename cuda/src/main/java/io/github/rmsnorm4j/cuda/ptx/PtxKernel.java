package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.driver.LaunchShape;
import io.github.rmsnorm4j.cuda.driver.SharedMemory;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import java.util.List;

/**
 * A kernel as text, and how it is launched.
 *
 * @param name the name of its entry point
 * @param text a whole module in PTX with this entry point alone
 * @param form how threads share rows
 * @param teamSize threads of a warp that do a row together
 * @param rowsOfTeam rows that a team of threads does one after the other; 0 in a kernel that does
 *     no rows
 * @param blockBytes bytes of shared memory for each block of 1,024 elements, up to 64 of them
 * @param shared the types of the rows that a team has in shared memory
 * @param parameters its parameters
 */
public record PtxKernel(
    String name,
    String text,
    Form form,
    int teamSize,
    int rowsOfTeam,
    int blockBytes,
    List<ElementType> shared,
    KernelParameters parameters) {
  /** Of the oldest driver with every instruction that kernels use: CUDA 11.0. */
  static final String VERSION = "7.0";

  /** The oldest device whose threads of a warp meet as these kernels ask for: Volta. */
  static final String TARGET = "sm_70";

  /**
   * {@return the launch for rows, or for groups of rows}
   *
   * @param rows at least 1
   * @param width of each
   */
  public LaunchShape launch(int rows, int width) {
    int teams = Math.ceilDiv(rows, Math.max(1, rowsOfTeam));
    int bytes = Math.toIntExact(SharedTensors.bytes(shared, width, teamSize));
    if (form == Form.BLOCK) {
      int threads = SumOrder.LANES * form.warps(width);
      return new LaunchShape(teams, threads, bytes + RowSums.sharedBytes(blockBytes, width));
    }
    int ofWarp = SumOrder.LANES / teamSize;
    int warps = Math.min(Form.WARPS_OF_ROWS, Math.ceilDiv(teams, ofWarp));
    if (rowsOfTeam > 1) {
      // Such teams are few: each is a block, so that all processors have some.
      warps = 1;
    } else if (bytes > 0) {
      warps = Math.clamp(SharedMemory.LEAST / (bytes * ofWarp), 1, warps);
    }
    int ofBlock = warps * ofWarp;
    return new LaunchShape(Math.ceilDiv(teams, ofBlock), SumOrder.LANES * warps, bytes * ofBlock);
  }

  /**
   * A module with one kernel.
   *
   * @param mostThreads of a block: the driver's compiler gives each thread so few registers that
   *     they fit
   */
  static String module(
      String name, KernelParameters parameters, boolean hasShared, int mostThreads, PtxText text) {
    String shared = ".extern .shared .align 16 .b8 " + RowKernel.SHARED + "[];\n";
    return ".version "
        + VERSION
        + "\n.target "
        + TARGET
        + "\n.address_size 64\n"
        + (hasShared ? shared : "")
        + ".visible .entry "
        + name
        + "(\n"
        + parameters.text()
        + ")\n.maxntid "
        + mostThreads
        + ", 1, 1\n.minnctapersm 1\n{\n"
        + text.body()
        + "}\n";
  }
}
