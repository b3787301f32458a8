package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.List;
import java.util.Locale;

/**
 * Makes the kernel that gives rows of a device their codes. A norm needs it where a block has
 * elements of several groups.
 */
public final class CodeKernel {
  private CodeKernel() {}

  /**
   * {@return the kernel} Its parameters: the rows x, the codes, how many rows there are, and their
   * width.
   *
   * @param type of the rows
   * @param codes what they become, of float32 output that is not stored
   * @param form how threads share rows
   */
  public static PtxKernel of(ElementType type, Codes codes, Form form) {
    PtxText text = new PtxText();
    KernelParameters parameters = new KernelParameters();
    RowPlaces.declareRows(parameters, Forward.X);
    codes.declare(parameters);
    parameters
        .add(KernelParameters.Type.U32, RowKernel.ROWS)
        .add(KernelParameters.Type.U32, RowKernel.WIDTH);
    RowPlaces places = new RowPlaces(text);
    places.addRows(Forward.X, type);
    codes.addTo(places);
    Team team = Team.of(text, form, SumOrder.LANES);
    String rows = text.compute(Kind.B32, "ld.param.u32", "[" + RowKernel.ROWS + "]");
    String width = text.compute(Kind.B32, "ld.param.u32", "[" + RowKernel.WIDTH + "]");
    String end = text.label("END");
    text.branchIf(text.test("ge.u32", team.number(), rows), end);
    places.moveTo(team.number());
    Value element = Value.element(Forward.X, type);
    Stage stage = new Stage.Builder().store(Forward.Y, ElementType.FLOAT32, element).build();
    Accesses accesses = new Accesses(text);
    ValueCode row =
        ValueCode.ofRow(
            text,
            new Numbers(text),
            value -> accesses.load(places.inGlobal(value.tensor()), 0),
            places::computed);
    row.close();
    String base = text.compute(Kind.B32, "mov.u32", RowKernel.SHARED);
    new CodeOutput(text, team, places, codes, base).write(stage, width, row, true);
    text.mark(end);
    text.put("ret");
    String name = ("codes_" + type + "_" + form).toLowerCase(Locale.ROOT);
    String module = PtxKernel.module(name, parameters, true, form.mostThreads(), text);
    int blockBytes = CodeOutput.blockBytes(codes, form);
    return new PtxKernel(name, module, form, team.size(), 1, blockBytes, List.of(), parameters);
  }
}
