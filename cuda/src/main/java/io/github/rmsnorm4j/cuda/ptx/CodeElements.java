package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The elements of a stage whose output becomes codes. */
final class CodeElements {
  private static final String MAGNITUDE = "0x7fffffff";

  private final PtxText text;
  private final RowPlaces places;
  private final Accesses accesses;
  private final Codes codes;
  private final Stage stage;
  private final ValueCode row;
  private final Narrowing narrowing;
  private final Collection<Tensor> tensors;

  CodeElements(PtxText text, RowPlaces places, Codes codes, Stage stage, ValueCode row) {
    this.text = text;
    this.places = places;
    this.codes = codes;
    this.stage = stage;
    this.row = row;
    accesses = new Accesses(text);
    narrowing = new Narrowing(text);
    tensors = tensors(stage, codes);
  }

  /** The tensors of a stage that are in memory. */
  static Collection<Tensor> tensors(Stage stage, Codes codes) {
    List<Tensor> tensors = new ArrayList<>(stage.tensors().keySet());
    if (!codes.stored()) {
      tensors.remove(Forward.Y);
    }
    return tensors;
  }

  Stage stage() {
    return stage;
  }

  /** A predicate: some place in the memory of the device is no multiple of 16 bytes. */
  String isUnaligned() {
    Set<String> addresses = new LinkedHashSet<>();
    for (Tensor tensor : stage.read().keySet()) {
      Place source = places.source(tensor);
      if (!source.isShared()) {
        addresses.add(source.address());
      }
    }
    stored().forEach(rows -> addresses.add(places.inGlobal(rows).address()));
    return places.isUnaligned(addresses);
  }

  /** The rows that the stage stores. */
  private List<Tensor> stored() {
    return stage.written().keySet().stream().filter(tensors::contains).toList();
  }

  /** Where elements are stored. */
  private Map<Tensor, Place> targets(String index, int count) {
    Map<Tensor, Place> targets = new TreeMap<>();
    stored().forEach(rows -> targets.put(rows, places.inGlobal(rows).at(text, index, count)));
    return targets;
  }

  /** Some elements of one thread. */
  final class Some {
    private final ValueCode[] elements;
    private final Map<Tensor, Place> into;
    private final String codesAt;
    private final boolean adjacent;

    /** The numbers that become codes, when they are known. */
    private String[] numbers;

    private Some(ValueCode[] elements, Map<Tensor, Place> into, String codesAt, boolean adjacent) {
      this.elements = elements;
      this.into = into;
      this.codesAt = codesAt;
      this.adjacent = adjacent;
    }

    private String[] numbers() {
      if (numbers == null) {
        numbers = new String[elements.length];
        for (Stage.Statement statement : stage.statements()) {
          if (statement instanceof Stage.Store store && store.rows().equals(Forward.Y)) {
            for (int k = 0; k < elements.length; k++) {
              numbers[k] = number(elements[k], store);
            }
          }
        }
      }
      return numbers;
    }

    /** The output, rounded to its type, as float32. */
    private String number(ValueCode element, Stage.Store store) {
      String number = element.stored(store.value(), store.type(), codes.output());
      return switch (codes.output()) {
        case FLOAT16, BFLOAT16 -> narrowing.widened(number, codes.output());
        case FLOAT64 -> text.compute(Kind.F32, "cvt.rn.f32.f64", number);
        case FLOAT32 -> number;
      };
    }

    /** Makes a register the pattern of the largest magnitude, if that is larger. */
    void largest(String largest) {
      for (String number : numbers()) {
        String bits = text.compute(Kind.B32, "mov.b32", number);
        text.put("and.b32", bits, bits, MAGNITUDE);
        text.put("max.u32", largest, largest, bits);
      }
    }

    /** Stores the codes, and what the stage stores. */
    void store(BlockCodes blockCodes, BlockCodes.Found found) {
      String[] made = new String[elements.length];
      for (int k = 0; k < made.length; k++) {
        made[k] = blockCodes.code(row, numbers()[k], found);
      }
      if (adjacent) {
        blockCodes.store(codesAt, made, found);
      } else {
        for (int k = 0; k < made.length; k++) {
          blockCodes.store(codesAt, k * SumOrder.LANES, made[k], found);
        }
      }
      for (Stage.Statement statement : stage.statements()) {
        if (statement instanceof Stage.Store s && tensors.contains(s.rows())) {
          store(s);
        }
      }
    }

    private void store(Stage.Store store) {
      Tensor rows = store.rows();
      String[] results = new String[elements.length];
      for (int k = 0; k < results.length; k++) {
        results[k] = elements[k].stored(store.value(), store.type(), places.type(rows));
      }
      if (adjacent) {
        accesses.store(into.get(rows), results);
      } else {
        for (int k = 0; k < results.length; k++) {
          accesses.store(into.get(rows), offset(rows, k), results[k]);
        }
      }
    }
  }

  private int offset(Tensor tensor, int k) {
    return k * SumOrder.LANES * places.type(tensor).bytes();
  }

  /** Elements that are one after the other; all are loaded before any is used. */
  Some adjacent(String group, int count) {
    ValueCode[] elements = accesses.elements(places.sources(stage, group, count), count, row);
    return new Some(elements, targets(group, count), codesAt(group, count), true);
  }

  /** Elements that are 32 apart, each loaded when it is needed. */
  Some apart(String index, int count) {
    Map<Tensor, Place> from = places.sources(stage, index, 1);
    ValueCode[] elements = new ValueCode[count];
    for (int k = 0; k < count; k++) {
      int place = k;
      elements[k] =
          row.ofElement(
              value -> {
                Tensor tensor = value.tensor();
                return accesses.load(from.get(tensor), offset(tensor, place));
              });
    }
    return new Some(elements, targets(index, 1), codesAt(index, 1), false);
  }

  private String codesAt(String index, int count) {
    String base = places.base(Codes.CODES);
    return text.compute(Kind.B64, "mad.wide.u32", index, Integer.toString(count), base);
  }
}
