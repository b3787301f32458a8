package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;

/**
 * The elements of rows after the last whole 32, one by one, and the numbers that are kept of each
 * row, or its range: {@code tail(frame, rows, from, to)}.
 */
final class TailLoop {
  static final int FRAME = 0;
  static final int ROWS = 1;
  static final int FROM = 2;
  static final int TO = 3;

  private final Stage stage;
  private final boolean evenFirst;
  private final Code code;
  private final CodeBuilder c;

  TailLoop(Stage stage, boolean evenFirst, Code code) {
    this.stage = stage;
    this.evenFirst = evenFirst;
    this.code = code;
    c = code.c;
  }

  void emit() {
    if (stage.hasRanges()) {
      c.aload(FRAME).iconst_0().putfield(Code.FRAME, "outOfRange", CD_boolean);
    }
    code.loop(
        "row",
        code.constant(0),
        ROWS,
        1,
        row -> {
          keep(row);
          Scalars ofRow = new Scalars(code, FRAME, row, -1);
          for (Stage.Statement statement : stage.statements()) {
            if (statement instanceof Stage.Range range) {
              ofRow.ifOut(
                  range,
                  () -> c.aload(FRAME).iconst_1().putfield(Code.FRAME, "outOfRange", CD_boolean));
            }
          }
          if (stage.hasElements()) {
            stage.rowValues().forEach(ofRow::know);
            elements(row, ofRow);
          }
        });
    c.return_();
  }

  /** If no elements come before these: otherwise the per-row scalars are kept already. */
  private void keep(int row) {
    Label kept = c.newLabel();
    c.iload(FROM).ifne(kept);
    new Scalars(code, FRAME, row, -1).keep(stage);
    c.labelBinding(kept);
  }

  private void elements(int row, Scalars ofRow) {
    code.loop(
        "i",
        FROM,
        TO,
        1,
        i -> {
          Scalars scalars = ofRow.at(i);
          int sum = 0;
          for (Stage.Statement statement : stage.statements()) {
            switch (statement) {
              case Stage.Sum s -> add(s, sum++, scalars, row, i);
              case Stage.Store s -> scalars.store(s);
              case Stage.ColumnSum s -> add(s, scalars);
              default -> {}
            }
          }
        });
  }

  private void add(Stage.Sum s, int index, Scalars scalars, int row, int i) {
    code.line("%s: lane i %% 32 += %s", s.number(), s.value().text());
    code.element(FRAME, "lanes", CD_double.arrayType(), index);
    c.iload(i).loadConstant(SumOrder.LANES - 1).iand();
    if (evenFirst) {
      code.call(RowSum.class, "evenFirst", CD_int, CD_int);
    }
    c.iload(row).loadConstant(SumOrder.LANES).imul().iadd();
    c.dup2().daload();
    scalars.push(s.value());
    c.dadd().dastore();
  }

  private void add(Stage.ColumnSum s, Scalars scalars) {
    code.line("%s[i] += %s", s.column(), s.value().text());
    boolean float64 = s.value().float64();
    ClassDesc type = float64 ? CD_double : CD_float;
    scalars.column(s.column(), type);
    c.dup2();
    if (float64) {
      c.daload();
      scalars.push(s.value());
      c.dadd().dastore();
    } else {
      c.faload();
      scalars.push(s.value());
      c.fadd().fastore();
    }
  }
}
