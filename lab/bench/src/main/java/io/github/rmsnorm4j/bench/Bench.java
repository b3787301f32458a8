package io.github.rmsnorm4j.bench;

import io.github.rmsnorm4j.cli.DeviceOption;
import io.github.rmsnorm4j.cli.ReportOptions;
import io.github.rmsnorm4j.cli.WrongUseException;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.formats.ReplacingFile;
import io.github.rmsnorm4j.measure.ModuleBuild;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code rmsnorm bench}: starts the comparison with other libraries, in a process of their own.
 * Those libraries are no part of the command line: Maven fetches them when this is first asked for.
 * On a GPU it measures itself: PyTorch is there, or is not.
 */
@Command(
    name = "bench",
    description = {
      "Compare the speed of this library with libtorch, oneDNN, ONNX Runtime and a plain Java loop.",
      "",
      "All systems do the same work on the same rows, in turn. Their answers are checked first. The"
          + " command prints times, targets, and rows that some systems get wrong.",
      "",
      "The first run fetches the other systems, about 190 MB, which only this command uses. A whole"
          + " run takes about an hour and a half on two idle cores. Run nothing else meanwhile: the"
          + " times depend on it.",
      "",
      "With --device cuda the norms run on a GPU. They are compared with a copy there and with the"
          + " PyTorch of python3, if it has one with CUDA. It fetches nothing. How long it takes was not measured.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm bench --quick",
      "  rmsnorm bench --only \"128 x 4096\" --threads 1 --check",
      "  rmsnorm bench --decode --check",
      "  rmsnorm bench --calls --check",
      "  rmsnorm bench --loops",
      "  rmsnorm bench --variants --check",
      "  rmsnorm bench --traps",
      "  rmsnorm bench --against HEAD~3 --only \"RMSNorm float32\"",
      "  rmsnorm bench --device cuda"
    })
final class Bench implements Callable<Integer> {
  private static final String PROGRAM = "io.github.rmsnorm4j.peers.PeerTable";
  private static final String CALLS = "io.github.rmsnorm4j.benchmarks.MeasureCalls";
  private static final String DECODE = "io.github.rmsnorm4j.benchmarks.Decode";
  private static final Set<String> WITH_DECODE =
      Set.of("--decode", "--width", "--only", "--jvms", "--check", "--write");

  private static final Set<String> WITH_CALLS = Set.of("--calls", "--quick", "--check");

  private static final Set<String> WITH_AGAINST =
      Set.of("--against", "--only", "--quick", "--jvms");

  /** Of JVMs, one of each commit. */
  private static final int PAIRS = 5;

  /** Of fresh JVMs. */
  private static final int ROUNDS = 7;

  private static final String OF_PROCESSOR = "it is for the processor";

  @Spec private CommandSpec spec;

  @Mixin private DeviceOption device;

  @Option(
      names = "--quick",
      description = "Short rounds of few shapes, about seven minutes. Do not quote these figures.")
  private boolean quick;

  @Option(
      names = "--only",
      paramLabel = "TEXT",
      description =
          "Measure only what has TEXT in its title, such as \"LayerNorm float32 1 x 4096\".")
  private String only;

  @Option(
      names = "--threads",
      paramLabel = "N",
      split = ",",
      description = "Numbers of threads, as N or N,N,... (default: 1 and all processors).")
  private List<Integer> threads = List.of();

  @Option(
      names = "--jvms",
      paramLabel = "N",
      description =
          "Measure each shape in N fresh JVMs and show the median (default: 1). Two JVMs may"
              + " compile the same code in two ways.")
  private Integer jvms;

  @Option(
      names = "--polluted",
      description =
          "Measure only in JVMs that have run many other kinds of calls before. It takes at"
              + " most half the time; it took 17.5 minutes on an AMD EPYC.")
  private boolean polluted;

  @Option(names = "--traps", description = "Show only the rows that some systems get wrong.")
  private boolean traps;

  @Option(
      names = "--loops",
      description =
          "Compare this library with nothing but the plain loop of a port, in JVMs without flags,"
              + " with native access and with the Vector API. About 40 minutes.")
  private boolean loops;

  @Option(
      names = "--variants",
      description =
          "Compare this library's variants and quantised output with its plain norms and with the"
              + " calls that they replace, on one thread, with AVX-512, with AVX2 and without flags."
              + " 7 to 15 minutes.")
  private boolean variants;

