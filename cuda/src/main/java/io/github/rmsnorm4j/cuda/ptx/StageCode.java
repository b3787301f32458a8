package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Program.Extent;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The instructions of one stage, for the elements of one row. */
final class StageCode {
  /** The smallest element in memory, of which a wide access has the most. */
  private static final int SMALLEST = Short.BYTES;

  private final PtxText text;
  private final Team team;
  private final RowPlaces places;
  private final Accesses accesses;
  private final Numbers numbers;
  private final RowSums sums;

  /** Writes the output as codes; null where it does not become codes. */
  private final CodeOutput codes;

  /** Registers with the width of the rows, and with the elements of the statistic. */
  private final String width;

  private final String part;

  /**
   * Stages of a kernel.
   *
   * @param codes what the output becomes; null where it is stored alone
   * @param shared has the tensors that are in shared memory; sums of rows are behind them
   */
  StageCode(
      PtxText text,
      Team team,
      RowPlaces places,
      Numbers numbers,
      CodeOutput codes,
      String width,
      String part,
      SharedRows shared) {
    this.text = text;
    this.team = team;
    this.places = places;
    this.numbers = numbers;
    this.codes = codes;
    this.width = width;
    this.part = part;
    accesses = new Accesses(text);
    sums = new RowSums(text, team, places, numbers, shared.end(), shared.hasAny());
  }

  /** Values of the row as it is now. */
  ValueCode rowValues() {
    return ValueCode.ofRow(text, numbers, this::first, places::computed);
  }

  /** The number of element 0. Warps of a team may not have met since one of them copied it. */
  private String first(Value element) {
    Tensor tensor = element.tensor();
    Place place = team.isBlock() ? places.inGlobal(tensor) : places.source(tensor);
    return accesses.load(place, 0);
  }

  /**
   * Writes a stage.
   *
   * @return predicates that hold for a row out of range, one for each range
   */
  List<String> write(Stage stage, Extent extent) {
    return write(stage, extent, extent != Extent.REST);
  }

  /**
   * Writes a stage of rows that are out of range. Such rows are rare, so elements are stored one by
   * one: several elements in float64 would take the registers of all rows.
   */
  void writeRare(Stage stage, Extent extent) {
    write(stage, extent, false);
  }

  private List<String> write(Stage stage, Extent extent, boolean mayBeWide) {
    text.comment(stage.text().strip().replace("\n", "; "));
    List<String> outOfRange = ofRow(stage);
    if (stage.hasElements()) {
      ValueCode row = rowValues();
      for (Value value : stage.rowValues()) {
        row.of(value);
      }
      row.close();
      if (!stage.sums().isEmpty()) {
        requireOnlySums(stage);
        sums.write(stage, row, to(extent));
      } else if (codes != null) {
        codes.write(stage, to(extent), row, mayBeWide);
      } else {
        store(stage, extent, row, mayBeWide);
      }
    }
    return outOfRange;
  }

  private static void requireOnlySums(Stage stage) {
    for (Stage.Statement statement : stage.statements()) {
      if (statement instanceof Stage.Store) {
        throw new IllegalArgumentException(stage.text() + " stores what it sums");
      }
    }
  }

  /** Numbers and ranges of the row: all are computed before any changes. */
  private List<String> ofRow(Stage stage) {
    ValueCode row = rowValues();
    Map<Tensor, String> kept = new LinkedHashMap<>();
    List<String> outOfRange = new ArrayList<>();
    for (Stage.Statement statement : stage.statements()) {
      if (statement instanceof Stage.Keep keep) {
        kept.put(keep.number(), row.of(keep.value()));
      } else if (statement instanceof Stage.Range range) {
        String value = row.of(range.value());
        String least = PtxText.literal(range.least());
        outOfRange.add(text.test("ltu.f64", value, least));
        outOfRange.add(text.test("gtu.f64", value, PtxText.literal(range.greatest())));
      }
    }
    kept.forEach(numbers::set);
    return outOfRange;
  }

