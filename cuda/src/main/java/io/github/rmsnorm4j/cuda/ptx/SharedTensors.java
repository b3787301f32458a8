package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.Program.Extent;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Decides which tensors of a kernel a team keeps in shared memory: rows that several stages read,
 * and sums over rows.
 */
final class SharedTensors {
  /** Bytes that all banks of shared memory give at once. */
  static final int BANKS = 128;

  /** What the threads of two teams use of them. */
  static final int HALF = BANKS / 2;

  private SharedTensors() {}

  /**
   * The tensors that fit for all teams of a warp, those first that save the most accesses to the
   * memory of the device. A row of more than 65,536 elements does not fit.
   *
   * @param signature of the kernel
   * @param width of a row
   * @param sharedBytes what a block of threads may have
   */
  static Set<Tensor> of(KernelSignature signature, int width, int sharedBytes) {
    Map<Tensor, Integer> saved = saved(signature.program());
    List<Tensor> candidates = new ArrayList<>(saved.keySet());
    candidates.sort(Comparator.comparing(saved::get).reversed());
    int teamSize = signature.teamSize();
    int teams = signature.form() == Form.BLOCK ? 1 : SumOrder.LANES / teamSize;
    int most = sharedBytes - RowSums.sharedBytes(signature.blockBytes(), width);
    Set<Tensor> chosen = new TreeSet<>();
    List<ElementType> types = new ArrayList<>();
    for (Tensor tensor : candidates) {
      types.add(signature.type(tensor));
      if (saved.get(tensor) > 0 && teams * bytes(types, width, teamSize) <= most) {
        chosen.add(tensor);
      } else {
        types.removeLast();
      }
    }
    return chosen;
  }

  /** By tensor: the accesses to an element that shared memory saves. */
  private static Map<Tensor, Integer> saved(Program program) {
    Map<Tensor, Integer> saved = new TreeMap<>();
    for (Program.Step step : program.steps()) {
      boolean isOfMost = step.extent() == Extent.PART || step.extent() == Extent.ROW;
      for (Tensor tensor : step.stage().read().keySet()) {
        if (isOfMost && tensor.access() == Tensor.Access.ELEMENT) {
          // The first stage that reads an element saves none.
          saved.merge(tensor, 0, (before, none) -> before + 1);
        }
      }
      for (Stage.ColumnSum sum : step.stage().columnSums()) {
        // A load and a store.
        saved.put(sum.column(), 2);
      }
    }
    return saved;
  }

  /**
   * Bytes of shared memory of a team, for a row of each type.
   *
   * @param teamSize threads of a warp that do a row together
   */
  static long bytes(Collection<ElementType> types, int width, int teamSize) {
    long bytes = 0;
    for (ElementType type : types) {
      bytes += Math.ceilDiv((long) width * type.bytes(), Accesses.WIDEST) * Accesses.WIDEST;
    }
    return isOdd(teamSize) && bytes > 0 ? (bytes + HALF - 1) / BANKS * BANKS + HALF : bytes;
  }

  /**
   * Whether teams are an odd number of times 64 bytes apart. Eight threads use shared memory
   * together, 16 bytes each. If they are of two teams, they so use different banks.
   */
  static boolean isOdd(int teamSize) {
    return teamSize * Accesses.WIDEST == HALF;
  }
}
