package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.models.check.CheckReport;
import io.github.rmsnorm4j.models.check.NormCheck;
import io.github.rmsnorm4j.models.check.QuantizedCheck;
import io.github.rmsnorm4j.models.check.QuantizedReport;
import io.github.rmsnorm4j.models.check.QuantizedSample;
import io.github.rmsnorm4j.models.check.Sample;
import io.github.rmsnorm4j.report.Records;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
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
      "X and Y are rows of equal shape: what went into a norm, and what came out. The norms that"
          + " are tried are all combinations of RMSNorm and LayerNorm, cast orders, epsilons and"
          + " their places, gain offsets, roundings of the gain, of X and of the sum with a"
          + " residual, and partial norms. If no epsilon of the table fits, it is solved for.",
      "",
      "Systems add squares in orders of their own, so their rstd differs in its last bits. Each row"
          + " may have an rstd that is a few ulp from the exact one: sqrt(width) * 0.75 + 4 for rows"
          + " of 32 and 64 bits (6 where 16 rows show that the sums are accurate), sqrt(width) * 3.1"
          + " + 4 for rows of 16 bits. The column rstd has the most that a row needs.",
      "",
      "The rounding error of Y is Y minus the exact formula of a norm. A norm explains the share 1 -"
          + " |Y - predicted|^2 / |Y - exact|^2 of it. So 100 %% is every rounding, and 0 %% or less"
          + " is no better than the exact formula.",
      "",
      "Cast orders, with x the row, r = 1 / root, g the gain; [..] rounds to the row's type. On"
          + " float32 rows several are the same formula.",
      "  llama         [x * r] * g       Llama, Qwen, Mistral",
      "  float32       x * r * g         PyTorch, Gemma (gain + 1), OLMo 2",
      "  t5            [x * r] * g       T5; rounds to the type of the gain",
      "  onnx          [x / root] * g    the operator of ONNX",
      "  divided       x / root * g      ONNX Runtime, the code of the paper",
      "  gain-first    x * (r * g)       Flax",
      "  rounded-root  [x * [r]] * g     DeepSeek-V4, which has no gain there",
      "  none          every step in the row's type: Liger, casting mode none",
      "  none-divided  the same with x / root: ONNX with that stash type; the",
      "                paper's code on 16-bit rows",
      "",
      "Epsilon is inside the root, outside of it, or a floor: the larger of root and epsilon."
          + " LayerNorm subtracts the mean in float64 (split mean) or in float32, or computes x * r -"
          + " mean * r (shifted; fused shift rounds that once). Where no such norm fits, those are tried that divide"
          + " by n - 1 (sample variance) or compute in float64 and round once. docs/numerics.md explains rstd and"
          + " ulp.",
      "",
      "If Y is codes and scales, as normalize --quantize writes them, the norms of the table that"
          + " normalize has are tried with every rule of --quantizer and with that of llama.cpp on ARM,"
          + " and all bytes are compared.",
      "",
      "Large files are sampled: up to 262144 elements in rows spread over the file. A row has"
          + " 1048576 elements at most, with --probe 65536. -0 and 0 count as equal.",
      ""
    },
    exitCodeList = {
      "0:a norm that is known here made Y, or several that these rows do not tell apart",
      "1:none did, or rows of Y contradict every norm, or it failed",
      "2:wrong use"
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm check hidden.npy normed.npy --gain norm.npy",
      "  rmsnorm check x.npy y.npy --gain m.safetensors:norm.weight",
      "  rmsnorm check x.npy y.npy --probe probe.npy"
    })
