package io.github.rmsnorm4j.cli.compare;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** How much memory may be taken without pushing others out. */
final class AvailableMemory {
  private static final Path MEMINFO = Path.of("/proc/meminfo");

  private AvailableMemory() {}

  /** Bytes: what the system could give, within the container's limit. */
  static long bytes() {
    OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    // In a container, both of these are of its limit.
    long free = system.getFreeMemorySize();
    long available = kibibytes("MemAvailable:") << 10;
    boolean limited = system.getTotalMemorySize() < kibibytes("MemTotal:") << 10;
    if (available == 0 || limited) {
      return available == 0 ? free : Math.min(free, available);
    }
    return available;
  }

  private static long kibibytes(String key) {
    try {
      return Files.readAllLines(MEMINFO).stream()
          .filter(line -> line.startsWith(key))
          .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }
}
