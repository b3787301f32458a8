package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.measure.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The program that runs one variant once and tells how much memory that took. */
public final class PeakMemory {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final int WARM_ELEMENTS = 1 << 20;

  private PeakMemory() {}

  /** Whether this system tells. */
  static boolean isTold() {
    return Files.isReadable(STATUS);
  }

  /** A variant's, from a fresh JVM. */
  static MemoryUse measure(Subject subject, Variant variant, int threads) throws IOException {
    List<String> arguments =
        List.of(
            variant.name(),
            subject.pass().name(),
            subject.type().name(),
            subject.shape().toString().replace(" ", ""),
            String.valueOf(threads));
    List<String> flags = new ArrayList<>(ChildJvm.flags());
    flags.addAll(
        List.of("--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"));
    String answer = ChildJvm.call(PeakMemory.class, flags, arguments);
    return new MemoryUse(subject, variant, Long.parseLong(answer.strip()));
  }

  /**
   * Measures. The arguments are the file for the answer, in bytes, and variant, pass, type, shape
   * and threads.
   */
  public static void main(String[] args) throws IOException {
    Variant variant = Variant.valueOf(args[1]);
    Subject subject =
        new Subject(Pass.valueOf(args[2]), ElementType.valueOf(args[3]), Shape.parse(args[4]));
    try (Crew crew = new Crew(Integer.parseInt(args[5]))) {
      warmUp(variant, subject, crew);
      long baseline = kibibytes("VmRSS");
      forgetPeak();
      run(variant, subject, crew);
      long used = Math.max(0, kibibytes("VmHWM") - baseline);
      Files.writeString(Path.of(args[0]), String.valueOf(used << 10));
    }
  }

  /** So that classes and what the compiler needs are in the baseline, not in the answer. */
  private static void warmUp(Variant variant, Subject subject, Crew crew) {
    int width = subject.shape().width();
    int rows = Math.clamp(WARM_ELEMENTS / width, 1, subject.shape().rows());
    Subject small = new Subject(subject.pass(), subject.type(), Shape.of(rows, width));
    CompilerRest.after(() -> run(variant, small, crew));
  }

  private static void run(Variant variant, Subject subject, Crew crew) {
    try (CpuGround ground = CpuGround.of(subject, crew, Backend.best())) {
      Contestant<?> contestant = ground.contestant(variant);
      contestant.prepare();
      contestant.pass();
    }
  }

  /** From here on; where it is refused, the start of the JVM counts if it was larger. */
  private static void forgetPeak() {
    try {
      Files.writeString(Path.of("/proc/self/clear_refs"), "5");
    } catch (IOException e) {
      System.err.println("the peak so far counts: " + e);
    }
  }

  private static long kibibytes(String key) throws IOException {
    return AvailableMemory.kibibytes(STATUS, key)
        .orElseThrow(() -> new IOException(STATUS + " has no line " + key));
  }
}
