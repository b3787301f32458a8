package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;

/** The files that this process has open, where the system counts them. */
final class OpenFiles {
  private static final int ROUNDS = 50;

  private OpenFiles() {}

  /** What is to leave no file open. */
  interface Action {
    void run() throws IOException;
  }

  /** Does it often; each time without its closing would leave a file open. */
  static void assertNoneIsLeftBy(Action action) throws IOException {
    assumeThat(ManagementFactory.getOperatingSystemMXBean())
        .isInstanceOf(UnixOperatingSystemMXBean.class);
    for (int round = 0; round < 10; round++) {
      action.run(); // Then all classes have been loaded.
    }
    long before = count();
    for (int round = 0; round < ROUNDS; round++) {
      action.run();
    }
    assertThat(count() - before).isLessThan(ROUNDS);
  }

  private static long count() {
    return ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getOpenFileDescriptorCount();
  }
}
