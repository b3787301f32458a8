package io.github.rmsnorm4j.internal.machine;

import org.jspecify.annotations.Nullable;

/**
 * What kernels need of the JDK, beyond 21. Who asks here first touches no class that an older JDK
 * lacks.
 */
public final class Jdk {
  /** Native calls that take arrays: the third preview of java.lang.foreign had none. */
  public static final int FOR_MACHINE_CODE = 22;

  /** Classes made at run time, by java.lang.classfile: Java loops, and kernels of vectors. */
  public static final int FOR_JAVA_KERNELS = 24;

  private Jdk() {}

  /** Why this JDK will not do; null if it will. */
  public static @Nullable String obstacle(int since) {
    Runtime.Version version = Runtime.version();
    return version.feature() >= since
        ? null
        : "JDK " + since + " or newer is needed, this is " + version;
  }
}
