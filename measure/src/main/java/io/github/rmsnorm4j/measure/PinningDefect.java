package io.github.rmsnorm4j.measure;

import java.lang.Runtime.Version;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

/**
 * JDK-8377811: in JDK 25.0.0 to 25.0.2 the G1 collector may move or reuse an array while native
 * code works on it. Zstandard's native library works on arrays in that way, so compressed Parquet
 * is written or read wrongly (zstd-jni issue 377). No other collector is concerned.
 */
public final class PinningDefect {
  private static final int FEATURE = 25;
  private static final int FIRST_UPDATE_WITHOUT = 3;

  private PinningDefect() {}

  /**
   * {@return whether this JVM has it; one that is started with the same options has it exactly
   * then}
   */
  public static boolean isHere() {
    return isIn(
        Runtime.version(),
        ManagementFactory.getGarbageCollectorMXBeans().stream()
            .map(GarbageCollectorMXBean::getName)
            .toList());
  }

  /**
   * {@return whether a JVM has it}
   *
   * @param version of its JDK
   * @param collectors names of its garbage collectors
   */
  public static boolean isIn(Version version, List<String> collectors) {
    return version.feature() == FEATURE
        && version.interim() == 0
        && version.update() < FIRST_UPDATE_WITHOUT
        && collectors.stream().anyMatch(name -> name.startsWith("G1 "));
  }

  /**
   * {@return what is wrong and what to do, in one line}
   *
   * @param version of the JDK
   */
  public static String describe(Version version) {
    return "JDK %s with the G1 collector corrupts compressed Parquet (JDK-8377811): use JDK 25.0.3 or newer, or another collector, as with RMSNORM_OPTS=-XX:+UseParallelGC"
        .formatted(version);
  }
}