  @Option(
      names = "--against",
      paramLabel = "COMMIT",
      description =
          "Compare this library with itself at another commit, on one thread: the command builds"
              + " COMMIT apart and starts JVMs of both in turn. Only --only, --quick and --jvms"
              + " (default: 5 pairs) go with it.")
  private String against;

  @Option(
      names = "--decode",
      description =
          "Compare the norms of the first 400 tokens of an engine, and of 3,000 prompts, with cold"
              + " caches, with the plain loop of a port, in fresh JVMs without flags and with native"
              + " access. About four minutes. Only --width, --only, --jvms (default: 7 rounds),"
              + " --check and --write go with it.")
  private boolean decode;

  @Option(
      names = "--calls",
      description =
          "Compare sixteen kinds of calls in turn with the same calls one kind after the other,"
              + " and backward passes with a gain of samples or groups with plain ones, on one"
              + " thread. Half a minute. Only --quick and --check go with it.")
  private boolean calls;

  @Option(
      names = "--width",
      paramLabel = "N",
      description = "The width of the rows of --decode (default: several).")
  private Integer width;

  @Option(names = "--check", description = "End with status 1 if a target is missed, and name it.")
  private boolean check;

  @Option(
      names = "--write",
      description =
          "Keep all rounds in docs/benchmarks, with tables and a chart, instead of those that this"
              + " processor or GPU has there. Only of whole runs.")
  private boolean write;

  @Option(
      names = "--json",
      paramLabel = "FILE.json",
      description = "Write all rounds to FILE.json as well.")
  private Path json;

