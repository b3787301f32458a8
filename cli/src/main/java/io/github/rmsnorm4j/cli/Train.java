package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.cli.train.Corpus;
import io.github.rmsnorm4j.cli.train.Live;
import io.github.rmsnorm4j.cli.train.Natives;
import io.github.rmsnorm4j.cli.train.Outcome;
import io.github.rmsnorm4j.cli.train.Plan;
import io.github.rmsnorm4j.cli.train.Plan.Kind;
import io.github.rmsnorm4j.cli.train.Plans;
import io.github.rmsnorm4j.cli.train.ReportPage;
import io.github.rmsnorm4j.cli.train.Results;
import io.github.rmsnorm4j.cli.train.RunFolder;
import io.github.rmsnorm4j.cli.train.StopSignal;
import io.github.rmsnorm4j.cli.train.TerminalTables;
import io.github.rmsnorm4j.cli.train.TrainingPage;
import io.github.rmsnorm4j.cli.train.Trainings;
import io.github.rmsnorm4j.formats.ReplacingFile;
import io.github.rmsnorm4j.measure.ChildJvm;
import io.github.rmsnorm4j.measure.Machine;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rmsnorm train}: what is wanted. {@link Trainings} does it. */
@Command(
    name = "train",
    description = {
      "Train small Transformers that differ in their norm, and say what the difference was.",
      "",
      "LayerNorm and RMSNorm from the same weights on the same data, 3 seeds each, a few minutes:"
          + " loss by step and by second, where a step's time goes, and the paired difference with"
          + " its confidence interval. What is learned is a generated task, to recall which value"
          + " followed a key, or a text. The first run fetches OpenBLAS, 20 MB.",
      "",
      "Ctrl-C saves where it is; the same command with --resume goes on.",
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

  private static final int MOST = 1 << 20;

  @Spec private CommandSpec spec;

  @Option(names = "--quick", description = "Under 30 seconds; it shows that it runs, no more.")
  private boolean quick;

  @Option(
      names = "--study",
      paramLabel = "NAME",
      description =
          "norms: LayerNorm, RMSNorm, pRMSNorm and none, each at its best of six rates, within an"
              + " hour. depth: 4 to 48 blocks, norms before and after, half an hour.")
  private String study;

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description =
          "Learn the characters of FILE, or of the sources of a JDK (--text jdk), in place of the"
              + " generated task.")
  private String text;

  @Option(names = "--seeds", paramLabel = "N", description = "Trainings of each kind.")
  private Integer seeds;

  @Option(names = "--steps", paramLabel = "N", description = "Steps of each training.")
  private Integer steps;

  @Option(
      names = "--rate",
      paramLabel = "R",
      split = ",",
      description = "The highest rate; for --study those to choose from: R,R,...")
  private List<Double> rates = List.of();

  @Option(names = "--width", paramLabel = "N", description = "Width of the models.")
  private Integer width;

  @Option(names = "--heads", paramLabel = "N", description = "Heads of the attention.")
  private Integer heads;

  @Option(names = "--layers", paramLabel = "N", description = "Blocks of the models.")
  private Integer layers;

  @Option(
      names = "--depths",
      paramLabel = "N",
      split = ",",
      description = "The numbers of blocks of --study depth: N,N,...")
  private List<Integer> depths = List.of();

  @Option(names = "--batch", paramLabel = "N", description = "Sequences in a step.")
  private Integer batch;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Trainings side by side, each on one thread (default: 2, on one processor 1).")
  private Integer jobs;

  @Option(
      names = "--out",
      paramLabel = "FOLDER",
      description =
          "Where finished trainings and checkpoints are kept (default: rmsnorm-train; it is removed"
              + " when all is done, unless it is of a study).")
  private Path out;

  @Option(names = "--resume", description = "Go on with what the folder holds.")
  private boolean resume;

  @Option(
      names = "--report",
      paramLabel = "FILE.html",
      description = "Write a page with curves, in one file that needs no network.")
  private Path report;

  @Option(
      names = "--json",
      paramLabel = "FILE.json",
      description = "Write all figures of every training, for programs.")
  private Path json;

  @Option(
      names = "--write",
      description = "Keep figures and page in docs/training and make docs/training.md again.")
  private boolean write;

  @Option(
      names = {"-f", "--force"},
      description = "Replace the files of --report and --json, and what --out holds of a training.")
  private boolean force;

  @Option(
      names = {"-q", "--quiet"},
      description = "No progress on standard error.")
  private boolean quiet;

  @Override
  public Integer call() throws IOException, InterruptedException {
    requireSense();
    Corpus corpus = text == null ? null : Corpus.read(text);
    Plan plan = plan(corpus);
    Path folder = out == null ? Path.of("rmsnorm-train") : out;
    try {
      RunFolder.require(folder, plan, resume, force);
    } catch (IllegalArgumentException e) {
      throw wrongUse(e, e.getMessage());
    }
    if (!Natives.areThere()) {
      return inChild();
    }
    // The files first: what cannot be written is known before minutes go by.
    try (ReplacingFile page = create("--report", report);
        ReplacingFile data = create("--json", json)) {
      return train(plan, corpus, folder, page, data);
    }
  }

  private int train(Plan plan, Corpus corpus, Path path, ReplacingFile page, ReplacingFile data)
      throws IOException {
    PrintWriter err = spec.commandLine().getErr();
    Backend backend = VectorApi.bestBackend();
    RunFolder folder = RunFolder.open(path, plan, resume, force);
    StopSignal signal = new StopSignal();
    Live live = new Live(err, plan, Terminal.isStandardError(), quiet);
    Optional<List<Outcome>> outcomes;
    try {
      outcomes = new Trainings(plan, corpus, folder, live, signal::came).run(jobs());
    } finally {
      live.close();
    }
    if (outcomes.isEmpty()) {
      err.println("rmsnorm train: saved in " + path + "; to go on: " + resumeCommand());
      err.flush();
      return signal.status();
    }
    Results results =
        new Results(
            new Results.Circumstances(
                new Version().getVersion()[0],
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                command(),
                Machine.thisOne(backend),
                jobs()),
            plan,
            outcomes.get());
    new TerminalTables(results).lines().forEach(spec.commandLine().getOut()::println);
    write(page, ReportPage.of(results).html());
    write(data, results.json());
    if (write) {
      writeDocs(results);
    }
    if (out == null && study == null) {
      folder.delete();
    }
    return ExitCode.OK;
  }

  private void writeDocs(Results results) throws IOException {
    Path docs = Path.of(System.getProperty(ModuleBuild.HOME), "docs");
    String name = TrainingPage.name(results.plan().kind());
    Path page = docs.resolve("training.md");
    Files.createDirectories(docs.resolve("training"));
    replace(docs.resolve("training").resolve(name + ".json"), results.json());
    replace(docs.resolve("training").resolve(name + ".html"), ReportPage.of(results).html());
    replace(page, TrainingPage.with(Files.readString(page), results));
  }

  private static void replace(Path file, String text) throws IOException {
    try (ReplacingFile out = ReplacingFile.create(file, true)) {
      write(out, text);
    }
  }

  private void requireSense() throws IOException {
    if (write && (quick || text != null || System.getProperty(ModuleBuild.HOME) == null)) {
      throw wrongUse(
          null, "--write takes a whole run of the generated task in a checkout, by ./rmsnorm");
    }
    if (quick && study != null) {
      throw wrongUse(null, "--quick and --study contradict each other, one may be given");
    }
    if (resume && force) {
      throw wrongUse(null, "--resume and --force contradict each other, one may be given");
    }
    requireCount("--seeds", seeds);
    requireCount("--steps", steps);
    requireCount("--width", width);
    requireCount("--heads", heads);
    requireCount("--layers", layers);
    requireCount("--batch", batch);
    requireCount("--jobs", jobs);
    depths.forEach(depth -> requireCount("--depths", depth));
    for (double rate : rates) {
      if (!(rate > 0) || !Double.isFinite(rate)) {
        throw wrongUse(null, "--rate is " + rate + ", it must be finite and above 0");
      }
    }
    if (!depths.isEmpty() && !"depth".equals(study)) {
      throw wrongUse(null, "--depths is for --study depth");
    }
    if (layers != null && "depth".equals(study)) {
      throw wrongUse(null, "--layers is not for --study depth, which takes --depths");
    }
    if (report != null && json != null && DistinctFiles.same(report, json)) {
      throw wrongUse(null, "--report and --json are both " + report + ", they must be two files");
    }
  }

  private void requireCount(String option, Integer value) {
    if (value != null && (value < 1 || value > MOST)) {
      throw wrongUse(null, option + " is " + value + ", it may be 1 to " + MOST);
    }
  }

  private Plan plan(Corpus corpus) {
    Kind kind =
        switch (study) {
          case null -> quick ? Kind.QUICK : Kind.USUAL;
          case "norms", "depth" -> Kind.valueOf(study.toUpperCase(Locale.ROOT));
          default -> throw wrongUse(null, "--study is '" + study + "', it may be norms or depth");
        };
    try {
      return Plans.of(
          kind, corpus, new Plans.Wishes(steps, seeds, width, heads, layers, batch, rates, depths));
    } catch (IllegalArgumentException e) {
      throw wrongUse(e, e.getMessage());
    }
  }

  private int jobs() {
    return jobs == null ? Math.min(2, Runtime.getRuntime().availableProcessors()) : jobs;
  }

  /** The same in a JVM that has OpenBLAS on its class path. */
  private int inChild() throws IOException, InterruptedException {
    String home = System.getProperty(ModuleBuild.HOME);
    if (home == null || !Files.isRegularFile(Path.of(home, "pom.xml"))) {
      throw new IOException(
          "trainings need OpenBLAS, which is fetched for a checkout of rmsnorm4j: start"
              + " ./rmsnorm train there");
    }
    List<String> classPath = new ArrayList<>(List.of(System.getProperty("java.class.path")));
    new Natives(Path.of(home)).fetched(err()).forEach(jar -> classPath.add(jar.toString()));
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(ChildJvm.flags());
    words.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--add-exports=java.base/jdk.internal.module=ALL-UNNAMED",
            // Unpacked where `clean` takes it away again.
            "-Dorg.bytedeco.javacpp.cachedir=" + Path.of(home, "cli/target/run/natives/unpacked"),
            "-cp",
            String.join(File.pathSeparator, classPath),
            Rmsnorm.class.getName()));
    words.addAll(spec.commandLine().getParent().getParseResult().originalArgs());
    // Both get a Ctrl-C; the child saves and ends, and then this one does.
    StopSignal signal = new StopSignal();
    Process child = new ProcessBuilder(words).inheritIO().start();
    while (child.isAlive()) {
      if (child.waitFor(100, TimeUnit.MILLISECONDS)) {
        break;
      }
      if (signal.status() == 143) {
        child.destroy();
      }
    }
    return child.exitValue();
  }

  private ReplacingFile create(String option, Path file) throws IOException {
    if (file == null) {
      return null;
    }
    if (file.toString().isEmpty()) {
      throw wrongUse(null, option + " is empty, it must name a file");
    }
    try {
      return ReplacingFile.create(file, force || resume);
    } catch (FileAlreadyExistsException e) {
      throw wrongUse(e, option + " " + e.getMessage() + "; --force replaces it");
    } catch (FileSystemException e) {
      throw wrongUse(e, option + " " + e.getMessage());
    }
  }

  private static void write(ReplacingFile file, String text) throws IOException {
    if (file != null) {
      file.write(MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8)));
      file.commit();
    }
  }

  /** To be given to a shell again. */
  private String command() {
    List<String> words = spec.commandLine().getParent().getParseResult().originalArgs();
    return words.stream()
        .map(word -> word.matches("[\\w./=:+,-]+") ? word : "'" + word.replace("'", "'\\''") + "'")
        .collect(Collectors.joining(" ", "./rmsnorm ", ""));
  }

  private String resumeCommand() {
    return resume ? command() : command().replaceFirst(" (--force|-f)(?= |$)", "") + " --resume";
  }

  private PrintWriter err() {
    return spec.commandLine().getErr();
  }

  private ParameterException wrongUse(Exception cause, String message) {
    return new ParameterException(spec.commandLine(), message, cause);
  }
}
