package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.formats.DequantizedFile;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.measure.Paragraph;
import io.github.rmsnorm4j.models.rows.Quantiles;
import io.github.rmsnorm4j.models.rows.RowStatistics;
import io.github.rmsnorm4j.report.Records;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rmsnorm stats}: what the rows of a file are like. */
@Command(
    name = "stats",
    description = {
      "Show what the rows of a file's tensors are like, and whether LayerNorm or RMSNorm matters.",
      "",
      "rho is mean^2 / mean square of a row: the part that LayerNorm removes and RMSNorm keeps. The"
          + " gap is the distance between the outputs of the two norms, sqrt(2 - 2 sqrt(1 - rho)),"
          + " where an output has size 1. The length of a row of n elements is its L2 norm,"
          + " sqrt(n) RMS. Quantiles are interpolated between rows. With more than"
          + " 65536 rows they are nearest ranks, right to 0.2 %%. Rows that are zero or not finite"
          + " do not count in the quantiles.",
      "",
      "A tensor of one axis is taken for a gain or a bias: it is measured, but gets no verdict.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm stats hidden.npy",
      "  rmsnorm stats acts.safetensors:layer.0 --axis -2",
      "  rmsnorm stats acts.safetensors --tensor layer.0",
      "  rmsnorm stats model.gguf:output_norm.weight"
    })
