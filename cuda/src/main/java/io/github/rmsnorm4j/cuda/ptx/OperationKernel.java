package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Makes the kernel of one operation on all rows, as a framework without fusion has kernels: it
 * reads whole tensors, and writes one or a number for each row.
 */
public final class OperationKernel {
  private static final String NUMBERS = "numbers_address";

  private final PtxText text = new PtxText();
  private final KernelParameters parameters = new KernelParameters();
  private final Numbers numbers = new Numbers(text);
  private final RowPlaces places = new RowPlaces(text);
  private final String name;
  private final Map<Tensor, ElementType> types;
  private final Form form;

  private OperationKernel(String name, Map<Tensor, ElementType> types, int width) {
    this.name = name;
    this.types = types;
    form = Form.of(width, true);
  }

  /**
   * {@return the kernel of an operation}
   *
   * @param name for messages, and for the entry point
   * @param steps what is done to a row
   * @param types of its rows and columns in memory
   * @param read the number of a row that comes from memory; null without
   * @param kept the number of a row that goes there; null without
   * @param width of a row
   */
  public static PtxKernel of(
      String name,
      List<Program.Step> steps,
      Map<Tensor, ElementType> types,
      Tensor read,
      Tensor kept,
      int width) {
    return new OperationKernel(name, types, width).kernel(steps, read, kept);
  }

  /**
   * {@return the parameters of a launch that are not rows or columns}
   *
   * @param kernel the kernel
   * @param numbers the address of the numbers of rows, in float64; 0 without
   * @param rows how many
   * @param width of each
   * @param epsilon what is added to numbers
   */
  public static Arguments arguments(
      PtxKernel kernel, long numbers, int rows, int width, double epsilon) {
    return new Arguments(kernel.parameters())
        .set(NUMBERS, numbers)
        .set(RowKernel.ROWS, rows)
        .set(RowKernel.WIDTH, width)
        .set(RowKernel.EPSILON, epsilon);
  }

  private PtxKernel kernel(List<Program.Step> steps, Tensor read, Tensor kept) {
    declare();
    Team team = Team.of(text, form, SumOrder.LANES);
    String rows = text.compute(Kind.B32, "ld.param.u32", "[" + RowKernel.ROWS + "]");
    String width = text.compute(Kind.B32, "ld.param.u32", "[" + RowKernel.WIDTH + "]");
    numbers.set(Forward.K, text.compute(Kind.F64, "cvt.rn.f64.u32", width));
    numbers.set(
        Forward.EPSILON, text.compute(Kind.F64, "ld.param.f64", "[" + RowKernel.EPSILON + "]"));
    SharedRows none = new SharedRows(text, team, places, Set.of(), width);
    StageCode stages = new StageCode(text, team, places, numbers, null, width, width, none);
    String end = text.label("END");
    text.branchIf(text.test("ge.u32", team.number(), rows), end);
    places.moveTo(team.number());
    if (read != null) {
      numbers.set(
          read, text.compute(Kind.F64, "ld.global.f64", PtxText.at(number(team.number()), 0)));
    }
    steps.forEach(step -> stages.write(step.stage(), step.extent()));
    if (kept != null) {
      text.branchIf(text.test("ne.u32", team.thread(), "0"), end);
      text.put("st.global.f64", PtxText.at(number(team.number()), 0), numbers.of(kept));
    }
    text.mark(end);
    text.put("ret");
    int sums = steps.stream().mapToInt(step -> step.stage().sums().size()).max().orElse(0);
    int blockBytes = form == Form.BLOCK ? sums * RowSums.LANES_BYTES : 0;
    String module = PtxKernel.module(name, parameters, true, form.mostThreads(), text);
    return new PtxKernel(name, module, form, team.size(), 1, blockBytes, List.of(), parameters);
  }

  private void declare() {
    types.forEach(
        (tensor, type) -> {
          if (tensor.access() == Tensor.Access.COLUMN) {
            RowPlaces.declareColumn(parameters, tensor);
            places.addColumn(tensor, type);
          } else {
            RowPlaces.declareRows(parameters, tensor);
            places.addRows(tensor, type);
          }
        });
    parameters
        .add(KernelParameters.Type.U64, NUMBERS)
        .add(KernelParameters.Type.U32, RowKernel.ROWS)
        .add(KernelParameters.Type.U32, RowKernel.WIDTH)
        .add(KernelParameters.Type.F64, RowKernel.EPSILON);
  }

  /** The address of the number of a row. */
  private String number(String row) {
    String address = text.compute(Kind.B64, "ld.param.u64", "[" + NUMBERS + "]");
    text.put("cvta.to.global.u64", address, address);
    return text.compute(Kind.B64, "mad.wide.u32", row, Integer.toString(Double.BYTES), address);
  }
}
