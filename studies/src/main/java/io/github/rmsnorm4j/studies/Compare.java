package io.github.rmsnorm4j.studies;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cli.DeviceOption;
import io.github.rmsnorm4j.cli.ReportOptions;
import io.github.rmsnorm4j.cli.VectorApi;
import io.github.rmsnorm4j.cli.Version;
import io.github.rmsnorm4j.cli.WrongUseException;
import io.github.rmsnorm4j.measure.ModuleBuild;
import io.github.rmsnorm4j.studies.compare.Comparison;
import io.github.rmsnorm4j.studies.compare.CpuProcessor;
import io.github.rmsnorm4j.studies.compare.GpuProcessor;
import io.github.rmsnorm4j.studies.compare.Plan;
import io.github.rmsnorm4j.studies.compare.Plan.Extent;
import io.github.rmsnorm4j.studies.compare.Processor;
import io.github.rmsnorm4j.studies.compare.ReportPage;
import io.github.rmsnorm4j.studies.compare.Results;
import io.github.rmsnorm4j.studies.compare.Shape;
import io.github.rmsnorm4j.studies.compare.TerminalTables;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code rmsnorm compare}: what is wanted. {@link Comparison} does it. */
@Command(
    name = "compare",
    description = {
      "Measure LayerNorm and RMSNorm on this machine, each naive and fused.",
      "",
      "Naive is one pass over memory per operation, as eager framework code runs. Fused is this"
          + " library. Answers are checked before anything is timed. With --device cuda the GPU runs"
          + " and times both; a naive operation is one kernel then.",
      "",
      "The usual run is forward, float32 and 128x1024x4096, or the largest batch that fits into"
          + " memory. It also measures smaller batches, one token, a prompt and head norms. It takes"
          + " a few minutes on two idle cores. Other programs make it slower, and its figures less"
          + " certain.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm compare --quick",
      "  rmsnorm compare --report compare.html",
      "  rmsnorm compare --shape 32x512x1024 --dtype bf16 --threads 1",
      "  rmsnorm compare --full --report compare.html --json compare.json",
      "  rmsnorm compare --device cuda --report compare.html"
    })
final class Compare implements Callable<Integer> {
  private static final int MOST_THREADS = 1024;

  /**
   * Say where the launcher is and keeps its archive, which nobody needs in order to repeat a run.
   */
  private static final List<String> FLAGS_OF_THE_LAUNCHER =
      List.of("-XX:AOTCache=", "-Xlog:aot", "-Xlog:cds", "-D" + ModuleBuild.HOME + "=");

  @Spec private CommandSpec spec;

  @Option(names = "--full", description = "Also backward, and float16 and bfloat16.")
  private boolean full;

  @Option(
      names = "--quick",
      description = "Small and short: under a minute on two idle cores, longer on a busy machine.")
  private boolean quick;

  @Option(
      names = "--shape",
      paramLabel = "AxBxC",
      description =
          "Shape of the tensors; the last number is the width of a row (default: 128x1024x4096, and"
              + " smaller ones).")
  private String shape;

  @Option(
      names = "--dtype",
      paramLabel = "TYPE",
      description = "Type of the elements: f32, f16 or bf16 (default: f32; with --full all three).")
  private ElementType type;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads at most, in every variant (default: one per processor).")
  private Integer threads;

  @Mixin private DeviceOption device;

  @Mixin private ReportOptions reports;

  @Option(
      names = {"-q", "--quiet"},
      description = "No progress on standard error.")
  private boolean quiet;

  @Override
  public Integer call() throws IOException {
    int atMost = threads();
    reports.requireDistinct();
    Extent extent = extent();
    Shape wanted = shape();
    try (Processor processor = processor(atMost)) {
      Plan plan = WrongUseException.checked(() -> Plan.of(wanted, type, extent, processor));
      try (ReportOptions.Files files = reports.begin()) {
        Comparison comparison = new Comparison(plan, processor, this::progress);
        Results results =
            comparison.run(
                new Results.Run(
                    new Version().getVersion()[0],
                    Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                    reports.command(),
                    processor.machine().withoutFlags(FLAGS_OF_THE_LAUNCHER),
                    processor.name(),
                    processor.threads(),
                    processor.availableBytes()));
        new TerminalTables(results).lines().forEach(spec.commandLine().getOut()::println);
        files.write(new ReportPage(results).page().html(), results.json());
      }
    }
    return ExitCode.OK;
  }

  private Processor processor(int atMost) throws IOException {
    return device.isCuda()
        ? new GpuProcessor(device.open())
        : new CpuProcessor(atMost, VectorApi.bestBackend(true));
  }

  private Extent extent() {
    if (full && quick) {
      throw new WrongUseException("--full and --quick contradict each other, one may be given");
    }
    return full ? Extent.FULL : quick ? Extent.QUICK : Extent.USUAL;
  }

  private Shape shape() {
    try {
      return shape == null ? null : Shape.parse(shape);
    } catch (IllegalArgumentException e) {
      throw new WrongUseException("--shape is '" + shape + "', " + e.getMessage());
    }
  }

  private int threads() {
    WrongUseException.requireRange("--threads", threads, MOST_THREADS);
    device.requireCpu("--threads", threads, DeviceOption.OWN_THREADS);
    return threads == null ? Runtime.getRuntime().availableProcessors() : threads;
  }

  private void progress(String what) {
    if (!quiet) {
      spec.commandLine().getErr().println(what);
    }
  }
}
