package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import io.github.rmsnorm4j.internal.machine.Jdk;
import java.util.Locale;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;
import org.jspecify.annotations.Nullable;

/**
 * What the kernels run on: machine code, the Vector API, Java loops, or plain Java. A backend also
 * says whether kernels address native memory or copy rows through a small buffer. It changes the
 * speed of a norm, never a bit of the result.
 *
 * <p>The library writes machine code itself, for x86-64 processors with AVX2 under Linux, if native
 * access is enabled. Rows that have to be copied first take the Vector API, or Java loops without
 * it. Java loops are made at run time for each stage of a formula; the JIT compiles them to
 * vectors. They need no flag. {@link #best} also takes the Vector API, if it is there, for
 * gradients of float64 rows, of partial norms and of rows of more than 65,536 elements, and for
 * float64 rows as long. The system property {@code rmsnorm4j.machineCode=false} switches machine
 * code off for a process, {@link #withoutMachineCode} for one norm.
 *
 * <p>Kernels are made when they pay. Until then {@link #best} and {@link #withoutMachineCode} serve
 * float32 rows with loops of plain Java that are compiled within a few tokens of an engine. Rows of
 * up to 8,192 elements that come one at a time stay there for good. For others kernels follow after
 * 5e8 elements in calls of a kind of norm, except that without machine code and the Vector API rows
 * of more than 512 elements stay. Calls that are not of float32 rows alone, or have a gate, codes
 * or statistics, and gradients have their first 2^22 elements of a kind of norm in plain Java, 2^26
 * where only Java loops follow. A backend that was chosen by name serves the first call already.
 *
 * <p>Machine code needs JDK 22 or newer; Java loops and the Vector API need 24. On an older JDK
 * plain Java serves the calls, with the same bits.
 *
 * <p>Values are immutable and safe to share.
 */
public final class Backend {
  private static final String VECTOR_MODULE = "jdk.incubator.vector";
  private static final String PLAIN = "plain Java (no vectors)";
  private static final int PREFERRED = -1;

  /** Made at the first use. */
  private static final class Best {
    static final Backend VALUE = new Backend(PREFERRED, null, true, true);
  }

  /**
   * Vectors of the Vector API.
   *
   * @param bits the width of a vector, 0 without the Vector API
   * @param whyNone why there are no vectors; null if there are
   */
  private record Vectors(int bits, @Nullable String whyNone) {
    /** The vectors of this JVM. Finding them takes time, and machine code seldom needs them. */
    private static final class Preferred {
      static final Vectors VALUE = find();

      private static Vectors find() {
        String whyNone = whyNoVectors();
        return new Vectors(whyNone == null ? Math.min(Species.preferredBits(), 512) : 0, whyNone);
      }
    }
  }

  /** Bits of vectors in machine code; 0 without, {@link #PREFERRED} for the fastest width. */
  private final int machineBits;

  /** Null for the vectors that the JVM prefers. */
  private final @Nullable Vectors vectors;

  private final boolean nativeAccess;

  /** Whether calls that nothing else serves take loops, and not plain Java. */
  private final boolean loops;

  private final boolean startsPlain;

  private Backend(int machineBits, @Nullable Vectors vectors, boolean loops, boolean startsPlain) {
    this.machineBits = machineBits;
    this.vectors = vectors;
    this.loops = loops;
    this.startsPlain = startsPlain;
    nativeAccess = Backend.class.getModule().isNativeAccessEnabled();
  }

  /**
   * {@return the backend of norms for which no other was chosen, the fastest of this JVM: machine
   * code if the process can run it, otherwise the Vector API with the preferred width of the
   * machine, otherwise Java loops} Calls begin in plain Java. A daemon thread, {@code
   * rmsnorm4j-kernels}, makes kernels for those that have had enough work, while they go on. Rows
   * of float32 that come one at a time need none. If a flag of the JVM would have made calls faster
   * by then, {@link System.Logger} {@code io.github.rmsnorm4j} says so once, at level INFO.
   */
  public static Backend best() {
    return Best.VALUE;
  }

  /**
   * {@return the fastest backend without machine code: the Vector API if it is present, otherwise
   * Java loops}
   */
  public static Backend withoutMachineCode() {
    return new Backend(0, null, true, true);
  }

  /**
   * {@return whether {@link #best} is machine code; false if this process cannot run it, or the
   * system property switches it off}
   */
  public static boolean hasMachineCode() {
    return whyNoMachineCode() == null;
  }

  /** {@return plain Java: a few loops that all norms share, and that need no class of their own} */
  public static Backend scalar() {
    return new Backend(0, new Vectors(0, "plain Java was asked for"), false, false);
  }

  /**
   * {@return the backend of Java loops, which are made at run time and need no flag}
   *
   * @throws UnsupportedOperationException if the JDK is older than 24
   */
  public static Backend loops() {
    requireJavaKernels("no Java loops: ");
    return new Backend(0, new Vectors(0, "Java loops were asked for"), true, false);
  }

  /**
   * {@return the backend of the Vector API with vectors of a given width}
   *
   * @param bits 128, 256 or 512; a width that the machine lacks works too, very slowly
   * @throws IllegalArgumentException if bits is another number
   * @throws UnsupportedOperationException if this JVM runs without the Vector API, or the JDK is
   *     older than 24
   */
  public static Backend vector(int bits) {
    if (bits != 128 && bits != 256 && bits != 512) {
      throw new IllegalArgumentException("bits is " + bits + ", it may be 128, 256 or 512");
    }
    requireJavaKernels("no kernels of vectors: ");
    if (!isVectorApiThere()) {
      throw new UnsupportedOperationException(
          "the Vector API is not there: start java with --add-modules " + VECTOR_MODULE);
    }
    return new Backend(0, new Vectors(bits, null), true, false);
  }

