package io.github.rmsnorm4j.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code rmsnorm bench}: starts the measurements beside other libraries, in a process of their own.
 * Those libraries are no part of the command line: Maven fetches them when this is first asked for.
 */
@Command(
    name = "bench",
    description = {
      "Measure this library beside libtorch, oneDNN, ONNX Runtime and a plain Java loop.",
      "",
      "All do the same work on the same rows, in turn, and their answers are checked first. Printed"
          + " are times, targets, and a table of rows that some systems get wrong. The first run"
          + " fetches what is compared with, about 190 MB, which only this command uses. A whole run"
          + " takes about an hour; leave the machine alone meanwhile.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm bench --quick",
      "  rmsnorm bench --only \"128 x 4096\" --threads 1 --check",
      "  rmsnorm bench --traps"
    })
final class Bench implements Callable<Integer> {
  private static final String PROGRAM = "io.github.rmsnorm4j.peers.PeerTable";

  @Spec private CommandSpec spec;

  @Option(
      names = "--quick",
      description = "Short rounds of few shapes, about two minutes; the figures mean little.")
  private boolean quick;

  @Option(
      names = "--only",
      paramLabel = "TEXT",
      description = "Only what has TEXT in its title, such as \"LayerNorm float32 1 x 4096\".")
  private String only;

  @Option(
      names = "--threads",
      paramLabel = "N",
      split = ",",
      description = "With so many threads, or N,N,... (default: 1 and all processors).")
  private List<Integer> threads = List.of();

  @Option(
      names = "--jvms",
      paramLabel = "N",
      description =
          "Measure each shape in N fresh JVMs and show the middle one (default: 1). What the"
              + " compiler makes of the same code differs.")
  private Integer jvms;

  @Option(
      names = "--polluted",
      description = "Only in JVMs that much else has been through, which takes half the time.")
  private boolean polluted;

  @Option(names = "--traps", description = "Only the rows that some systems get wrong.")
  private boolean traps;

  @Option(names = "--check", description = "End with status 1 if a target is missed, and name it.")
  private boolean check;

  @Option(
      names = "--write",
      description = "Keep all rounds in docs/benchmarks and make docs/performance.md again.")
  private boolean write;

  @Option(names = "--json", paramLabel = "FILE", description = "Write all rounds to FILE as well.")
  private Path json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<String> arguments = arguments();
    ModuleBuild build = ModuleBuild.peers();
    Path checkout = build.checkout();
    String classPath = build.classPath(checkout, spec.commandLine().getErr());
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                // Unpacked where `clean` takes it away again, and no collections on its account.
                "-Dorg.bytedeco.javacpp.cachedir=" + checkout.resolve("peers/target/javacpp"),
                "-Dorg.bytedeco.javacpp.maxbytes=0",
                "-Dorg.bytedeco.javacpp.maxphysicalbytes=0",
                "-cp",
                classPath,
                PROGRAM,
                "--checkout",
                checkout.toString()));
    command.addAll(arguments);
    return ModuleBuild.run(new ProcessBuilder(command).inheritIO());
  }

  private List<String> arguments() {
    if (write && (quick || traps || polluted || only != null)) {
      throw wrong("--write takes a whole run: it excludes --quick, --only, --polluted and --traps");
    }
    if (check && traps) {
      throw wrong("--check and --traps exclude each other: there are no targets for traps");
    }
    for (int count : threads) {
      if (count < 1 || count > 1024) {
        throw wrong("--threads is " + count + ", it may be 1 to 1024");
      }
    }
    if (jvms != null && (jvms < 1 || jvms > 100)) {
      throw wrong("--jvms is " + jvms + ", it may be 1 to 100");
    }
    List<String> arguments = new ArrayList<>();
    flag(arguments, "--quick", quick);
    flag(arguments, "--polluted", polluted);
    flag(arguments, "--traps", traps);
    flag(arguments, "--check", check);
    flag(arguments, "--write", write);
    value(arguments, "--only", only);
    value(arguments, "--jvms", jvms);
    value(arguments, "--json", json);
    if (!threads.isEmpty()) {
      value(
          arguments, "--threads", String.join(",", threads.stream().map(String::valueOf).toList()));
    }
    return arguments;
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

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
