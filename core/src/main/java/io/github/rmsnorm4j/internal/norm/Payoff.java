package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.NormSpec;

/**
 * What a process has normalised in plain Java, in one kind of call. A kernel takes time: for
 * machine code most of it is the JVM's first native call, and vectors must be loaded, generated and
 * compiled. In that time plain Java, which has the same bits, normalises many MiB. So a kind of
 * call gets kernels when it has had as much work as pays for them. docs/performance.md explains the
 * first calls.
 */
public final class Payoff {
  /** About as many elements as plain Java normalises in the time that the first kernel takes. */
  static final long ELEMENTS = 1 << 22;

  /**
   * The same before the first Java loops, which are not as much faster than plain Java: most of
   * their time goes into the JDK's first class file.
   */
  static final long ELEMENTS_BEFORE_LOOPS = 1 << 26;

  private static final Payoff[] FORWARD = perKind();
  private static final Payoff[] BACKWARD = perKind();

  /** That of calls that quantise rows as they are. */
  public static final Payoff QUANTIZE = new Payoff();

  /**
   * Elements of several rows after which a kernel pays against the first tier: the kernel and the
   * way to it take up to 0.9 s of a core until they are compiled, and save 0.2 ns an element.
   */
  private static final long ELEMENTS_OF_FIRST_TIER = 500_000_000;

  /** Counted without synchronisation: the exact end does not matter. */
  private long elements;

  /** Not a count: another thread that counts would undo it. */
  private volatile boolean isOver;

  private long elementsOfFirstTier;

  /** No work yet. */
  public Payoff() {}

  private static Payoff[] perKind() {
    Payoff[] works = new Payoff[NormSpec.Kind.values().length];
    for (int i = 0; i < works.length; i++) {
      works[i] = new Payoff();
    }
    return works;
  }

  /** That of the forward calls of all norms of a kind. */
  public static Payoff forward(NormSpec.Kind kind) {
    return FORWARD[kind.ordinal()];
  }

  /** That of the backward calls of all norms of a kind. */
  public static Payoff backward(NormSpec.Kind kind) {
    return BACKWARD[kind.ordinal()];
  }

  /** Counts a call that has no kernel. */
  void count(long elements) {
    this.elements += elements;
  }

  /**
   * Whether a kernel pays: for a call of so many elements, or because of those that were counted.
   *
   * @param loops whether Java loops are all that there is
   */
  boolean pays(long elements, boolean loops) {
    long most = loops ? ELEMENTS_BEFORE_LOOPS : ELEMENTS;
    return isOver || this.elements >= most || elements > most;
  }

  /** Counts several rows of float32, and says whether the first tier does them. */
  public boolean isOfFirstTier(long elements) {
    if (elementsOfFirstTier >= ELEMENTS_OF_FIRST_TIER) {
      return false;
    }
    elementsOfFirstTier += elements;
    return true;
  }

  /** From now on kernels pay: calls of another kind had enough work. */
  public void end() {
    isOver = true;
  }
}
