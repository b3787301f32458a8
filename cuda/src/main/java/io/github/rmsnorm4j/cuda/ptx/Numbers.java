package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.HashMap;
import java.util.Map;

/** The registers of the numbers of a row and of the call, all float64, one for each place. */
final class Numbers {
  private record Place(Tensor.Access access, int place) {}

  private final PtxText text;
  private final Map<Place, String> registers = new HashMap<>();

  Numbers(PtxText text) {
    this.text = text;
  }

  /** The register of a number. */
  String of(Tensor number) {
    return registers.computeIfAbsent(
        new Place(number.access(), number.place()), place -> text.register(Kind.F64));
  }

  /** Changes a number to what a register has, or to a constant. */
  void set(Tensor number, String to) {
    text.put("mov.f64", of(number), to);
  }
}
