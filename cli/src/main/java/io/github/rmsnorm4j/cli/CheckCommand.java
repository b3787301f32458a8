package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.models.check.CheckReport;
import io.github.rmsnorm4j.models.check.NormCheck;
import io.github.rmsnorm4j.models.check.QuantizedCheck;
import io.github.rmsnorm4j.models.check.QuantizedReport;
import io.github.rmsnorm4j.models.check.Sample;
import io.github.rmsnorm4j.report.Records;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rmsnorm check}: which norm made Y from X. */
@Command(
    name = "check",
    description = {
      "Tell which norm made Y from X.",
      "",
      "X and Y are rows of equal shape: what went into a norm, and what came out. The norms of this"
          + " library are applied to X: RMSNorm, LayerNorm and L2 norm with all usual epsilons and"
          + " their places, cast orders, gain offsets, parts of a row and groups (all counts up to 64"
          + " that divide it, and groups of 32 elements and more), and with roundings of X, of the"
          + " gain and of the sum with a residual. If no epsilon of the list fits, it is solved for. Where nothing fits, the answer says what comes nearest and where it differs.",
      "",
      "Systems add squares in orders of their own, so their rstd differs in its last bits. The column"
          + " 'equal elements' is of rows that each have the best rstd within a few ulp: sqrt(width) *"
          + " 0.75 + 4 for rows of 32 and 64 bits (6 where 16 rows show that the sums are accurate),"
          + " sqrt(width) * 3.1 + 4 for rows of 16 bits. The column 'equal, own rstd' is of the rstd"
          + " that this library computes.",
      "",
      "Cast orders, with x the row, r = 1 / root, g the gain; [..] rounds to the row's type. On"
          + " float32 rows several are the same formula.",
      "  llama         [x * r] * g       Llama, Qwen, Mistral",
      "  float32       x * r * g         PyTorch, Gemma (gain + 1), OLMo 2",
      "  t5            [x * r] * g       T5; rounds to the type of the gain",
      "  onnx          [x / root] * g    the operator of ONNX",
      "  divided       x / root * g      ONNX Runtime, the code of the paper; also",
      "                                  LayerNorm and L2 norm",
      "  gain-first    x * (r * g)       Flax",
      "  rounded-root  [x * [r]] * g     DeepSeek-V4, which has no gain there",
      "  none          every step in the row's type: Liger, casting mode none",
      "  none-divided  the same with x / root: ONNX with that stash type; the",
      "                paper's code on 16-bit rows",
      "",
      "Epsilon is inside the root, outside of it, or a floor: the larger of root and epsilon."
          + " docs/numerics.md explains rstd and ulp.",
      "",
      "If Y is codes and scales, as normalize --quantize writes them, the norms of the table that"
          + " normalize has are tried with every rule of --quantizer and with that of llama.cpp on ARM,"
          + " and all bytes are compared.",
      "",
      "Large files are sampled: up to 262144 elements in rows spread over the file. A row has"
          + " 1048576 elements at most. -0 and 0 count as equal, and NaN and NaN.",
      ""
    },
    exitCodeList = {
      "0:a norm that is known here made Y, or several that these rows do not tell apart",
      "1:none did, or it failed",
      "2:wrong use"
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm check hidden.npy normed.npy --gain norm.npy",
      "  rmsnorm check x.npy y.npy --gain m.safetensors:norm.weight"
    })
final class CheckCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "X", description = "What went in, as FILE[:NAME].")
  private String in;

  @Parameters(
      index = "1",
      paramLabel = "Y",
      description = "What came out, as FILE[:NAME]. It may be quantized.")
  private String out;

  @Option(
      names = "--gain",
      paramLabel = "FILE[:NAME]",
      description =
          "The gain as it is stored: a factor for each element of a row, of several heads, or of a"
              + " group, which all groups share (default: none).")
  private String gain;

  @Option(
      names = "--bias",
      paramLabel = "FILE[:NAME]",
      description = "The bias: one term for each element (default: none).")
  private String bias;

  @Option(
      names = "--residual",
      paramLabel = "FILE[:NAME]",
      description = "A residual that was added to X before the norm (default: none).")
  private String residual;

  @Option(
      names = "--partial",
      paramLabel = "P",
      description =
          "Try partial RMSNorm of P times the width too; may be repeated. 1/16, 1/8, 1/4, 1/2 and 3/4"
              + " are always tried.")
  private List<Double> partial = List.of();

  @Option(
      names = "--all-rows",
      description = "Compare every row of a large file with the norms that the sample names.")
  private boolean allRows;

  /** Its "spec" is a norm as the --like of normalize takes it, or null. */
  @Mixin private JsonOption json;

  @Override
  public Integer call() throws IOException {
    try (JsonOption.JsonOutput data = json.begin(spec.commandLine());
        CheckRows rows = WrongUseException.checked(this::rows)) {
      Sample sample = WrongUseException.checked(rows::sample);
      String words = rows.words(allRows);
      if (rows.quantized()) {
        QuantizedCheck check =
            WrongUseException.checked(
                () -> new QuantizedCheck(sample, partial, new QuantizeOptions.Rules().values()));
        QuantizedReport report = compared(rows, sample, check::run);
        return written(
            CheckText.lines(words, report), report.status(), data, Records.write(report));
      }
      NormCheck check = WrongUseException.checked(() -> new NormCheck(sample, partial));
      CheckReport report = compared(rows, sample, check::run);
      return written(CheckText.lines(words, report), report.status(), data, Records.write(report));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Compares the sample, or all rows. */
  private <R> R compared(CheckRows rows, Sample sample, Function<Iterable<Sample>, R> check) {
    if (!allRows) {
      return check.apply(List.of(sample));
    }
    PrintWriter err = spec.commandLine().getErr();
    try (Progress progress = new Progress(err, rows.bytes(), Terminal::isStandardError)) {
      return check.apply(rows.parts(progress::step));
    }
  }

  private int written(
      List<String> lines, CheckReport.Status status, JsonOption.JsonOutput data, String figures)
      throws IOException {
    lines.forEach(spec.commandLine().getOut()::println);
    if (data != null) {
      data.write(figures);
    }
    return status == CheckReport.Status.UNKNOWN ? ExitCode.SOFTWARE : ExitCode.OK;
  }

  private CheckRows rows() throws IOException {
    for (double share : partial) {
      if (!(share > 0 && share <= 1)) {
        throw new IllegalArgumentException(
            "--partial is %s, it must be above 0 and at most 1".formatted(share));
      }
    }
    return CheckRows.open(in, out, gain, bias, residual);
  }
}
