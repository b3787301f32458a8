package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The resident size of a process does not grow with the number of calls, of norms or of threads.
 * Norms that are dropped are collected now and then. The heap is resident from the start, so that
 * growth is native memory.
 */
@Tag("measure")
@EnabledOnOs(OS.LINUX)
class NativeMemoryTest {
  private static final int MOST_MIB = 128;

  @ParameterizedTest
  @EnumSource(NativeMemoryUse.Work.class)
  void staysWhatItIsAfterATenthOfTheCalls(NativeMemoryUse.Work work) throws Exception {
    List<String> flags =
        ChildJvm.flags(
            "-Xms512m",
            "-Xmx512m",
            "-XX:+AlwaysPreTouch",
            "-Djdk.virtualThreadScheduler.parallelism=" + NativeMemoryUse.CARRIERS,
            "-Djdk.virtualThreadScheduler.maxPoolSize=" + NativeMemoryUse.CARRIERS);
    String[] sizes =
        ChildJvm.output(flags, NativeMemoryUse.class, work.name())
            .lines()
            .toList()
            .getLast()
            .split(" ");
    int first = Integer.parseInt(sizes[0]);
    int most = Integer.parseInt(sizes[1]);
    System.out.printf("NativeMemoryTest, %s: %d MiB, later at most %d MiB%n", work, first, most);
    assertThat(most)
        .as("MiB after a tenth of %s: %d", work, first)
        .isLessThan(first + MOST_MIB + work.passMiB());
  }
}
