package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Makes the kernel that does the rows of a call, from their program. */
public final class RowKernel {
  /** The name of shared memory. */
  static final String SHARED = "shared";

  static final String ROWS = "rows";
  static final String WIDTH = "width";
  static final String PART = "part";
  static final String EPSILON = "epsilon";
  static final String OFFSET = "gain_offset";
  static final String MEAN = "mean_address";
  static final String RSTD = "rstd_address";

  /** From the number of a row to that of the next one. */
  static final String STEP = "statistic_step";

  private final KernelSignature signature;
  private final Program program;
  private final PtxText text = new PtxText();
  private final KernelParameters parameters = new KernelParameters();
  private final Numbers numbers = new Numbers(text);
  private final RowPlaces places = new RowPlaces(text);
  private final Accesses accesses = new Accesses(text);
  private final Team team;
  private final String rows;
  private final String width;
  private final String row;
  private final SharedRows shared;
  private final StageCode stages;

  private RowKernel(KernelSignature signature) {
    this.signature = signature;
    program = signature.program();
    declare();
    team = Team.of(text, signature.form(), signature.teamSize());
    rows = text.compute(Kind.B32, "ld.param.u32", "[" + ROWS + "]");
    width = text.compute(Kind.B32, "ld.param.u32", "[" + WIDTH + "]");
    String part = text.compute(Kind.B32, "ld.param.u32", "[" + PART + "]");
    row = text.register(Kind.B32);
    numbers.set(Forward.K, text.compute(Kind.F64, "cvt.rn.f64.u32", part));
    numbers.set(Forward.EPSILON, text.compute(Kind.F64, "ld.param.f64", "[" + EPSILON + "]"));
    signature.rows().forEach(tensor -> places.addRows(tensor, signature.type(tensor)));
    if (signature.codes() != null) {
      signature.codes().addTo(places);
    }
    columns().forEach(column -> places.addColumn(column, signature.type(column)));
    if (signature.addsOffset()) {
      places.addOffset(OFFSET);
    }
    shared = new SharedRows(text, team, places, signature.shared(), width);
    Codes codes = signature.codes();
    CodeOutput output =
        codes == null ? null : new CodeOutput(text, team, places, codes, shared.end());
    stages = new StageCode(text, team, places, numbers, output, width, part, shared);
  }

  /**
   * {@return the kernel of a signature}
   *
   * @param signature what it is for
   */
  public static PtxKernel of(KernelSignature signature) {
    return new RowKernel(signature).kernel();
  }

  private void declare() {
    for (Tensor tensor : signature.rows()) {
      RowPlaces.declareRows(parameters, tensor);
    }
    if (signature.codes() != null) {
      signature.codes().declare(parameters);
    }
    for (Tensor column : columns()) {
      RowPlaces.declareColumn(parameters, column);
    }
    if (keeps() || signature.hasKeptStatistic()) {
      parameters
          .add(KernelParameters.Type.U64, MEAN)
          .add(KernelParameters.Type.U64, RSTD)
          .add(KernelParameters.Type.U32, STEP);
    }
    parameters
        .add(KernelParameters.Type.U32, ROWS)
        .add(KernelParameters.Type.U32, WIDTH)
        .add(KernelParameters.Type.U32, PART)
        .add(KernelParameters.Type.F64, EPSILON);
    if (signature.addsOffset()) {
      parameters.add(KernelParameters.Type.F64, OFFSET);
    }
  }

  /** Whether the mean and rstd of a row may be wanted. */
  private boolean keeps() {
    return signature.isForward();
  }

  /** The columns that any step reads or adds to. */
  private Collection<Tensor> columns() {
    TreeMap<Tensor, ElementType> columns = new TreeMap<>();
    program.steps().forEach(step -> columns.putAll(step.stage().tensors()));
    columns.keySet().removeIf(tensor -> tensor.access() != Tensor.Access.COLUMN);
    return columns.keySet();
  }

  private PtxKernel kernel() {
    String end = text.label("END");
    int rowsOfTeam = signature.hasColumnSums() ? SumOrder.ROWS : 1;
    if (rowsOfTeam == 1) {
      text.put("mov.u32", row, team.number());
      text.branchIf(text.test("ge.u32", row, rows), end);
      row();
    } else {
      rows(rowsOfTeam, end);
    }
    text.mark(end);
    text.put("ret");
    String name = signature.name();
    int blockBytes = signature.blockBytes();
    List<ElementType> types = signature.shared().stream().map(signature::type).toList();
    boolean hasShared = blockBytes > 0 || !types.isEmpty();
    String module =
        PtxKernel.module(name, parameters, hasShared, signature.form().mostThreads(), text);
    return new PtxKernel(
        name, module, signature.form(), team.size(), rowsOfTeam, blockBytes, types, parameters);
  }

  /** Rows that a team does one after the other, because it adds them up. */
  private void rows(int count, String end) {
    String most = Integer.toString(count);
    text.put("mul.lo.u32", row, team.number(), most);
    text.branchIf(text.test("ge.u32", row, rows), end);
    String stop = text.compute(Kind.B32, "sub.u32", rows, row);
    text.put("min.u32", stop, stop, most);
    text.put("add.u32", stop, stop, row);
    columnSums().forEach(this::clear);
    String loop = text.label("ROW");
    text.mark(loop);
    team.meet(text);
    row();
    text.put("add.u32", row, row, "1");
    text.branchIf(text.test("lt.u32", row, stop), loop);
    if (columnSums().stream().anyMatch(signature.shared()::contains)) {
      team.meet(text);
      columnSums().stream().filter(signature.shared()::contains).forEach(this::write);
    }
  }