  private String from(Extent extent) {
    return extent == Extent.REST ? part : "0";
  }

  private String to(Extent extent) {
    return switch (extent) {
      case PART -> part;
      case REST, ROW -> width;
      case FIRST, NUMBERS -> throw new IllegalArgumentException(extent + " has no loop");
    };
  }

  /**
   * Stores elements: by wide accesses if all rows begin at multiples of 16 bytes, then the rest.
   */
  private void store(Stage stage, Extent extent, ValueCode row, boolean mayBeWide) {
    String to = to(extent);
    String index = text.compute(Kind.B32, "add.u32", team.thread(), from(extent));
    if (mayBeWide) {
      wide(stage, to, index, row);
    }
    String loop = text.label("STORE");
    String done = text.label("STORED");
    text.mark(loop);
    text.branchIf(text.test("ge.u32", index, to), done);
    Map<Tensor, Place> from = places.sources(stage, index, 1);
    Map<Tensor, Place> into = places.targets(stage, index, 1);
    ValueCode element = row.ofElement(value -> accesses.load(from.get(value.tensor()), 0));
    for (Stage.Statement statement : stage.statements()) {
      if (statement instanceof Stage.Store s) {
        String number = element.stored(s.value(), s.type(), places.type(s.rows()));
        accesses.store(into.get(s.rows()), number);
      } else if (statement instanceof Stage.ColumnSum s) {
        Place column = into.get(s.column());
        accesses.store(column, added(accesses.load(column, 0), s.value(), element));
      }
    }
    text.put("add.u32", index, index, team.threads());
    text.branch(loop);
    text.mark(done);
  }

  private String added(String sum, Value term, ValueCode element) {
    Kind kind = term.float64() ? Kind.F64 : Kind.F32;
    String add = term.float64() ? "add.rn.f64" : "add.rn.f32";
    return text.compute(kind, add, sum, element.of(term));
  }

  /** Elements that a thread does at once. */
  private int elementsAtOnce(Stage stage) {
    int bytes = Double.BYTES;
    for (Tensor tensor : stage.tensors().keySet()) {
      bytes = Math.min(bytes, places.type(tensor).bytes());
    }
    return Accesses.WIDEST / Math.max(SMALLEST, bytes);
  }

  /** Leaves in the index where the rest begins. */
  private void wide(Stage stage, String to, String index, ValueCode row) {
    int count = elementsAtOnce(stage);
    String loop = text.label("STORE_WIDE");
    String done = text.label("STORED_WIDE");
    String rest = text.label("REST");
    text.branchIf(places.isUnaligned(stage), rest);
    String shift = Integer.toString(Integer.numberOfTrailingZeros(count));
    String groups = text.compute(Kind.B32, "shr.u32", to, shift);
    String group = text.compute(Kind.B32, "mov.u32", team.thread());
    text.mark(loop);
    text.branchIf(text.test("ge.u32", group, groups), done);
    wideStep(stage, group, count, row);
    text.put("add.u32", group, group, team.threads());
    text.branch(loop);
    text.mark(done);
    text.put("shl.b32", groups, groups, shift);
    text.put("add.u32", index, groups, team.thread());
    text.mark(rest);
  }

  private void wideStep(Stage stage, String group, int count, ValueCode row) {
    Map<Tensor, Place> into = places.targets(stage, group, count);
    ValueCode[] elements = accesses.elements(places.sources(stage, group, count), count, row);
    for (Stage.Statement statement : stage.statements()) {
      String[] results = new String[count];
      if (statement instanceof Stage.Store s) {
        for (int k = 0; k < count; k++) {
          results[k] = elements[k].stored(s.value(), s.type(), places.type(s.rows()));
        }
        accesses.store(into.get(s.rows()), results);
      } else if (statement instanceof Stage.ColumnSum s) {
        Place column = into.get(s.column());
        String[] held = accesses.load(column, 0, count);
        for (int k = 0; k < count; k++) {
          results[k] = added(held[k], s.value(), elements[k]);
        }
        accesses.store(column, results);
      }
    }
  }
}