  private static void requireJavaKernels(String what) {
    String obstacle = Jdk.obstacle(Jdk.FOR_JAVA_KERNELS);
    if (obstacle != null) {
      throw new UnsupportedOperationException(what + obstacle);
    }
  }

  /**
   * {@return the backend of machine code with vectors of a given width} Calls that machine code
   * does not serve take the Vector API, or Java loops without it.
   *
   * @param bits 256 or 512
   * @throws IllegalArgumentException if bits is another number
   * @throws UnsupportedOperationException if this process cannot run such machine code, or the
   *     system property switches it off
   */
  public static Backend machineCode(int bits) {
    if (bits != 256 && bits != 512) {
      throw new IllegalArgumentException("bits is " + bits + ", it may be 256 or 512");
    }
    String whyNot = whyNoMachineCode();
    if (whyNot == null && bits > Machine.here().bits()) {
      whyNot = "this processor has no AVX-512";
    }
    if (whyNot != null) {
      throw new UnsupportedOperationException("no machine code of " + bits + " bits: " + whyNot);
    }
    return new Backend(bits, null, true, false);
  }

  /**
   * {@return the width of a vector: 128, 256 or 512 bits; 0 for plain Java and for Java loops,
   * whose vectors the JIT chooses}
   */
  public int vectorBits() {
    return machineBits() > 0 ? machineBits() : kernelBits();
  }

  /** The width of vectors in machine code, 0 without machine code. */
  int machineBits() {
    if (machineBits != PREFERRED) {
      return machineBits;
    }
    return Machine.isSwitchedOn() ? Machine.here().preferredBits() : 0;
  }

  /** The width of vectors of the Vector API, 0 without it. */
  int kernelBits() {
    return vectors().bits;
  }

  private Vectors vectors() {
    return vectors == null ? Vectors.Preferred.VALUE : vectors;
  }

  /**
   * {@return whether native access is enabled for this library: whether kernels may address native
   * memory directly} If they may not, rows in native memory are copied through a small buffer,
   * which takes time. Java loops always copy such rows. Rows in Java arrays are not affected.
   */
  public boolean nativeAccess() {
    return nativeAccess;
  }

  /**
   * {@return what serves the calls of a norm, in one line, for example {@code plain Java, later
   * machine code, 512-bit vectors, native access}} Only backends that were chosen by name begin
   * with their kernels.
   */
  public String describe() {
    String kernels =
        machineBits() > 0
            ? String.format(Locale.ROOT, "machine code, %d-bit vectors", machineBits())
            : describeJavaKernels();
    return (startsPlain && !kernels.equals(PLAIN) ? "plain Java, later " : "")
        + kernels
        + (nativeAccess ? ", native access" : ", native memory staged");
  }

  private String describeJavaKernels() {
    if (kernelBits() == 0) {
      return hasLoops() ? "Java loops" : PLAIN;
    }
    return String.format(Locale.ROOT, "%d-bit vectors", kernelBits());
  }

  /** {@return why this backend was chosen, and what would make it faster, in one line} */
  public String reason() {
    if (machineBits() > 0) {
      return "machine code can be run; other calls take " + describeJavaKernels();
    }
    String why = vectors().whyNone;
    String ofVectors = why == null ? "the Vector API is there" : why;
    if (nativeAccess) {
      return machineBits == PREFERRED
          ? ofVectors + "; no machine code: " + whyNoMachineCode()
          : ofVectors;
    }
    Module module = Backend.class.getModule();
    String ofAccess =
        "native access is off, turn it on with --enable-native-access="
            + (module.isNamed() ? module.getName() : "ALL-UNNAMED");
    // What helps most comes first: machine code needs native access alone.
    return machineBits == PREFERRED && Machine.isSwitchedOn() && Machine.isForThisSystem()
        ? ofAccess + "; " + ofVectors
        : ofVectors + "; " + ofAccess;
  }

  /** Whether calls that nothing else serves take loops, and not plain Java. */
  boolean hasLoops() {
    return loops && Jdk.obstacle(Jdk.FOR_JAVA_KERNELS) == null;
  }

  /** Whether calls take plain Java until a kernel pays: whether no other backend was chosen. */
  boolean startsPlain() {
    return startsPlain;
  }

  /** The same as {@link #describe()}. */
  @Override
  public String toString() {
    return describe();
  }

  private static @Nullable String whyNoMachineCode() {
    return Machine.isSwitchedOn() ? Machine.here().whyNot() : Machine.SWITCH + " is false";
  }

  private static boolean isVectorApiThere() {
    // Looks for the class, because a program may also load the module after the start.
    try {
      Class<?> vector =
          Class.forName(VECTOR_MODULE + ".FloatVector", false, Backend.class.getClassLoader());
      return Backend.class.getModule().canRead(vector.getModule());
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** Null if vectors are present and fast. */
  private static @Nullable String whyNoVectors() {
    String obstacle = Jdk.obstacle(Jdk.FOR_JAVA_KERNELS);
    if (obstacle != null) {
      return "no Java loops and vectors: " + obstacle;
    }
    if (!isVectorApiThere()) {
      return "the Vector API is not there, start java with --add-modules " + VECTOR_MODULE;
    }
    String mode = System.getProperty("java.vm.info", "");
    if (mode.contains("interpreted") || mode.contains("emulated-client")) {
      return "this JVM runs without its optimising compiler (" + mode + "), vectors would be slow";
    }
    return Species.areFast() ? null : "this processor has no AVX, vectors would be slow";
  }

  /** A class of its own, so that the Vector API is loaded only if it is present. */
  private static final class Species {
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
