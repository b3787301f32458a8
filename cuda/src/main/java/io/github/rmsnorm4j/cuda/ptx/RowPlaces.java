package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Where the rows and columns of a kernel are: registers with the address of the current row of each
 * tensor, and of each column.
 */
final class RowPlaces {
  private final PtxText text;

  /** The types in memory. */
  private final Map<Tensor, ElementType> types = new TreeMap<>();

  /** Addresses in the memory of the device. */
  private final Map<Tensor, String> bases = new TreeMap<>();

  /** Places in shared memory, of the tensors that are there. */
  private final Map<Tensor, Place> shared = new TreeMap<>();

  /** The parameter of the kernel with what is added to the gain; null if nothing is. */
  private String offset;

  RowPlaces(PtxText text) {
    this.text = text;
  }

  /** The name of a tensor in parameters. */
  static String name(Tensor tensor) {
    boolean ofRows = tensor.access() == Tensor.Access.ELEMENT;
    boolean ofGroups = ofRows && (tensor.name().equals("gain") || tensor.name().equals("bias"));
    return tensor.name() + (ofGroups ? "_of_groups" : "");
  }

  /** Declares the parameters of rows. */
  static void declareRows(KernelParameters parameters, Tensor rows) {
    String name = name(rows);
    parameters
        .add(KernelParameters.Type.U64, name + "_address")
        .add(KernelParameters.Type.U64, name + "_stride")
        .add(KernelParameters.Type.U64, name + "_outer")
        .add(KernelParameters.Type.U32, name + "_period");
  }

  /** Declares the parameter of a column. */
  static void declareColumn(KernelParameters parameters, Tensor column) {
    parameters.add(KernelParameters.Type.U64, name(column) + "_address");
  }

  /** Takes rows of a type. */
  void addRows(Tensor rows, ElementType type) {
    types.put(rows, type);
    bases.put(rows, text.register(Kind.B64));
  }

  /** Takes rows of single bytes, which have no type. */
  void addBytes(Tensor rows) {
    bases.put(rows, text.register(Kind.B64));
  }

  /** The register with the address of the current row, or of a column. */
  String base(Tensor tensor) {
    return bases.get(tensor);
  }

  /** Loads the address of a column. */
  void addColumn(Tensor column, ElementType type) {
    types.put(column, type);
    bases.put(column, address(name(column)));
  }

  /** Says which parameter of the kernel is added to each number of the gain. */
  void addOffset(String parameter) {
    offset = parameter;
  }

  /**
   * A number as a formula has it: a gain or a bias is of the compute type, a gain has its offset.
   * All others are as they were loaded.
   *
   * @param loaded the number in memory, 16-bit types as float32
   */
  String computed(Value value, String loaded) {
    boolean isGain = isEither(value, Forward.GAIN, Forward.GAIN_OF_GROUPS);
    if (!isGain && !isEither(value, Forward.BIAS, Forward.BIAS_OF_GROUPS)) {
      return loaded;
    }
    boolean isFloat64 = type(value.tensor()) == ElementType.FLOAT64;
    String number = loaded;
    if (isFloat64 && !value.float64()) {
      number = text.compute(Kind.F32, "cvt.rn.f32.f64", loaded);
    } else if (!isFloat64 && value.float64()) {
      number = text.compute(Kind.F64, "cvt.f64.f32", loaded);
    }
    return offset != null && isGain ? withOffset(number, value.float64()) : number;
  }

  private static boolean isEither(Value value, Tensor column, Tensor rows) {
    return value.tensor().equals(column) || value.tensor().equals(rows);
  }

  private String withOffset(String number, boolean float64) {
    String sum = text.compute(Kind.F64, "ld.param.f64", "[" + offset + "]");
    return float64
        ? text.compute(Kind.F64, "add.rn.f64", sum, number)
        : text.compute(
            Kind.F32, "add.rn.f32", text.compute(Kind.F32, "cvt.rn.f32.f64", sum), number);
  }

  private String address(String name) {
    String address = text.compute(Kind.B64, "ld.param.u64", "[" + name + "_address]");
    return text.compute(Kind.B64, "cvta.to.global.u64", address);
  }

  /** Points at a row of all tensors of rows. */
  void moveTo(String row) {
    for (Tensor tensor : bases.keySet()) {
      if (tensor.access() == Tensor.Access.ELEMENT) {
        moveTo(row, bases.get(tensor), name(tensor));
      }
    }
  }