  @Option(
      names = {"-f", "--force"},
      description = "Replace the file of --json if it exists.")
  private boolean force;

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (against != null) {
      return against();
    }
    if (decode) {
      return decode();
    }
    if (calls) {
      return calls();
    }
    if (width != null) {
      throw new WrongUseException("--width is for --decode");
    }
    List<String> arguments = arguments();
    if (device.isCuda()) {
      return onDevice();
    }
    try (ReplacingFile file = ReportOptions.begin("--json", json, force)) {
      ModuleBuild build = peers();
      Path checkout = build.checkout();
      String classPath = build.classPath(checkout, spec.commandLine().getErr());
      List<String> command = command(checkout, classPath);
      command.addAll(arguments);
      return file == null
          ? ModuleBuild.run(new ProcessBuilder(command).inheritIO())
          : runAndKeep(command, file);
    }
  }

  private int decode() throws IOException, InterruptedException {
    requireOnly("--decode", WITH_DECODE);
    WrongUseException.requireRange("--width", width, 65_536);
    if (write && (width != null || only != null || jvms != null && jvms < ROUNDS)) {
      throw new WrongUseException(
          "--write excludes --width, --only, and fewer --jvms than "
              + ROUNDS
              + ": only whole runs are kept");
    }
    List<String> command = measurement(DECODE);
    command.add(checkout().toString());
    command.add(String.valueOf(jvms == null ? ROUNDS : jvms));
    command.add(String.valueOf(width == null ? 0 : width));
    command.add(only == null ? "" : only);
    flag(command, "check", check);
    flag(command, "write", write);
    return ModuleBuild.run(new ProcessBuilder(command).inheritIO());
  }

  private int calls() throws IOException, InterruptedException {
    requireOnly("--calls", WITH_CALLS);
    List<String> command = measurement(CALLS);
    flag(command, "quick", quick);
    flag(command, "check", check);
    return ModuleBuild.run(new ProcessBuilder(command).inheritIO());
  }

  /** How a program that measures this library alone is started, without its arguments. */
  private List<String> measurement(String program) throws IOException, InterruptedException {
    ModuleBuild build = Against.measurements();
    return new ArrayList<>(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            build.classPath(build.checkout(), spec.commandLine().getErr()),
            program));
  }

  private void requireOnly(String name, Set<String> others) {
    for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
      if (!others.contains(option.longestName())) {
        throw new WrongUseException(name + " excludes " + option.longestName());
      }
    }
    WrongUseException.requireRange("--jvms", jvms, 100);
  }

  private int against() throws IOException, InterruptedException {
    requireOnly("--against", WITH_AGAINST);
    String home = System.getProperty(ModuleBuild.HOME);
    if (home == null) {
      throw new WrongUseException("--against takes a checkout, by ./rmsnorm");
    }
    return new Against(
            Path.of(home),
            against,
            only == null ? "" : only,
            jvms == null ? PAIRS : jvms,
            quick,
            spec.commandLine().getOut(),
            spec.commandLine().getErr())
        .run();
  }

  private int onDevice() throws IOException {
    for (Map.Entry<String, Boolean> flag : cpuFlags().entrySet()) {
      device.requireCpu(flag.getKey(), flag.getValue() ? "given" : null, OF_PROCESSOR);
    }
    device.requireCpu("--threads", threads.isEmpty() ? null : list(), DeviceOption.OWN_THREADS);
    device.requireCpu("--jvms", jvms, OF_PROCESSOR);
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    DeviceBench bench =
        new DeviceBench(
            DeviceBench.contests(quick, only), quick, check, write ? checkout() : null, out, err);
    try (ReplacingFile file = ReportOptions.begin("--json", json, force);
        CudaDevice opened = device.open()) {
      return bench.run(opened, file);
    }
  }

  private Map<String, Boolean> cpuFlags() {
    return Map.of(
        "--polluted", polluted, "--loops", loops, "--variants", variants, "--traps", traps);
  }

  private Path checkout() {
    String home = System.getProperty(ModuleBuild.HOME);
    if (home == null) {
      throw new WrongUseException("--write takes a checkout, by ./rmsnorm");
    }
    return Path.of(home);
  }

  /** The process ends with status 1 for a missed target too: its rounds are kept all the same. */
  private static int runAndKeep(List<String> command, ReplacingFile file)
      throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("rmsnorm-bench");
    Path rounds = folder.resolve("rounds.json");
    try {
      command.addAll(List.of("--json", rounds.toString()));
      int status = ModuleBuild.run(new ProcessBuilder(command).inheritIO());
      if (Files.exists(rounds)) {
        ReportOptions.write(file, Files.readString(rounds));
      }
      return status;
    } finally {
      Files.deleteIfExists(rounds);
      Files.deleteIfExists(folder);
    }
  }

  private static List<String> command(Path checkout, String classPath) {
    return new ArrayList<>(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--add-modules=jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            // Unpacked where `clean` takes it away again, and no collections on its account.
            "-Dorg.bytedeco.javacpp.cachedir=" + checkout.resolve("lab/peers/target/javacpp"),
            "-Dorg.bytedeco.javacpp.maxbytes=0",
            "-Dorg.bytedeco.javacpp.maxphysicalbytes=0",
            "-cp",
            classPath,
            PROGRAM,
            "--checkout",
            checkout.toString()));
  }

  private List<String> arguments() {
    if (write && (quick || traps || only != null || !threads.isEmpty() && !threads.contains(1))) {
      throw new WrongUseException(
          "--write excludes --quick, --only, --traps, and --threads without 1: only whole runs are"
              + " kept");
    }
    if (check && traps) {
      throw new WrongUseException(
          "--check and --traps exclude each other: there are no targets for traps");
    }
    if (Stream.of(loops, variants, traps).filter(given -> given).count() > 1) {
      throw new WrongUseException(
          "--loops, --variants and --traps exclude each other: each leaves out what the others"
              + " measure");
    }
    threads.forEach(count -> WrongUseException.requireRange("--threads", count, 1024));
    WrongUseException.requireRange("--jvms", jvms, 100);
    ReportOptions.requireName("--json", json, ".json");
    List<String> arguments = new ArrayList<>();
    flag(arguments, "--quick", quick);
    flag(arguments, "--polluted", polluted);
    flag(arguments, "--traps", traps);
    flag(arguments, "--loops", loops);
    flag(arguments, "--variants", variants);
    flag(arguments, "--check", check);
    flag(arguments, "--write", write);
    value(arguments, "--only", only);
    value(arguments, "--jvms", jvms);
    if (!threads.isEmpty()) {
      value(arguments, "--threads", list());
    }
    return arguments;
  }

  /** The numbers of threads, as they were given. */
  private String list() {
    return String.join(",", threads.stream().map(String::valueOf).toList());
  }

  private static void flag(List<String> arguments, String name, boolean given) {
    if (given) {
      arguments.add(name);
    }
  }

  private static void value(List<String> arguments, String name, Object value) {
    if (value != null) {
      arguments.addAll(List.of(name, value.toString()));
    }
  }

  /** The comparison with other libraries. */
  private static ModuleBuild peers() {
    return new ModuleBuild(
        "bench",
        List.of("core", "measure", "lab/benchmarks", "lab/peers"),
        "target/classes",
        List.of("-Ppeers", "compile", "dependency:build-classpath"),
        "the measurements",
        "what they compare with, about 190 MB the first time (libtorch, oneDNN, ONNX Runtime)");
  }
}
