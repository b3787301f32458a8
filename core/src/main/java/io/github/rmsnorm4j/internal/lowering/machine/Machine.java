package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.machine.Jdk;
import io.github.rmsnorm4j.internal.machine.Processor;
import io.github.rmsnorm4j.internal.machine.Shortage;

/**
 * Whether kernels can be machine code here.
 *
 * @param bits of the longest vectors: 512, 256, or 0 where there is no machine code
 * @param preferredBits of the vectors that are fastest, likewise
 * @param bfloat16 whether the processor rounds to bfloat16 itself
 * @param prefetched bytes of the longest elements that kernels read faster from memory if they
 *     prefetch them
 * @param whyNot why there is none; null where there is
 */
public record Machine(
    int bits, int preferredBits, boolean bfloat16, int prefetched, String whyNot) {
  /** The system property that switches machine code off. */
  public static final String SWITCH = "rmsnorm4j.machineCode";

  private static final boolean SWITCHED_ON = !"false".equals(System.getProperty(SWITCH));

  /** Found out when first asked for; null before. */
  private static volatile Machine found;

  /** What this process can have. Without memory to find out, that is nothing now. */
  public static Machine here() {
    Machine machine = found;
    return machine == null ? look() : machine;
  }

  private static synchronized Machine look() {
    if (found != null) {
      return found;
    }
    try {
      if (!Shortage.lasts()) {
        found = find();
        return found;
      }
    } catch (OutOfMemoryError e) {
      Shortage.note(e);
    }
    return new Machine(0, 0, false, 0, Shortage.MESSAGE);
  }

  /**
   * Whether the operating system and the JVM's flags allow it. The processor is not asked, and the
   * system may still forbid to execute memory.
   */
  public static boolean isPossible() {
    return obstacle() == null;
  }

  /** Whether the user wants it. */
  public static boolean isSwitchedOn() {
    return SWITCHED_ON;
  }

  /** Whether there is machine code for this operating system, kind of processor and JDK. */
  public static boolean isForThisSystem() {
    return whyNotForThisSystem() == null;
  }

  private static String whyNotForThisSystem() {
    return system().equals("Linux amd64")
        ? Jdk.obstacle(Jdk.FOR_MACHINE_CODE)
        : "there is none for " + system();
  }

  private static String system() {
    return System.getProperty("os.name", "") + " " + System.getProperty("os.arch", "");
  }

  private static String obstacle() {
    String obstacle = whyNotForThisSystem();
    if (obstacle != null) {
      return obstacle;
    }
    return Machine.class.getModule().isNativeAccessEnabled() ? null : "native access is off";
  }

  private static Machine find() {
    String obstacle = obstacle();
    if (obstacle != null) {
      return new Machine(0, 0, false, 0, obstacle);
    }
    try {
      Processor processor = Processor.find();
      int bits = processor.avx512() ? 512 : processor.avx2() ? 256 : 0;
      int preferred = processor.slowsDown() ? Math.min(bits, 256) : bits;
      int prefetched = processor.intel() ? Long.BYTES : Short.BYTES;
      return bits == 0
          ? none("this processor has no AVX2")
          : new Machine(bits, preferred, processor.bfloat16(), prefetched, null);
    } catch (UnsupportedOperationException | LinkageError e) {
      Shortage.requireNone(e);
      return none(String.valueOf(e.getMessage()));
    }
  }

  /** Warns, since the backend was chosen before this was known. */
  private static Machine none(String whyNot) {
    System.getLogger("io.github.rmsnorm4j")
        .log(System.Logger.Level.WARNING, "no machine code: {0}", whyNot);
    return new Machine(0, 0, false, 0, whyNot);
  }
}
