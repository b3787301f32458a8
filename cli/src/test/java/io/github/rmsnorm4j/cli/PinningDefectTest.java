package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.ChildJvm;
import io.github.rmsnorm4j.measure.PinningDefect;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PinningDefectTest {
  @ParameterizedTest
  @CsvSource({
    "25, true",
    "25-ea+36, true",
    "25.0.1+8-LTS, true",
    "25.0.2+10-LTS, true",
    "25.0.3+9-LTS, false",
    "25.0.10, false",
    "25.1, false",
    "24.0.2, false",
    "26, false",
    "26.0.1, false"
  })
  void itIsInTheFirstThreeReleasesOf25(String version, boolean there) {
    assertThat(
            PinningDefect.isIn(
                Runtime.Version.parse(version),
                List.of("G1 Young Generation", "G1 Concurrent GC", "G1 Old Generation")))
        .isEqualTo(there);
  }

  @ParameterizedTest
  @CsvSource({
    "PS MarkSweep, PS Scavenge",
    "Copy, MarkSweepCompact",
    "ZGC Minor Cycles, ZGC Major Pauses",
    "Shenandoah Cycles, Shenandoah Pauses"
  })
  void otherCollectorsDoNotHaveIt(String one, String other) {
    assertThat(PinningDefect.isIn(Runtime.Version.parse("25.0.1"), List.of(one, other))).isFalse();
  }

  /** A JVM with each collector says of itself what its name for the collector means here. */
  @ParameterizedTest
  @CsvSource({"-XX:+UseG1GC, true", "-XX:+UseParallelGC, false", "-XX:+UseSerialGC, false"})
  void namesOfCollectorsAreThoseOfTheJvm(String option, boolean g1) throws Exception {
    List<String> command = ChildJvm.command(Asked.class, List.of(option));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said.strip()).isEqualTo(Boolean.toString(g1));
  }

  /** Whether a JDK 25.0.1 with the collectors of this JVM would have it. */
  static final class Asked {
    private Asked() {}

    public static void main(String[] args) {
      System.out.println(
          PinningDefect.isIn(
              Runtime.Version.parse("25.0.1"),
              java.lang.management.ManagementFactory.getGarbageCollectorMXBeans().stream()
                  .map(java.lang.management.GarbageCollectorMXBean::getName)
                  .toList()));
    }
  }

  @Test
  void doctorSaysIt() {
    StringWriter out = new StringWriter();
    picocli.CommandLine command = new picocli.CommandLine(new Doctor(() -> true));
    command.setOut(new PrintWriter(out));
    assertThat(command.execute()).isZero();
    assertThat(out.toString().replaceAll("\\s+", " "))
        .contains(PinningDefect.describe(Runtime.version()));
  }
}
