package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The tensors that a team has in shared memory: the current row of some, and columns to which it
 * adds rows.
 */
final class SharedRows {
  private final PtxText text;
  private final Team team;
  private final RowPlaces places;
  private final String width;
  private final Set<Tensor> tensors;

  /** A register with the address of what is behind the tensors. */
  private final String end;

  /**
   * Gives the tensors their addresses.
   *
   * @param width a register with the width of the rows
   */
  SharedRows(PtxText text, Team team, RowPlaces places, Set<Tensor> tensors, String width) {
    this.text = text;
    this.team = team;
    this.places = places;
    this.width = width;
    this.tensors = tensors;
    end = text.compute(Kind.B32, "mov.u32", RowKernel.SHARED);
    List<String> sizes = new ArrayList<>();
    for (Tensor tensor : tensors) {
      sizes.add(size(tensor));
    }
    if (!team.isBlock() && hasAny()) {
      text.put("mad.lo.u32", end, team.place(), bytesOfTeam(sizes), end);
    }
    for (Tensor tensor : tensors) {
      places.share(tensor, text.compute(Kind.B32, "mov.u32", end));
      text.put("add.u32", end, end, sizes.removeFirst());
    }
  }

  private String size(Tensor tensor) {
    String bytes = Integer.toString(places.type(tensor).bytes());
    int more = Accesses.WIDEST - 1;
    String size = text.compute(Kind.B32, "mad.lo.u32", width, bytes, Integer.toString(more));
    text.put("and.b32", size, size, "0x" + Integer.toHexString(~more));
    return size;
  }

  /** As {@link SharedTensors#bytes} has it. */
  private String bytesOfTeam(List<String> sizes) {
    String bytes = text.compute(Kind.B32, "mov.u32", sizes.getFirst());
    for (String size : sizes.subList(1, sizes.size())) {
      text.put("add.u32", bytes, bytes, size);
    }
    if (SharedTensors.isOdd(team.size())) {
      text.put("add.u32", bytes, bytes, Integer.toString(SharedTensors.HALF - 1));
      text.put("and.b32", bytes, bytes, "0x" + Integer.toHexString(-SharedTensors.BANKS));
      text.put("add.u32", bytes, bytes, Integer.toString(SharedTensors.HALF));
    }
    return bytes;
  }

  /** Whether there are any. Then no row has more elements than a super-block. */
  boolean hasAny() {
    return !tensors.isEmpty();
  }

  /** A register with the address of what is behind the tensors. */
  String end() {
    return end;
  }

  /** Copies the current rows there. */
  void copy() {
    List<Tensor> rows =
        tensors.stream().filter(tensor -> tensor.access() == Tensor.Access.ELEMENT).toList();
    if (!rows.isEmpty()) {
      new RowCopies(text, team, places, rows, width).copy();
    }
  }
}
