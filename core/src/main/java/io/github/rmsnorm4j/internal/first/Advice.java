package io.github.rmsnorm4j.internal.first;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import io.github.rmsnorm4j.internal.machine.Jdk;

/**
 * Says once in a process which flag would make calls faster, after calls that would have gained.
 */
public final class Advice {
  private static boolean given;

  private Advice() {}

  /** Logs one line if a flag lacks that gives the fastest kernels of this system. */
  public static synchronized void give() {
    if (given) {
      return;
    }
    given = true;
    boolean machineCode = Machine.isSwitchedOn() && Machine.isForThisSystem();
    boolean lacks =
        machineCode
            ? !Backend.best().nativeAccess()
            : Jdk.obstacle(Jdk.FOR_JAVA_KERNELS) == null
                && ModuleLayer.boot().findModule("jdk.incubator.vector").isEmpty();
    if (lacks) {
      System.getLogger("io.github.rmsnorm4j")
          .log(
              System.Logger.Level.INFO,
              "{0}: {1}",
              Backend.best().describe(),
              Backend.best().reason());
    }
  }
}
