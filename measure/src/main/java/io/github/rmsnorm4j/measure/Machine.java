package io.github.rmsnorm4j.measure;

import io.github.rmsnorm4j.Backend;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What was measured on.
 *
 * @param cpu its name, as the system has it
 * @param processors how many the JVM may use
 * @param system operating system and architecture
 * @param java the JVM
 * @param flags of the JVM
 * @param backend the backend of the norms
 * @param vectorBits the width of the norms' vectors
 */
public record Machine(
    String cpu,
    int processors,
    String system,
    String java,
    List<String> flags,
    String backend,
    int vectorBits) {
  private static final Path CPU_INFO = Path.of("/proc/cpuinfo");

  /**
   * The machine that this runs on.
   *
   * @param backend the backend of the norms that are measured
   * @return what can be told of it
   */
  public static Machine thisOne(Backend backend) {
    return new Machine(
        processor(),
        Runtime.getRuntime().availableProcessors(),
        property("os.name") + " " + property("os.arch"),
        property("java.vendor.version") + " (" + property("java.vm.name") + ")",
        ChildJvm.flags(),
        backend.describe(),
        backend.vectorBits());
  }

  /**
   * This machine without flags that only say where something is on it.
   *
   * @param beginnings of the flags to leave out
   * @return a machine with the other flags
   */
  public Machine withoutFlags(List<String> beginnings) {
    List<String> others =
        flags.stream().filter(flag -> beginnings.stream().noneMatch(flag::startsWith)).toList();
    return new Machine(cpu, processors, system, java, others, backend, vectorBits);
  }

  /**
   * For the name of a file: {@code amd-epyc-25-17}.
   *
   * @return the processor's name, family and model in lower case, of letters, digits and hyphens
   */
  public String slug() {
    return cpu.replaceAll("\\(family (\\d+), model (\\d+)\\)|\\(R\\)", " $1 $2")
        .toLowerCase(Locale.ROOT)
        .replaceAll("[^a-z0-9]+", "-")
        .replaceAll("^-|-$", "");
  }

  /**
   * The processor's name, with family and model where the system tells them.
   *
   * @return the name, or the architecture where the system has none
   */
  public static String processor() {
    if (!Files.isReadable(CPU_INFO)) {
      String name = System.getenv("PROCESSOR_IDENTIFIER");
      return name == null ? property("os.arch") : name;
    }
    try {
      // Family and model tell chips apart whose name says no more than "AMD EPYC".
      List<String> first =
          Files.readAllLines(CPU_INFO).stream().takeWhile(l -> !l.isBlank()).toList();
      String name = value(first, "model name");
      return name.isEmpty()
          ? property("os.arch")
          : "%s (family %s, model %s)"
              .formatted(name, value(first, "cpu family"), value(first, "model"));
    } catch (IOException e) {
      return property("os.arch");
    }
  }

  private static String value(List<String> lines, String key) {
    return lines.stream()
        .map(line -> line.split("\\s*:\\s*", 2))
        .filter(parts -> parts.length == 2 && parts[0].equals(key))
        .map(parts -> parts[1])
        .limit(1)
        .collect(Collectors.joining());
  }

  private static String property(String name) {
    return System.getProperty(name, "unknown");
  }
}
