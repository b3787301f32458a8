package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Listings;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** The hidden class with the loops of a stage, and its listing. */
final class LoopClass {
  private static final AtomicInteger COUNT = new AtomicInteger();

  /** Parameters of all methods. */
  static final int FRAME = 0;

  /** {@code numbers}: the rows. */
  private static final int FROM_ROW = 1;

  private static final int TO_ROW = 2;

  /** Loops: the row, and whether they read and write the caller's arrays. */
  private static final int ROW = 1;

  private static final int DIRECT = 2;

  /** {@code loop}: the first index of floats, that of doubles, and the number of elements. */
  private static final int AT = 3;

  private static final int COLUMN = 4;
  private static final int N = 5;

  /** {@code lanes}: the elements. */
  private static final int FROM = 3;

  private static final int TO = 4;

  private final LoopPlan plan;
  private final List<Value> firsts;
  private final StringBuilder text = new StringBuilder();
  private final String name;

  /**
   * A class.
   *
   * @param firsts the values at element 0 of a row, which a frame has in this order
   */
  LoopClass(LoopPlan plan, List<Value> firsts) {
    this.plan = plan;
    this.firsts = firsts;
    String kind = !plan.stage().hasElements() ? "numbers" : hasSums() ? "sums" : "rows";
    name = "loops_" + kind + "_" + COUNT.incrementAndGet();
  }

  private boolean hasSums() {
    return !plan.stage().sums().isEmpty();
  }

