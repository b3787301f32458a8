package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.driver.LaunchShape;
import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import java.util.List;

/**
 * Adds 32 rows in float32, and leaves the sums as a row of a table that {@link TreeKernel} adds up.
 * A block of threads has the 32 rows; a thread has every 256th column.
 */
public final class ColumnSumKernel {
  private static final int THREADS = 256;

  private final PtxText text = new PtxText();
  private final KernelParameters parameters = new KernelParameters();
  private final RowPlaces places = new RowPlaces(text);
  private final ElementType type;

  private ColumnSumKernel(ElementType type) {
    this.type = type;
    RowPlaces.declareRows(parameters, Forward.X);
    parameters
        .add(KernelParameters.Type.U64, "table_address")
        .add(KernelParameters.Type.U32, "rows")
        .add(KernelParameters.Type.U32, "width");
  }

  /**
   * {@return the kernel for rows of a type} Its parameters: the rows x, the table, and the number
   * and width of rows.
   *
   * @param type float32, float16 or bfloat16
   */
  public static PtxKernel of(ElementType type) {
    return new ColumnSumKernel(type).kernel();
  }

  /**
   * {@return the launch for rows}
   *
   * @param rows at least 1
   */
  public static LaunchShape launch(int rows) {
    return new LaunchShape((int) TreeKernel.blocks(rows), THREADS, 0);
  }

  private PtxKernel kernel() {
    places.addRows(Forward.X, type);
    String rows = text.compute(Kind.B32, "ld.param.u32", "[rows]");
    String width = text.compute(Kind.B32, "ld.param.u32", "[width]");
    String table = text.compute(Kind.B64, "ld.param.u64", "[table_address]");
    text.put("cvta.to.global.u64", table, table);
    String block = text.compute(Kind.B32, "mov.u32", "%ctaid.x");
    String first = text.compute(Kind.B32, "mul.lo.u32", block, Integer.toString(SumOrder.ROWS));
    String stop = text.compute(Kind.B32, "sub.u32", rows, first);
    text.put("min.u32", stop, stop, Integer.toString(SumOrder.ROWS));
    text.put("add.u32", stop, stop, first);
    String place = text.compute(Kind.B64, "mul.wide.u32", block, width);
    text.put("mad.lo.u64", table, place, Integer.toString(Float.BYTES), table);
    String column = text.compute(Kind.B32, "mov.u32", "%tid.x");
    text.mark("COLUMN");
    text.branchIf(text.test("ge.u32", column, width), "END");
    String sum = sum(first, stop, column);
    String at =
        text.compute(Kind.B64, "mad.wide.u32", column, Integer.toString(Float.BYTES), table);
    text.put("st.global.f32", PtxText.at(at, 0), sum);
    text.put("add.u32", column, column, Integer.toString(THREADS));
    text.branch("COLUMN");
    text.mark("END");
    text.put("ret");
    String name = "sums_of_32_rows_" + type.shortName();
    String module = PtxKernel.module(name, parameters, false, THREADS, text);
    return new PtxKernel(
        name, module, Form.BLOCK, SumOrder.LANES, SumOrder.ROWS, 0, List.of(), parameters);
  }

  private String sum(String first, String stop, String column) {
    String sum = text.compute(Kind.F32, "mov.f32", PtxText.literal(0f));
    String row = text.compute(Kind.B32, "mov.u32", first);
    text.mark("ROW");
    places.moveTo(row);
    Place at = places.inGlobal(Forward.X).at(text, column, 1);
    text.put("add.rn.f32", sum, sum, new Accesses(text).load(at, 0));
    text.put("add.u32", row, row, "1");
    text.branchIf(text.test("lt.u32", row, stop), "ROW");
    return sum;
  }
}
