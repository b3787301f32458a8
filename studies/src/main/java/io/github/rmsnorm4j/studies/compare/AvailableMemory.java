package io.github.rmsnorm4j.studies.compare;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/** How much memory may be taken without pushing others out. */
public final class AvailableMemory {
  private static final Path MEMINFO = Path.of("/proc/meminfo");

  private AvailableMemory() {}

  /** Bytes: what the system could give, within the container's limit. */
  public static long bytes() {
    OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    // In a container, both of these are of its limit.
    long free = system.getFreeMemorySize();
    long available = kibibytes("MemAvailable") << 10;
    boolean limited = system.getTotalMemorySize() < kibibytes("MemTotal") << 10;
    if (available == 0 || limited) {
      return available == 0 ? free : Math.min(free, available);
    }
    return available;
  }

  private static long kibibytes(String key) {
    try {
      return kibibytes(MEMINFO, key).orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }

  /** What a file of Linux says behind a key and a colon; empty if it does not have the key. */
  static OptionalLong kibibytes(Path file, String key) throws IOException {
    return Files.readAllLines(file).stream()
        .filter(line -> line.startsWith(key + ":"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
        .findFirst();
  }
}