  /** Defines it, and writes the listing. */
  MethodHandles.Lookup define() {
    ClassDesc type = ClassDesc.of(LoopClass.class.getPackageName(), name);
    byte[] bytes =
        ClassFile.of()
            .build(
                type,
                builder -> {
                  builder.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SYNTHETIC);
                  builder.with(SourceFileAttribute.of(name + ".txt"));
                  methods(builder);
                });
    Listings.write(name, text, List.of(plan.stage()));
    try {
      return MethodHandles.lookup().defineHiddenClass(bytes, true);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("loops " + name + " cannot be made", e);
    }
  }

  private void methods(ClassBuilder builder) {
    method(builder, "numbers", CD_boolean, 2, this::numbers);
    for (int r = 0; plan.stage().hasElements() && r < plan.rounds().size(); r++) {
      int round = r;
      method(builder, "loop" + r, CD_void, 5, code -> loop(code, round));
    }
    if (plan.terms() > 0) {
      method(builder, "lanes", CD_void, 4, this::lanes);
    }
  }

  private void method(
      ClassBuilder builder, String method, ClassDesc result, int ints, Consumer<Code> body) {
    text.append(method).append(":\n");
    builder.withMethodBody(
        method,
        MethodTypeDesc.of(result, Code.ints(new ClassDesc[] {Code.FRAME}, ints)),
        ClassFile.ACC_STATIC,
        c -> body.accept(new Code(c, text, 1 + ints)));
  }

  /** Reads what a row has one of. */
  private boolean ofRow(Code code, int row, Value value) {
    switch (value.kind()) {
      case ROW -> {
        code.element(FRAME, "ofRow", CD_double.arrayType(), value.tensor().place());
        code.c.iload(row).daload();
      }
      case CALL -> code.element(FRAME, "ofCall", CD_double, value.tensor().place());
      case FIRST -> {
        code.element(FRAME, "firsts", CD_double, firsts.indexOf(value));
        if (!value.float64()) {
          code.c.d2f();
        }
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  /** Keeps numbers of rows; returns whether all rows are in range. */
  private void numbers(Code code) {
    CodeBuilder c = code.c;
    int inRange = code.constant(1);
    code.loop(
        "row",
        FROM_ROW,
        TO_ROW,
        1,
        row -> {
          LoopValues values = new LoopValues(code, value -> ofRow(code, row, value));
          for (Stage.Statement statement : plan.stage().statements()) {
            if (statement instanceof Stage.Keep(Tensor number, Value value)) {
              code.line("%s = %s", number, value.text());
              int local = values.local(value);
              code.element(FRAME, "ofRow", CD_double.arrayType(), number.place());
              c.iload(row).dload(local).dastore();
            } else if (statement instanceof Stage.Range range) {
              code.line("%s in %s to %s", range.value().text(), range.least(), range.greatest());
              range(code, values.local(range.value()), range, inRange);
            }
          }
        });
    c.iload(inRange).ireturn();
  }

  private static void range(Code code, int local, Stage.Range range, int inRange) {
    Label out = code.c.newLabel();
    Label end = code.c.newLabel();
    code.c.dload(local).loadConstant(range.least()).dcmpl().iflt(out);
    code.c.dload(local).loadConstant(range.greatest()).dcmpg().ifle(end);
    code.c.labelBinding(out).iconst_0().istore(inRange).labelBinding(end);
  }

  private LoopValues ofRow(Code code) {
    LoopValues values = new LoopValues(code, value -> ofRow(code, ROW, value));
    for (Value value : plan.stage().rowValues()) {
      code.line("%s", value.text());
      values.local(value);
    }
    return values;
  }

  /** Computes the values of a round, and saves them. */
  private void loop(Code code, int round) {
    CodeBuilder c = code.c;
    LoopValues ofRow = ofRow(code);
    Map<Integer, Integer> locals = new HashMap<>();
    for (int array : used(round)) {
      locals.put(array, array(code, array));
    }
    int from = code.constant(0);
    code.loop(
        "i",
        from,
        N,
        1,
        i -> {
          LoopValues values =
              new LoopValues(
                  ofRow,
                  value -> {
                    Integer array = plan.array(value, round);
                    if (array != null) {
                      at(code, array, locals.get(array), i);
                      load(code, array, value);
                    }
                    return array != null;
                  });
          List<LoopPlan.Saved> saved = plan.rounds().get(round).saved();
          for (LoopPlan.Saved s : saved) {
            code.line("%s", s.value().text());
            values.local(s.value());
          }
          for (LoopPlan.Saved s : saved) {
            boolean doubles = plan.arrays().get(s.array()).doubles();
            at(code, s.array(), locals.get(s.array()), i);
            values.push(s.value(), doubles);
            c.arrayStore(LoopValues.kind(doubles));
          }
        });
    c.return_();
  }

  /** Leaves an array and an index on the stack. */
  private void at(Code code, int array, int local, int i) {
    boolean ofColumns = plan.arrays().get(array).doubles() && !plan.float64();
    code.c.aload(local).iload(ofColumns ? COLUMN : AT).iload(i).iadd();
  }

  private void load(Code code, int array, Value value) {
    boolean doubles = plan.arrays().get(array).doubles();
    code.c.arrayLoad(LoopValues.kind(doubles));
    if (doubles && !value.float64()) {
      code.c.d2f();
    }
  }

  /** The arrays of a round. */
  private Set<Integer> used(int round) {
    Set<Integer> used = new LinkedHashSet<>();
    for (LoopPlan.Saved saved : plan.rounds().get(round).saved()) {
      used(saved.value(), round, used);
      used.add(saved.array());
    }
    return used;
  }

  private void used(Value value, int round, Set<Integer> into) {
    if (!value.perElement()) {
      return;
    }
    Integer array = plan.array(value, round);
    if (array != null) {
      into.add(array);
      return;
    }
    value.operands().forEach(operand -> used(operand, round, into));
  }

  /** A local with an array: the caller's, or one of the frame. */
  private int array(Code code, int array) {
    LoopPlan.Array of = plan.arrays().get(array);
    CodeBuilder c = code.c;
    ClassDesc type = (of.doubles() ? CD_double : CD_float).arrayType();
    int slot = plan.slot(array);
    Label own = c.newLabel();
    Label end = c.newLabel();
    if (slot >= 0 && (of.kind() != LoopPlan.Kind.COLUMNS || plan.mayReachColumns())) {
      c.iload(DIRECT).ifeq(own);
      code.element(FRAME, "base", CD_Object, slot).c.checkcast(type).goto_(end);
    }
    c.labelBinding(own);
    code.element(FRAME, of.doubles() ? "doubleStrips" : "floatStrips", type, array);
    c.labelBinding(end);
    return code.store();
  }

  /** Adds the terms of elements to the lanes of the sums. */
  private void lanes(Code code) {
    LoopValues ofRow = ofRow(code);
    Map<Integer, Integer> locals = new HashMap<>();
    Map<Integer, Integer> starts = new HashMap<>();
    for (int array = 0; array < plan.arrays().size(); array++) {
      if (plan.arrays().get(array).kind() == LoopPlan.Kind.ROWS) {
        locals.put(array, array(code, array));
        starts.put(array, start(code, array));
      }
    }
    code.field(FRAME, "sumLanes", CD_double.arrayType());
    int lanes = code.store();
    int i = code.local(TypeKind.INT);
    code.c.iload(FROM).istore(i);
    for (int terms = plan.terms(); terms > 0; terms /= 2) {
      int step = terms * SumOrder.LANES;
      code.c.iload(TO).iload(TO).iload(i).isub().loadConstant(step).irem().isub();
      int to = code.storeInt();
      int count = terms;
      code.loop("i", i, to, step, () -> lanes(code, ofRow, locals, starts, lanes, i, count));
    }
    code.c.return_();
  }

  /** The index of element 0 of a row. */
  private int start(Code code, int array) {
    CodeBuilder c = code.c;
    Label own = c.newLabel();
    Label end = c.newLabel();
    int slot = plan.slot(array);
    c.iload(DIRECT).ifeq(own);
    code.element(FRAME, "offset", CD_long, slot);
    c.iload(ROW).i2l();
    code.element(FRAME, "stride", CD_long, slot);
    c.lmul().ladd().loadConstant(plan.float64() ? 3 : 2).lshr().l2i().goto_(end);
    c.labelBinding(own).iconst_0().labelBinding(end);
    return code.storeInt();
  }

  private void lanes(
      Code code,
      LoopValues ofRow,
      Map<Integer, Integer> locals,
      Map<Integer, Integer> starts,
      int lanes,
      int i,
      int terms) {
    CodeBuilder c = code.c;
    Map<Integer, Integer> bases = new HashMap<>();
    starts.forEach(
        (array, start) -> {
          c.iload(start).iload(i).iadd();
          bases.put(array, code.storeInt());
        });
    int zero = code.constant(0);
    int end = code.constant(SumOrder.LANES);
    code.loop(
        "lane",
        zero,
        end,
        1,
        lane -> {
          int[] sums = new int[plan.stage().sums().size()];
          for (int s = 0; s < sums.length; s++) {
            c.aload(lanes).iload(lane).loadConstant(s * SumOrder.LANES).iadd().daload();
            sums[s] = code.store(TypeKind.DOUBLE);
          }
          for (int t = 0; t < terms; t++) {
            int apart = t * SumOrder.LANES;
            LoopValues values =
                new LoopValues(
                    ofRow,
                    value -> {
                      Integer array = plan.array(value, 0);
                      if (array != null) {
                        c.aload(locals.get(array)).iload(bases.get(array)).iload(lane).iadd();
                        c.loadConstant(apart).iadd().arrayLoad(LoopValues.kind(value.float64()));
                      }
                      return array != null;
                    });
            for (int s = 0; s < sums.length; s++) {
              Stage.Sum sum = plan.stage().sums().get(s);
              code.line("%s += %s", sum.number(), sum.value().text());
              int term = values.local(sum.value());
              c.dload(sums[s]).dload(term).dadd().dstore(sums[s]);
            }
          }
          for (int s = 0; s < sums.length; s++) {
            c.aload(lanes).iload(lane).loadConstant(s * SumOrder.LANES).iadd();
            c.dload(sums[s]).dastore();
          }
        });
  }
}