final class Stats implements Callable<Integer> {
  /** A gap that is called one: a twentieth of an output's size. */
  private static final double MUCH = 0.05;

  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "FILE[:NAME]",
      description =
          "A .npy, .safetensors or GGUF file, the folder or index of a model, or one tensor of it.")
  private String reference;

  @Option(
      names = "--tensor",
      paramLabel = "NAME",
      description =
          "A tensor to measure, as FILE:NAME chooses it too; may be repeated (default: all).")
  private List<String> tensors = List.of();

  @Option(
      names = "--axis",
      paramLabel = "N",
      description = "The first axis of a row (default: ${DEFAULT-VALUE}, only the last axis).")
  private int axis = -1;

  @Mixin private JsonOption json;

  /** What goes to programs. */
  record MeasuredFile(String file, List<MeasuredTensor> tensors) {}

  /** A tensor: why it has no rows, or what its rows are like. */
  record MeasuredTensor(
      String name,
      Dtype dtype,
      List<Long> shape,
      Optional<String> problem,
      Optional<MeasuredRows> rows) {}

  /** Zero rows, and those that are not finite, have no quantiles. */
  record MeasuredRows(
      long count,
      long width,
      Map<String, Map<String, Double>> quantiles,
      long zeroRows,
      long nonFiniteRows,
      long nonFiniteElements) {}

  @Override
  public Integer call() throws IOException {
    TensorReference wanted =
        WrongUseException.checked(() -> TensorReference.parse("FILE", reference));
    List<MeasuredTensor> measured = new ArrayList<>();
    List<String> lines = new ArrayList<>();
    try (TensorFile file = DequantizedFile.open(wanted.file());
        JsonOption.JsonOutput data = json.begin(spec.commandLine())) {
      TensorChoice choice = new TensorChoice(file, axis, List.of());
      List<Tensor> chosen = WrongUseException.checked(() -> chosen(file, wanted, choice));
      List<Tensor> rows = chosen.stream().filter(t -> choice.problem(t) == null).toList();
      Backend backend = VectorApi.bestBackend(rows);
      long bytes = rows.stream().mapToLong(Tensor::bytes).sum();
      PrintWriter err = spec.commandLine().getErr();
      try (Progress progress = new Progress(err, bytes, Terminal::isStandardError)) {
        for (Tensor tensor : chosen) {
          String problem = nothing(tensor, choice).orElse(choice.problem(tensor));
          MeasuredRows found =
              problem == null
                  ? rows(tensor, RowStatistics.of(file, tensor, axis, backend, progress::step))
                  : null;
          measured.add(
              new MeasuredTensor(
                  tensor.name(),
                  tensor.dtype(),
                  tensor.shape(),
                  Optional.ofNullable(problem),
                  Optional.ofNullable(found)));
          lines.addAll(problem == null ? report(tensor, found) : List.of(tensor + ": " + problem));
          lines.add("");
        }
      }
      if (data != null) {
        data.write(Records.write(new MeasuredFile(file.path().toString(), measured)));
      }
    }
    // Only now, when no bar is in the way.
    lines.subList(0, Math.max(0, lines.size() - 1)).forEach(spec.commandLine().getOut()::println);
    return ExitCode.OK;
  }

  /** In a list a tensor that has no rows is a line of its own; asked for alone it is an error. */
  private List<Tensor> chosen(TensorFile file, TensorReference wanted, TensorChoice choice) {
    List<Tensor> chosen = wanted.allIn(file, tensors);
    String problem = chosen.size() == 1 ? choice.problem(chosen.getFirst()) : null;
    if (problem != null && nothing(chosen.getFirst(), choice).isEmpty()) {
      throw new IllegalArgumentException(
          "%s: %s: %s".formatted(file.path(), chosen.getFirst(), problem));
    }
    return chosen;
  }

  /** What there is to say of a tensor of numbers that has no rows to measure. */
  private static Optional<String> nothing(Tensor tensor, TensorChoice choice) {
    if (tensor.dtype().elementType().isEmpty() || choice.problem(tensor) == null) {
      return Optional.empty();
    }
    return tensor.shape().isEmpty()
        ? Optional.of("a scalar, which has no rows")
        : Optional.of("its rows have no elements").filter(_ -> tensor.elements() == 0);
  }

  private MeasuredRows rows(Tensor tensor, RowStatistics rows) {
    Map<String, Map<String, Double>> quantiles = new LinkedHashMap<>();
    if (rows.rms.count() > 0) {
      double perRms = Math.sqrt(tensor.width(axis));
      quantiles.put("RMS", five(rows.rms, value -> value));
      quantiles.put("length", five(rows.rms, value -> value * perRms));
      quantiles.put("|mean| / RMS", five(rows.meanRatio, ratio -> ratio));
      quantiles.put("rho", five(rows.meanRatio, ratio -> ratio * ratio));
      quantiles.put("gap", five(rows.meanRatio, ratio -> RowStatistics.gap(ratio * ratio)));
    }
    return new MeasuredRows(
        tensor.rows(axis),
        tensor.width(axis),
        quantiles,
        rows.zeroRows,
        rows.nonFiniteRows,
        rows.nonFiniteElements);
  }

  private static Map<String, Double> five(Quantiles values, DoubleUnaryOperator of) {
    Map<String, Double> five = new LinkedHashMap<>();
    five.put("least", values.at(0, of));
    five.put("p5", values.at(0.05, of));
    five.put("median", values.at(0.5, of));
    five.put("p95", values.at(0.95, of));
    five.put("greatest", values.at(1, of));
    return five;
  }

  private static List<String> report(Tensor tensor, MeasuredRows rows) {
    List<String> lines = new ArrayList<>();
    String counted = rows.count == 1 ? "1 row" : rows.count + " rows";
    lines.add(tensor + ": " + counted + " of " + rows.width);
    if (!rows.quantiles.isEmpty()) {
      lines.add(line("", List.of("least", "5 %", "median", "95 %", "greatest")));
    }
    rows.quantiles.forEach(
        (label, of) ->
            lines.add(
                line(
                    label,
                    of.values().stream()
                        .map(value -> String.format(Locale.ROOT, "%.4g", value))
                        .toList())));
    if (rows.zeroRows > 0) {
      lines.add("zero throughout: %s of %s rows".formatted(rows.zeroRows, rows.count));
    }
    lines.add(
        "not finite: %s elements in %s rows".formatted(rows.nonFiniteElements, rows.nonFiniteRows));
    lines.addAll(
        Paragraph.lines(
            "",
            TensorChoice.isParameter(tensor)
                ? "No verdict: one axis, so a parameter rather than rows of data."
                : "Would it matter here? " + verdict(rows.quantiles.get("gap"))));
    return lines;
  }

  private static String line(String label, List<String> cells) {
    return String.format("%-12s", label)
        + cells.stream().map(" %12s"::formatted).collect(Collectors.joining());
  }

  /** In one sentence, whether the choice between the two norms changes much for these rows. */
  private static String verdict(Map<String, Double> gap) {
    if (gap == null) {
      return "There is no row to tell by.";
    }
    double median = gap.get("median");
    double p95 = gap.get("p95");
    String word = median >= MUCH ? "Yes" : p95 >= MUCH ? "For some rows" : "Hardly";
    return "%s: LayerNorm's and RMSNorm's outputs are %s apart in the median row, %s or more in one of twenty."
        .formatted(word, percent(median), percent(p95));
  }

  private static String percent(double part) {
    return String.format(Locale.ROOT, part < 0.001 ? "%.1g %%" : "%.1f %%", 100 * part);
  }
}
