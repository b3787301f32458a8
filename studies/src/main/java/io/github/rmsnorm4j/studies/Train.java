package io.github.rmsnorm4j.studies;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.cli.ReportOptions;
import io.github.rmsnorm4j.cli.Terminal;
import io.github.rmsnorm4j.cli.VectorApi;
import io.github.rmsnorm4j.cli.Version;
import io.github.rmsnorm4j.cli.WrongUseException;
import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.studies.compare.AvailableMemory;
import io.github.rmsnorm4j.studies.train.Corpus;
import io.github.rmsnorm4j.studies.train.Live;
import io.github.rmsnorm4j.studies.train.Outcome;
import io.github.rmsnorm4j.studies.train.Plan;
import io.github.rmsnorm4j.studies.train.ReportPage;
import io.github.rmsnorm4j.studies.train.Results;
import io.github.rmsnorm4j.studies.train.RunFolder;
import io.github.rmsnorm4j.studies.train.StopSignal;
import io.github.rmsnorm4j.studies.train.TerminalTables;
import io.github.rmsnorm4j.studies.train.Trainings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code rmsnorm train}: from options to files. {@link Trainings} does what is between. */
@Command(
    name = "train",
    description = {
      "Train small Transformers with different norms and compare how they learn.",
      "",
      "The usual run trains a model with LayerNorm and a model with RMSNorm, with 3 seeds each. Both"
          + " start from the same weights and see the same data. The output shows the loss by step"
          + " and by time, where the time of a step goes, and the differences of paired seeds with"
          + " confidence intervals. A usual run takes a few minutes on two idle cores, and longer on"
          + " a busy machine.",
      "",
      "The task is generated: to recall which value followed a key. --text trains on a text instead."
          + " The first run fetches OpenBLAS, 20 MB.",
      "",
      "Ctrl-C saves the state. The same command with --resume continues from there.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm train --quick",
      "  rmsnorm train --report train.html --json train.json",
      "  rmsnorm train --text jdk",
      "  rmsnorm train --study norms --out norms --report norms.html"
    })
final class Train implements Callable<Integer> {
  /** As of a process that a signal has ended at once. */
  private static final int STOPPED_TWICE = 130;

  @Spec private CommandSpec spec;

  @Mixin private TrainOptions wanted;

  @Mixin private ReportOptions reports;

  @Option(
      names = "--out",
      paramLabel = "FOLDER",
      description =
          "Keep finished trainings and checkpoints in FOLDER (default: rmsnorm-train, which is removed"
              + " at the end, except after a study). --force deletes what FOLDER has of another"
              + " run.")
  private Path out;

  @Option(names = "--resume", description = "Continue the run that FOLDER has.")
  private boolean resume;

  @Option(
      names = {"-q", "--quiet"},
      description = "No progress on standard error.")
  private boolean quiet;

  @Override
  public Integer call() throws IOException, InterruptedException {
    wanted.requireSense();
    reports.requireDistinct();
    Corpus corpus = wanted.corpus();
    Plan plan = wanted.plan(corpus);
    Path folder = out == null ? Path.of("rmsnorm-train") : out;
    try {
      plan.requireMemory(wanted.jobs(), AvailableMemory.bytes());
      RunFolder.require(folder, plan, resume, reports.force());
    } catch (IllegalArgumentException e) {
      throw new WrongUseException(e.getMessage());
    }
    if (!Natives.areThere()) {
      return TrainingJvm.run(
          spec.root().commandLine().getParseResult().originalArgs(), spec.commandLine().getErr());
    }
    try (ReportOptions.Files files = reports.begin()) {
      return train(plan, corpus, folder, files);
    }
  }

  private int train(Plan plan, Corpus corpus, Path path, ReportOptions.Files files)
      throws IOException {
    Backend backend = VectorApi.bestBackend(false);
    StopSignal signal = new StopSignal(() -> Runtime.getRuntime().halt(STOPPED_TWICE));
    try (RunFolder folder = RunFolder.open(path, plan, resume, reports.force())) {
      Optional<List<Outcome>> outcomes = outcomes(plan, corpus, folder, signal);
      if (outcomes.isEmpty()) {
        say("saved in " + path + "; to go on: " + resumeCommand());
        return signal.status();
      }
      Results.Circumstances circumstances =
          new Results.Circumstances(
              new Version().getVersion()[0],
              Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
              // To the bit what it would have been without a stop: so it can be had again.
              reports.command().replaceFirst(" --resume(?= |$)", ""),
              Machine.thisOne(backend),
              wanted.jobs());
      show(new Results(circumstances, plan, outcomes.get()), files);
      if (out == null && !wanted.isStudy()) {
        folder.delete();
      }
    }
    return ExitCode.OK;
  }

  private Optional<List<Outcome>> outcomes(
      Plan plan, Corpus corpus, RunFolder folder, StopSignal signal) throws IOException {
    Live live = new Live(spec.commandLine().getErr(), plan, Terminal.isStandardError(), quiet);
    try {
      return new Trainings(plan, corpus, folder, live, signal::came).run(wanted.jobs());
    } finally {
      live.close();
    }
  }

  private void show(Results results, ReportOptions.Files files) throws IOException {
    TerminalTables.lines(results).forEach(spec.commandLine().getOut()::println);
    files.write(new ReportPage(results).page().html(), results.json());
  }

  private void say(String line) {
    spec.commandLine().getErr().println("rmsnorm train: " + line);
  }

  private String resumeCommand() {
    return reports.command() + (resume ? "" : " --resume");
  }
}
