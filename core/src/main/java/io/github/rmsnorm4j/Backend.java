package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import java.util.Locale;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * What the kernels run on: vectors of some width or plain Java, and whether they address native
 * memory or copy rows through a small buffer. The result of a norm never depends on it, to the bit;
 * only its speed does.
 *
 * <p>Values are immutable and safe to share.
 */
public final class Backend {
  private static final String VECTOR_MODULE = "jdk.incubator.vector";

  /** Made when first asked for, and said once where it is not the fastest. */
  private static final class Best {
    static final Backend VALUE = find();

    private static Backend find() {
      Backend backend = new Backend(machineBitsAskedFor(), preferredBits(), whyNoVectors(), true);
      String advice = backend.reason();
      if (!backend.isFastest()) {
        System.getLogger("io.github.rmsnorm4j")
            .log(System.Logger.Level.WARNING, "{0}: {1}", backend.describe(), advice);
      }
      return backend;
    }
  }

  private final int vectorBits;
  private final int machineBits;
  private final boolean nativeAccess;
  private final boolean startsPlain;
  private final String whyScalar;

  private Backend(int machineBits, int vectorBits, String whyScalar, boolean startsPlain) {
    this.machineBits = machineBits;
    this.vectorBits = vectorBits;
    this.startsPlain = startsPlain;
    this.whyScalar = whyScalar;
    nativeAccess = Backend.class.getModule().isNativeAccessEnabled();
  }

  /**
   * The fastest that this JVM has: vectors of the machine's preferred width where the Vector API is
   * there and compiled, plain Java otherwise. The first four million elements of a process go
   * through plain Java in any case, which starts sooner and has the same bits. Where something
   * better could be had, a line of {@link System.Logger} {@code io.github.rmsnorm4j} says so, once.
   *
   * @return what norms use unless told otherwise
   */
  public static Backend best() {
    return Best.VALUE;
  }

  /**
   * Plain Java.
   *
   * @return the backend without vectors
   */
  public static Backend scalar() {
    return new Backend(0, 0, "plain Java was asked for", false);
  }

  /**
   * Vectors of a given width.
   *
   * @param bits 128, 256 or 512; a width that the machine lacks works, very slowly
   * @return the backend of that width
   * @throws IllegalArgumentException if bits is another number
   * @throws UnsupportedOperationException if this JVM runs without the Vector API
   */
  public static Backend vector(int bits) {
    if (bits != 128 && bits != 256 && bits != 512) {
      throw new IllegalArgumentException("bits is " + bits + ", it may be 128, 256 or 512");
    }
    if (!isVectorApiThere()) {
      throw new UnsupportedOperationException(
          "the Vector API is not there: start java with --add-modules " + VECTOR_MODULE);
    }
    return new Backend(0, bits, null, false);
  }

  /**
   * Machine code that the library writes itself, with vectors of a given width. What it does not
   * serve goes the way of {@link #vector} or {@link #scalar}.
   *
   * @param bits 256 or 512
   * @return the backend of that width
   * @throws IllegalArgumentException if bits is another number
   * @throws UnsupportedOperationException if there is no such machine code here
   */
  public static Backend machineCode(int bits) {
    if (bits != 256 && bits != 512) {
      throw new IllegalArgumentException("bits is " + bits + ", it may be 256 or 512");
    }
    Machine here = Machine.here();
    if (bits > here.bits()) {
      String why = here.whyNot() == null ? "this processor has no AVX-512" : here.whyNot();
      throw new UnsupportedOperationException("no machine code of " + bits + " bits: " + why);
    }
    return new Backend(bits, preferredBits(), whyNoVectors(), false);
  }

  /**
   * The width of a vector.
   *
   * @return 128, 256 or 512 bits; 0 for plain Java
   */
  public int vectorBits() {
    return machineBits > 0 ? machineBits : vectorBits;
  }

  /** The width of vectors in machine code, 0 without. */
  int machineBits() {
    return machineBits;
  }

  /** The width of vectors of the Vector API, 0 for plain Java. */
  int kernelBits() {
    return vectorBits;
  }

  /**
   * Whether kernels address native memory directly. Where they may not, rows in native memory are
   * copied through a small buffer, which costs about half as much time again. Rows on the heap are
   * not concerned.
   *
   * @return whether native access is enabled for this library
   */
  public boolean nativeAccess() {
    return nativeAccess;
  }

  /**
   * The backend in one line.
   *
   * @return for example {@code 256-bit vectors, native access}
   */
  public String describe() {
    String kernels =
        machineBits > 0
            ? String.format(Locale.ROOT, "machine code, %d-bit vectors", machineBits)
            : vectorBits == 0
                ? "plain Java (no vectors)"
                : String.format(Locale.ROOT, "%d-bit vectors", vectorBits);
    return kernels + (nativeAccess ? ", native access" : ", native memory staged");
  }

  /**
   * Why it is this backend, and what would make it faster.
   *
   * @return one line
   */
  public String reason() {
    StringBuilder line = new StringBuilder();
    line.append(
        machineBits > 0
            ? "machine code can be run"
            : vectorBits == 0 ? whyScalar : "the Vector API is there");
    if (!nativeAccess) {
      Module module = Backend.class.getModule();
      line.append("; native access is off, turn it on with --enable-native-access=")
          .append(module.isNamed() ? module.getName() : "ALL-UNNAMED");
    }
    return line.toString();
  }

  /** Whether the first calls of a process go through plain Java, until vectors pay. */
  boolean startsPlain() {
    return startsPlain;
  }

  /** The same as {@link #describe()}. */
  @Override
  public String toString() {
    return describe();
  }

  private boolean isFastest() {
    return machineBits > 0 || vectorBits != 0 && nativeAccess;
  }

  private static boolean isVectorApiThere() {
    // Asked of the class, since a program may also load the module after the start.
    try {
      Class<?> vector =
          Class.forName(VECTOR_MODULE + ".FloatVector", false, Backend.class.getClassLoader());
      return Backend.class.getModule().canRead(vector.getModule());
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /**
   * Machine code is not yet what norms use unless told otherwise. Its vectors are no longer than
   * those that this JVM uses.
   */
  private static int machineBitsAskedFor() {
    if (!Boolean.getBoolean("rmsnorm4j.machineCode")) {
      return 0;
    }
    int bits = Machine.here().bits();
    return preferredBits() == 256 ? Math.min(bits, 256) : bits;
  }

  private static int preferredBits() {
    if (whyNoVectors() != null) {
      return 0;
    }
    return Math.min(MachineVectors.preferredBits(), 512);
  }

  /** Null where vectors can be used at speed. */
  private static String whyNoVectors() {
    if (!isVectorApiThere()) {
      return "the Vector API is not there, start java with --add-modules " + VECTOR_MODULE;
    }
    String mode = System.getProperty("java.vm.info", "");
    if (mode.contains("interpreted") || mode.contains("emulated-client")) {
      return "this JVM runs without its optimising compiler (" + mode + "), vectors would be slow";
    }
    return MachineVectors.areFast() ? null : "this processor has no AVX, vectors would be slow";
  }

  /** Apart, so that the Vector API is touched only where it is there. */
  private static final class MachineVectors {
    static int preferredBits() {
      return FloatVector.SPECIES_PREFERRED.vectorBitSize();
    }

    /** Without AVX there is no conversion of float vectors to double, which row sums need. */
    static boolean areFast() {
      boolean x86 = System.getProperty("os.arch", "").equals("amd64");
      int largest = VectorSpecies.ofLargestShape(float.class).vectorBitSize();
      return preferredBits() >= 128 && (largest >= 256 || !x86);
    }
  }
}