final class CheckCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "X", description = "What went in, as FILE[:NAME].")
  private String in;

  @Parameters(
      index = "1",
      paramLabel = "Y",
      description = "What came out, as FILE[:NAME]. It may be quantised.")
  private String out;

  @Option(
      names = "--gain",
      paramLabel = "FILE[:NAME]",
      description = "The gain as it is stored: one factor for each element (default: none).")
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
      names = "--probe",
      paramLabel = "FILE",
      description =
          "Write rows that tell the named norms apart, to a .npy or .safetensors file. Run your norm"
              + " on them, and check again. With --residual the file has x and residual.")
  private Path probe;

  /** Its "spec" is a norm as the --like of normalize takes it, or null. */
  @Mixin private JsonOption json;

  @Override
  public Integer call() throws IOException {
    CommandLine command = spec.commandLine();
    try (JsonOption.JsonOutput data = json.begin(command);
        CheckRows rows = WrongUseException.checked(this::rows)) {
      if (rows.quantized()) {
        return codes(rows, data);
      }
      PrintWriter err = command.getErr();
      Sample sample = WrongUseException.checked(rows::sample);
      NormCheck check = WrongUseException.checked(() -> new NormCheck(sample, partial));
      CheckReport report;
      long bytes = rows.sampledBytes();
      try (Progress progress =
          new Progress(err, bytes * check.forms(), Terminal::isStandardError)) {
        report = check.run(() -> progress.step(bytes));
      }
      PrintWriter text = command.getOut();
      CheckText.lines(rows.words(), report).forEach(text::println);
      if (probe == null && report.status() == CheckReport.Status.CANNOT_TELL) {
        text.println("--probe FILE writes rows that tell some of them apart, where it finds any.");
      }
      if (probe != null) {
        WrongUseException.checked(
                () -> CheckProbe.write(probe, rows.x(), check.probe(), report, json.force))
            .forEach(text::println);
      }
      if (data != null) {
        data.write(Records.write(report));
      }
      return status(report.status());
    }
  }

  /** Y is codes and scales. */
  private int codes(CheckRows rows, JsonOption.JsonOutput data) throws IOException {
    QuantizedSample sample = WrongUseException.checked(rows::quantizedSample);
    QuantizedCheck check =
        WrongUseException.checked(
            () -> new QuantizedCheck(sample, partial, QuantizeOptions.Rules.presets()));
    QuantizedReport report;
    long bytes = rows.sampledBytes();
    CommandLine command = spec.commandLine();
    try (Progress progress =
        new Progress(command.getErr(), bytes * check.norms(), Terminal::isStandardError)) {
      report = check.run(() -> progress.step(bytes));
    }
    CheckText.lines(rows.words(), report).forEach(command.getOut()::println);
    if (data != null) {
      data.write(Records.write(report));
    }
    return status(report.status());
  }

  private static int status(CheckReport.Status status) {
    return status == CheckReport.Status.UNKNOWN ? ExitCode.SOFTWARE : ExitCode.OK;
  }

  private CheckRows rows() throws IOException {
    for (double share : partial) {
      if (!(share > 0 && share <= 1)) {
        throw new IllegalArgumentException(
            "--partial is %s, it must be above 0 and at most 1".formatted(share));
      }
    }
    if (probe != null) {
      CheckProbe.requireName(probe, residual != null);
      if (Files.exists(probe) && !json.force) {
        throw new IllegalArgumentException(
            "--probe %s: exists already; --force replaces it".formatted(probe));
      }
      for (String other : new String[] {in, out, gain, bias, residual}) {
        if (other != null) {
          Path file = TensorReference.parse("FILE", other).file();
          DistinctFiles.require("--probe", probe, "another argument", file);
        }
      }
      if (json.file() != null) {
        DistinctFiles.require("--probe", probe, "--json", json.file());
      }
    }
    CheckRows rows = CheckRows.open(in, out, gain, bias, residual);
    try {
      if (probe != null) {
        if (rows.quantized()) {
          throw new IllegalArgumentException("--probe needs a Y that is not quantised");
        }
        CheckProbe.requireHolds(probe, rows.x().tensor(), rows.x().type());
      }
      return rows;
    } catch (Throwable e) {
      rows.close();
      throw e;
    }
  }
}