  /** Parameters are loaded for each row, so that they take no registers in between. */
  private void moveTo(String row, String base, String name) {
    String period = text.compute(Kind.B32, "ld.param.u32", "[" + name + "_period]");
    String outer = text.compute(Kind.B32, "mov.u32", "0");
    String inner = text.compute(Kind.B32, "mov.u32", row);
    String done = text.label("ROW_FOUND");
    text.branchIf(text.test("eq.u32", period, "0"), done);
    text.put("div.u32", outer, row, period);
    text.put("rem.u32", inner, row, period);
    text.mark(done);
    String wide = text.compute(Kind.B64, "cvt.u64.u32", outer);
    String stride = text.compute(Kind.B64, "ld.param.u64", "[" + name + "_outer]");
    text.put("mad.lo.u64", base, wide, stride, address(name));
    text.put("cvt.u64.u32", wide, inner);
    text.put("ld.param.u64", stride, "[" + name + "_stride]");
    text.put("mad.lo.u64", base, wide, stride, base);
  }

  /** Points a column at a row of the table that it is, whose rows are one after the other. */
  void moveColumn(Tensor column, String row, String width) {
    String elements = text.compute(Kind.B64, "mul.wide.u32", row, width);
    String bytes = Integer.toString(types.get(column).bytes());
    String base = bases.get(column);
    text.put("mad.lo.u64", base, elements, bytes, base);
  }

  /** The type of a tensor in memory. */
  ElementType type(Tensor tensor) {
    return types.get(tensor);
  }

  /** The place of a tensor in the memory of the device: its current row, or the column. */
  Place inGlobal(Tensor tensor) {
    return new Place(false, bases.get(tensor), type(tensor));
  }

  /** Says that a tensor has a copy of its current row, or its column, in shared memory. */
  void share(Tensor tensor, String address) {
    shared.put(tensor, new Place(true, address, type(tensor)));
  }

  /** Where the numbers of a tensor are read. */
  Place source(Tensor tensor) {
    return shared.getOrDefault(tensor, inGlobal(tensor));
  }

  /** Where the numbers of a tensor are written. Rows go to the memory of the device. */
  Place target(Tensor tensor) {
    return tensor.access() == Tensor.Access.COLUMN ? source(tensor) : inGlobal(tensor);
  }

  /** Where a stage reads elements of each tensor. */
  Map<Tensor, Place> sources(Stage stage, String index, int elements) {
    Map<Tensor, Place> places = new TreeMap<>();
    for (Tensor tensor : stage.read().keySet()) {
      places.put(tensor, source(tensor).at(text, index, elements));
    }
    return places;
  }

  /** Where a stage writes elements of each tensor. */
  Map<Tensor, Place> targets(Stage stage, String index, int elements) {
    Map<Tensor, Place> places = new TreeMap<>();
    for (Tensor tensor : stage.written().keySet()) {
      places.put(tensor, target(tensor).at(text, index, elements));
    }
    return places;
  }

  /** Whether a stage reads rows in the memory of the device, where others may be written. */
  boolean readsRows(Stage stage) {
    return stage.read().keySet().stream()
        .anyMatch(tensor -> tensor.access() == Tensor.Access.ELEMENT && !source(tensor).isShared());
  }

  /** Whether a stage reads and writes shared memory alone. */
  boolean isShared(Stage stage) {
    return globalAddresses(stage).isEmpty();
  }

  /** A predicate: some place of a stage in the memory of the device is no multiple of 16 bytes. */
  String isUnaligned(Stage stage) {
    return isUnaligned(globalAddresses(stage));
  }

  private Set<String> globalAddresses(Stage stage) {
    Set<String> addresses = new LinkedHashSet<>();
    stage.read().keySet().forEach(tensor -> addGlobal(source(tensor), addresses));
    stage.written().keySet().forEach(tensor -> addGlobal(target(tensor), addresses));
    return addresses;
  }

  private static void addGlobal(Place place, Set<String> addresses) {
    if (!place.isShared()) {
      addresses.add(place.address());
    }
  }

  /** A predicate: some address is no multiple of 16 bytes. */
  String isUnaligned(Collection<String> addresses) {
    String bits = text.compute(Kind.B64, "mov.u64", "0");
    for (String address : addresses) {
      text.put("or.b64", bits, bits, address);
    }
    text.put("and.b64", bits, bits, Integer.toString(Accesses.WIDEST - 1));
    return text.test("ne.u64", bits, "0");
  }
}
