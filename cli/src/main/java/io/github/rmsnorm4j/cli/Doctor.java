package io.github.rmsnorm4j.cli;

import com.sun.management.OperatingSystemMXBean;
import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaDeviceInfo;
import io.github.rmsnorm4j.cuda.CudaVersion;
import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.measure.Paragraph;
import io.github.rmsnorm4j.measure.PinningDefect;
import io.github.rmsnorm4j.report.Records;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code rmsnorm doctor}: what this machine offers and what is made of it. */
@Command(
    name = "doctor",
    description = "Show which kernels are in use, why, and what would make them faster.",
    footer = {"", "Example:", "  rmsnorm doctor"})
final class Doctor implements Callable<Integer> {
  private static final double GIB = 1 << 30;

  /** Where the text begins, behind its label. */
  private static final String INDENT = " ".repeat(12);

  @Spec private CommandSpec spec;

  private final BooleanSupplier isDefective;

  Doctor() {
    this(PinningDefect::isHere);
  }

  /** For tests. */
  Doctor(BooleanSupplier isDefective) {
    this.isDefective = isDefective;
  }

  @Mixin private JsonOption json;

  /** What goes to programs. */
  record Findings(
      String java,
      String javaHome,
      String compiler,
      Optional<String> spark,
      String system,
      String processor,
      int processors,
      long memoryBytes,
      long heapBytes,
      List<String> gpus,
      String kernels,
      int vectorBits,
      boolean nativeAccess,
      String reason,
      String advice) {}

  @Override
  public Integer call() throws IOException {
    Findings found = figures();
    try (JsonOption.JsonOutput data = json.begin(spec.commandLine())) {
      print(found);
      if (data != null) {
        data.write(Records.write(found));
      }
    }
    return ExitCode.OK;
  }

  private Findings figures() {
    OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    Backend backend = VectorApi.bestBackend(false);
    return new Findings(
        System.getProperty("java.vendor.version", "") + " " + Runtime.version(),
        System.getProperty("java.home"),
        System.getProperty("java.vm.name") + ", " + System.getProperty("java.vm.info"),
        isDefective.getAsBoolean()
            ? Optional.of("does not start: " + PinningDefect.describe(Runtime.version()))
            : Optional.empty(),
        "%s %s, %s"
            .formatted(
                System.getProperty("os.name"),
                System.getProperty("os.version"),
                System.getProperty("os.arch")),
        Machine.processor(),
        Runtime.getRuntime().availableProcessors(),
        system.getTotalMemorySize(),
        Runtime.getRuntime().maxMemory(),
        gpuTexts(CudaDevice.missing(), CudaDevice.driverVersion(), CudaDevice.devices()),
        backend.describe(),
        backend.vectorBits(),
        backend.nativeAccess(),
        backend.reason(),
        advice(backend));
  }

  private void print(Findings found) {
    line("Java", found.java);
    line("", found.javaHome);
    line("Compiler", found.compiler);
    found.spark.ifPresent(text -> line("Spark", text));
    line("System", found.system);
    line("Processor", "%s, %s usable".formatted(found.processor, found.processors));
    line(
        "Memory",
        "%s, of which this JVM's heap may take %s"
            .formatted(gib(found.memoryBytes), gib(found.heapBytes)));
    for (int i = 0; i < found.gpus.size(); i++) {
      line(i == 0 ? "GPU" : "", found.gpus.get(i));
    }
    line("Kernels", found.kernels);
    line("", found.reason);
    line("", "float32 rows that come one at a time stay in plain Java");
    line("Faster?", found.advice);
    line(
        "Threads",
        "up to %s, about one for each MiB that is read and written; --threads N sets another limit"
            .formatted(found.processors));
  }

  /** The devices that can be used, then what is missing for the others. */
  static List<String> gpuTexts(
      Optional<String> missing, Optional<CudaVersion> driver, List<CudaDeviceInfo> devices) {
    List<String> texts = new ArrayList<>();
    for (CudaDeviceInfo device : devices) {
      texts.add(
          device
              .missing()
              .map(why -> "not usable: " + why)
              .orElseGet(
                  () ->
                      "%s, %s, compute capability %s"
                          .formatted(
                              device, gib(device.memoryBytes()), device.computeCapability())));
    }
    if (devices.isEmpty()) {
      texts.add("none: " + missing.orElseThrow());
    }
    driver.ifPresent(version -> texts.add("the driver supports CUDA " + version));
    return texts;
  }

  private static String advice(Backend backend) {
    String mode = System.getProperty("java.vm.info", "");
    if (mode.contains("interpreted") || mode.contains("emulated-client")) {
      return "with the optimising compiler: start without -Xint and -XX:TieredStopAtLevel";
    }
    if ("false".equals(System.getProperty("rmsnorm4j.machineCode"))) {
      return "with machine code, if it can be run here: start without -Drmsnorm4j.machineCode=false";
    }
    return backend.vectorBits() != 0 && backend.nativeAccess()
        ? "no setting would make them faster on this machine"
        : "only without the obstacle that the line above names";
  }

  private static String gib(long bytes) {
    return String.format(Locale.ROOT, "%.1f GiB", bytes / GIB);
  }

  private void line(String label, String text) {
    PrintWriter out = spec.commandLine().getOut();
    Paragraph.lines("%-12s".formatted(label), INDENT, text).forEach(out::println);
  }
}
