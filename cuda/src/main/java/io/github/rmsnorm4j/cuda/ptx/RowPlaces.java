package io.github.rmsnorm4j.cuda.ptx;

import static io.github.rmsnorm4j.cuda.ptx.PtxText.at;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Where the rows and columns of a kernel are: registers with the address of the current row of each
 * tensor, and of each column.
 */
final class RowPlaces {
  /** Bytes of the widest access. */
  static final int WIDEST = 16;

  private final PtxText text;
  private final Narrowing narrowing;

  /** The types in memory. */
  private final Map<Tensor, ElementType> types = new TreeMap<>();

  private final Map<Tensor, String> bases = new HashMap<>();

  /** The parameter of the kernel with what is added to the gain; null if nothing is. */
  private String offset;

  RowPlaces(PtxText text) {
    this.text = text;
    narrowing = new Narrowing(text);
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
    for (Tensor tensor : types.keySet()) {
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

  /** Registers with the address of an element of each tensor. */
  Map<Tensor, String> addresses(Collection<Tensor> tensors, String index, int elements) {
    Map<Tensor, String> addresses = new TreeMap<>();
    for (Tensor tensor : tensors) {
      String step = Integer.toString(type(tensor).bytes() * elements);
      addresses.put(tensor, text.compute(Kind.B64, "mad.wide.u32", index, step, bases.get(tensor)));
    }
    return addresses;
  }

  /** A predicate: the current row of some tensor does not begin at a multiple of 16 bytes. */
  String isUnaligned(Collection<Tensor> tensors) {
    String bits = text.compute(Kind.B64, "mov.u64", "0");
    for (Tensor tensor : tensors) {
      text.put("or.b64", bits, bits, bases.get(tensor));
    }
    text.put("and.b64", bits, bits, Integer.toString(WIDEST - 1));
    return text.test("ne.u64", bits, "0");
  }

  /** Loads one number. */
  String load(Tensor tensor, String address, int offset) {
    return switch (type(tensor)) {
      case FLOAT32 -> text.compute(Kind.F32, "ld.global.f32", at(address, offset));
      case FLOAT64 -> text.compute(Kind.F64, "ld.global.f64", at(address, offset));
      case FLOAT16, BFLOAT16 -> {
        String pattern = text.compute(Kind.B16, "ld.global.u16", at(address, offset));
        String bits = text.compute(Kind.B32, "cvt.u32.u16", pattern);
        yield narrowing.widened(bits, type(tensor));
      }
    };
  }

  /** Loads the number of element 0 of the row. */
  String first(Value element) {
    return load(element.tensor(), bases.get(element.tensor()), 0);
  }

  /** Stores one number, as {@link ValueCode#stored} gives it. */
  void store(Tensor tensor, String address, String number) {
    switch (type(tensor)) {
      case FLOAT32 -> text.put("st.global.f32", at(address, 0), number);
      case FLOAT64 -> text.put("st.global.f64", at(address, 0), number);
      case FLOAT16, BFLOAT16 -> {
        String pattern = text.compute(Kind.B16, "cvt.u16.u32", number);
        text.put("st.global.u16", at(address, 0), pattern);
      }
    }
  }

  /** Loads numbers that are one after the other, by accesses of 16 bytes. */
  String[] load(Tensor tensor, String address, int offset, int count) {
    String[] numbers = new String[count];
    int ofAccess = WIDEST / type(tensor).bytes();
    for (int k = 0; k < count; k += ofAccess) {
      int from = offset + k * type(tensor).bytes();
      switch (type(tensor)) {
        case FLOAT32 -> wide("ld.global.v4.f32", Kind.F32, address, from, numbers, k, 4);
        case FLOAT64 -> wide("ld.global.v2.f64", Kind.F64, address, from, numbers, k, 2);
        case FLOAT16, BFLOAT16 -> {
          String[] pairs = new String[4];
          wide("ld.global.v4.u32", Kind.B32, address, from, pairs, 0, 4);
          for (int p = 0; p < pairs.length; p++) {
            String[] two = narrowing.widenedPair(pairs[p], type(tensor));
            System.arraycopy(two, 0, numbers, k + 2 * p, 2);
          }
        }
      }
    }
    return numbers;
  }

  private void wide(
      String load, Kind kind, String address, int offset, String[] into, int from, int count) {
    for (int k = from; k < from + count; k++) {
      into[k] = text.register(kind);
    }
    text.put(load, list(into, from, count), at(address, offset));
  }

  private static String list(String[] registers, int from, int count) {
    return "{" + String.join(", ", Arrays.asList(registers).subList(from, from + count)) + "}";
  }

  /** Stores numbers that are one after the other, by accesses of 16 bytes. */
  void store(Tensor tensor, String address, String[] numbers) {
    int ofAccess = WIDEST / type(tensor).bytes();
    for (int k = 0; k < numbers.length; k += ofAccess) {
      String place = at(address, k * type(tensor).bytes());
      switch (type(tensor)) {
        case FLOAT32 -> text.put("st.global.v4.f32", place, list(numbers, k, 4));
        case FLOAT64 -> text.put("st.global.v2.f64", place, list(numbers, k, 2));
        case FLOAT16, BFLOAT16 -> {
          String[] pairs = new String[4];
          for (int p = 0; p < pairs.length; p++) {
            pairs[p] = narrowing.pair(numbers[k + 2 * p], numbers[k + 2 * p + 1]);
          }
          text.put("st.global.v4.u32", place, list(pairs, 0, 4));
        }
      }
    }
  }

  /** The tensors of a stage that are in memory. */
  static Collection<Tensor> tensors(Stage stage) {
    return stage.tensors().keySet();
  }
}
