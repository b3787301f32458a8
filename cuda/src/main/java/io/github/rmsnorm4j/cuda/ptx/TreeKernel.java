package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.driver.LaunchShape;
import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import java.util.List;

/**
 * Adds the sums of blocks of 32 rows, which a backward kernel leaves in a table, as the tree of
 * docs/numerics.md: node(l, k) = node(l - 1, 2k) + node(l - 1, 2k + 1). A block of threads has 32
 * columns; 32 threads share a column.
 */
public final class TreeKernel {
  /** Columns of a block of threads, and threads that share a column. */
  private static final int SIDE = 32;

  private final PtxText text = new PtxText();
  private final KernelParameters parameters = new KernelParameters();
  private final boolean float64;
  private final String bytes;

  private TreeKernel(ElementType arithmetic) {
    float64 = arithmetic == ElementType.FLOAT64;
    bytes = Integer.toString(arithmetic.bytes());
    parameters
        .add(KernelParameters.Type.U64, "table_address")
        .add(KernelParameters.Type.U64, "gradient_address")
        .add(KernelParameters.Type.U32, "blocks")
        .add(KernelParameters.Type.U32, "width")
        .add(KernelParameters.Type.U32, "adds");
  }

  /**
   * {@return the kernel for sums of a compute type} Its parameters: the table, which it changes;
   * where the gradient goes, of the compute type; how many blocks of 32 rows there are; the width
   * of the rows; and 1 where the sums are added to the gradient, 0 where they replace it.
   *
   * @param arithmetic float32 or float64
   */
  public static PtxKernel of(ElementType arithmetic) {
    return new TreeKernel(arithmetic).kernel();
  }

  /**
   * {@return the bytes of the table for the sums of rows; of the gain, and as many of the bias}
   *
   * @param rows of the call
   * @param width of a row
   * @param arithmetic float32 or float64
   */
  public static long tableBytes(long rows, int width, ElementType arithmetic) {
    return blocks(rows) * width * arithmetic.bytes();
  }

  /**
   * {@return how many blocks of 32 rows there are}
   *
   * @param rows of the call
   */
  public static long blocks(long rows) {
    return (rows + SumOrder.ROWS - 1) / SumOrder.ROWS;
  }

  /**
   * {@return the launch for rows of a width}
   *
   * @param width of a row
   */
  public static LaunchShape launch(int width) {
    return new LaunchShape((int) (((long) width + SIDE - 1) / SIDE), SIDE * SIDE, 0);
  }

  private PtxKernel kernel() {
    String table = pointer("table_address");
    String blocks = text.compute(Kind.B32, "ld.param.u32", "[blocks]");
    String width = text.compute(Kind.B32, "ld.param.u32", "[width]");
    String thread = text.compute(Kind.B32, "mov.u32", "%tid.x");
    String x = text.compute(Kind.B32, "and.b32", thread, "31");
    String y = text.compute(Kind.B32, "shr.u32", thread, "5");
    String block = text.compute(Kind.B32, "mov.u32", "%ctaid.x");
    String column = text.compute(Kind.B32, "mad.lo.u32", block, Integer.toString(SIDE), x);
    String outside = text.test("ge.u32", column, width);
    String place = text.compute(Kind.B64, "mad.wide.u32", column, bytes, table);
    String rowBytes = text.compute(Kind.B64, "mul.wide.u32", width, bytes);
    levels(blocks, y, outside, place, rowBytes);
    root(blocks, y, outside, place, column);
    text.mark("END");
    text.put("ret");
    String name = "column_sums_" + (float64 ? "float64" : "float32");
    String module = PtxKernel.module(name, parameters, false, SIDE * SIDE, text);
    return new PtxKernel(name, module, Form.BLOCK, SumOrder.LANES, 0, 0, List.of(), parameters);
  }

  private String pointer(String parameter) {
    String address = text.compute(Kind.B64, "ld.param.u64", "[" + parameter + "]");
    return text.compute(Kind.B64, "cvta.to.global.u64", address);
  }

  /** Adds right siblings to left ones, a level of the tree after the other. */
  private void levels(String blocks, String y, String outside, String place, String rowBytes) {
    String all = text.compute(Kind.B64, "cvt.u64.u32", blocks);
    String step = text.compute(Kind.B64, "mov.u64", "1");
    text.mark("LEVEL");
    text.branchIf(text.test("ge.u64", step, all), "ROOT");
    text.branchIf(outside, "NEXT_LEVEL");
    String wide = text.compute(Kind.B64, "shl.b64", step, "1");
    String node = text.compute(Kind.B64, "cvt.u64.u32", y);
    text.put("mul.lo.u64", node, node, wide);
    String stride = text.compute(Kind.B64, "shl.b64", wide, "5");
    text.mark("NODE");
    String sibling = text.compute(Kind.B64, "add.u64", node, step);
    text.branchIf(text.test("ge.u64", sibling, all), "NEXT_LEVEL");
    String left = text.compute(Kind.B64, "mad.lo.u64", node, rowBytes, place);
    String right = text.compute(Kind.B64, "mad.lo.u64", sibling, rowBytes, place);
    store(left, add(load(left), load(right)));
    text.put("add.u64", node, node, stride);
    text.branch("NODE");
    text.mark("NEXT_LEVEL");
    text.put("bar.sync", "0");
    text.put("shl.b64", step, step, "1");
    text.branch("LEVEL");
  }

  /** The sum of no rows is 0, and is not added, because that would turn -0 into +0. */
  private void root(String blocks, String y, String outside, String place, String column) {
    text.mark("ROOT");
    text.branchIf(outside, "END");
    text.branchIf(text.test("ne.u32", y, "0"), "END");
    String gradient = pointer("gradient_address");
    text.put("mad.wide.u32", gradient, column, bytes, gradient);
    String adds = text.compute(Kind.B32, "ld.param.u32", "[adds]");
    String assigned = text.test("eq.u32", adds, "0");
    String sum = text.register(float64 ? Kind.F64 : Kind.F32);
    text.put("mov." + type(), sum, float64 ? PtxText.literal(0.0) : PtxText.literal(0f));
    text.branchIf(text.test("ne.u32", blocks, "0"), "SOME");
    text.branchIf(assigned, "STORE");
    text.branch("END");
    text.mark("SOME");
    text.put("ld.global." + type(), sum, PtxText.at(place, 0));
    text.branchIf(assigned, "STORE");
    text.put("add.rn." + type(), sum, load(gradient), sum);
    text.mark("STORE");
    store(gradient, sum);
  }

  private String type() {
    return float64 ? "f64" : "f32";
  }

  private String load(String address) {
    return text.compute(
        float64 ? Kind.F64 : Kind.F32, "ld.global." + type(), PtxText.at(address, 0));
  }

  private void store(String address, String number) {
    text.put("st.global." + type(), PtxText.at(address, 0), number);
  }

  private String add(String a, String b) {
    return text.compute(float64 ? Kind.F64 : Kind.F32, "add.rn." + type(), a, b);
  }
}
