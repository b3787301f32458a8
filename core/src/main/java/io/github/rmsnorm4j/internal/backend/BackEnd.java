package io.github.rmsnorm4j.internal.backend;

/** A way to run programs: plain Java, the Vector API, machine code. All give the same bits. */
public interface BackEnd {
  /** Says why a back end does not run the program of a call. */
  final class Refusal extends Exception {
    /** Where there is no such back end. */
    public static final Refusal ABSENT = new Refusal("it is not there");

    private static final long serialVersionUID = 1;

    private final boolean forNow;

    /** A reason in a few words. */
    public Refusal(String why) {
      this(why, false);
    }

    /**
     * A reason in a few words.
     *
     * @param forNow whether a later call may be served
     */
    public Refusal(String why, boolean forNow) {
      super(why, null, false, false);
      this.forNow = forNow;
    }

    /** Whether a later call may be served. */
    public boolean isForNow() {
      return forNow;
    }
  }

  /**
   * Makes the program of a call ready for all calls like it: of the same formula, with rows of the
   * same types and in the same kinds of memory.
   *
   * @param call one of these calls
   * @param stores how the output is stored
   * @throws Refusal if it does not run such calls, or not now
   */
  Compiled compile(Call call, OutputStores stores) throws Refusal;
}