  /** The gradients for which rows are added up. */
  private List<Tensor> columnSums() {
    return columns().stream()
        .filter(c -> c.equals(Backward.GAIN_GRADIENT) || c.equals(Backward.BIAS_GRADIENT))
        .toList();
  }

  /** Points at the team's own row of the table of a column, and sets its sums to 0. */
  private void clear(Tensor column) {
    places.moveColumn(column, team.number(), width);
    String zero = signature.float64() ? PtxText.literal(0.0) : PtxText.literal(0f);
    ofColumn("CLEAR", index -> accesses.store(places.target(column).at(text, index, 1), zero));
  }

  /** Writes sums in shared memory to the team's own row of the table. */
  private void write(Tensor column) {
    ofColumn(
        "WRITE",
        index -> {
          String sum = accesses.load(places.source(column).at(text, index, 1), 0);
          accesses.store(places.inGlobal(column).at(text, index, 1), sum);
        });
  }

  /** Does something for each number of a column. */
  private void ofColumn(String what, Consumer<String> code) {
    String index = text.compute(Kind.B32, "mov.u32", team.thread());
    String loop = text.label(what);
    String done = text.label("DONE");
    text.mark(loop);
    text.branchIf(text.test("ge.u32", index, width), done);
    code.accept(index);
    text.put("add.u32", index, index, team.threads());
    text.branch(loop);
    text.mark(done);
  }

  /** All steps of one row. */
  private void row() {
    places.moveTo(row);
    if (signature.hasKeptStatistic()) {
      takeNumbers();
    }
    shared.copy();
    int ranged = program.ranged();
    String outOfRange = text.label("OUT_OF_RANGE");
    String inRange = text.label("IN_RANGE");
    String kept = text.label("KEPT");
    String done = text.label("ROW_DONE");
    for (int s = 0; s < program.steps().size(); s++) {
      Program.Step step = program.steps().get(s);
      for (String out : stages.write(step.stage(), step.extent())) {
        text.branchIf(out, outOfRange);
      }
      if (s == ranged) {
        text.mark(inRange);
        keep(signature.float64() ? numbers.of(Forward.RSTD) : roundedRstd());
        text.mark(kept);
      }
    }
    if (ranged < program.steps().size()) {
      text.branch(done);
      text.mark(outOfRange);
      if (signature.float64()) {
        new Rescale(text, numbers, stages, signature, program.rescaling())
            .write(inRange, kept, done, this::keep);
      } else {
        keep(numbers.of(Forward.RSTD));
        program.wide().forEach(step -> stages.writeRare(step.stage(), step.extent()));
      }
    }
    text.mark(done);
  }

  private String roundedRstd() {
    String rounded = text.compute(Kind.F32, "cvt.rn.f32.f64", numbers.of(Forward.RSTD));
    return text.compute(Kind.F64, "cvt.f64.f32", rounded);
  }

  /** Keeps the mean, or the length, and rstd of the row where they are wanted. */
  private void keep(String rstd) {
    if (!keeps()) {
      return;
    }
    String skip = text.label("NOT_KEPT");
    text.branchIf(text.test("ne.u32", team.thread(), "0"), skip);
    if (signature.keepsMean()) {
      keep(MEAN, numbers.of(Forward.MEAN));
    }
    keep(RSTD, rstd);
    text.mark(skip);
  }

  private void keep(String parameter, String number) {
    String skip = text.label("NOT_WANTED");
    String at = placeOfNumber(parameter, skip);
    text.put("st.global.f64", PtxText.at(at, 0), number);
    text.mark(skip);
  }

  /** The address of the number of the row; continues elsewhere if there are no numbers. */
  private String placeOfNumber(String parameter, String none) {
    String address = text.compute(Kind.B64, "ld.param.u64", "[" + parameter + "]");
    text.branchIf(text.test("eq.u64", address, "0"), none);
    text.put("cvta.to.global.u64", address, address);
    String step = text.compute(Kind.B32, "ld.param.u32", "[" + STEP + "]");
    String at = text.compute(Kind.B64, "mul.wide.u32", row, step);
    text.put("mad.lo.u64", address, at, Integer.toString(Double.BYTES), address);
    return address;
  }

  /** Takes mean and rstd from the forward pass. A mean that it did not keep is 0. */
  private void takeNumbers() {
    String none = text.label("NO_MEAN");
    if (signature.isCentred()) {
      numbers.set(Forward.MEAN, PtxText.literal(0.0));
      take(MEAN, Forward.MEAN, none);
    }
    text.mark(none);
    String always = text.label("TAKEN");
    take(RSTD, Forward.RSTD, always);
    text.mark(always);
  }

  private void take(String parameter, Tensor number, String none) {
    String at = placeOfNumber(parameter, none);
    numbers.set(number, text.compute(Kind.F64, "ld.global.f64", PtxText.at(at, 0)));
  }
}
