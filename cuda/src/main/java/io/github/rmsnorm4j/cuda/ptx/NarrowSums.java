package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.Arrays;
import java.util.Map;

/**
 * Row sums where a warp does several rows. A thread has lanes that are one after the other, so it
 * reads their elements 16 bytes at a time.
 */
final class NarrowSums {
  private final PtxText text;
  private final Team team;
  private final RowPlaces places;
  private final Accesses accesses;

  /** The lanes of a thread. */
  private final int own;

  NarrowSums(PtxText text, Team team, RowPlaces places, Accesses accesses) {
    this.text = text;
    this.team = team;
    this.places = places;
    this.accesses = accesses;
    own = SumOrder.LANES / team.size();
  }

  /** Sums the elements before an end: by sum, the registers of the thread's lanes. */
  String[][] lanes(Stage stage, ValueCode row, String end) {
    String[][] lanes = new String[stage.sums().size()][own];
    for (String[] ofSum : lanes) {
      Arrays.setAll(ofSum, k -> text.compute(Kind.F64, "mov.f64", PtxText.literal(0.0)));
    }
    String first = text.compute(Kind.B32, "mul.lo.u32", team.lane(), Integer.toString(own));
    String many = text.label("MANY");
    String one = text.label("ONE");
    String done = text.label("ADDED");
    boolean isAligned = places.isShared(stage);
    if (!isAligned) {
      text.branchIf(places.isUnaligned(stage), one);
    }
    text.mark(many);
    String last = text.compute(Kind.B32, "add.u32", first, Integer.toString(own - 1));
    text.branchIf(text.test("ge.u32", last, end), one);
    many(stage, row, first, lanes);
    text.put("add.u32", first, first, Integer.toString(SumOrder.LANES));
    text.branch(many);
    text.mark(one);
    text.branchIf(text.test("ge.u32", first, end), done);
    oneByOne(stage, row, first, end, done, lanes);
    if (!isAligned) {
      text.put("add.u32", first, first, Integer.toString(SumOrder.LANES));
      text.branch(one);
    }
    text.mark(done);
    return lanes;
  }

  private void many(Stage stage, ValueCode row, String first, String[][] lanes) {
    ValueCode[] elements = accesses.elements(places.sources(stage, first, 1), own, row);
    for (int k = 0; k < own; k++) {
      add(stage, elements[k], lanes, k);
    }
  }

  private void oneByOne(
      Stage stage, ValueCode row, String first, String end, String done, String[][] lanes) {
    Map<Tensor, Place> from = places.sources(stage, first, 1);
    // Fewer than 16 bytes are left of an aligned row.
    int most = places.isShared(stage) ? own - 1 : own;
    for (int k = 0; k < most; k++) {
      if (k > 0) {
        String index = text.compute(Kind.B32, "add.u32", first, Integer.toString(k));
        text.branchIf(text.test("ge.u32", index, end), done);
      }
      int lane = k;
      ValueCode element =
          row.ofElement(
              value -> {
                Place place = from.get(value.tensor());
                return accesses.load(place, lane * place.type().bytes());
              });
      add(stage, element, lanes, k);
    }
  }

  private static void add(Stage stage, ValueCode element, String[][] lanes, int lane) {
    for (int s = 0; s < lanes.length; s++) {
      element.addTo(lanes[s][lane], stage.sums().get(s).value());
    }
  }
}
