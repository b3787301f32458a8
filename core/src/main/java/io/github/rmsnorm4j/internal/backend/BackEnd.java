package io.github.rmsnorm4j.internal.backend;

/** A way to run programs: plain Java, the Vector API, machine code. All give the same bits. */
public interface BackEnd {
  /** Says why a back end does not run the program of a call. */
  final class Refusal extends Exception {
    private static final long serialVersionUID = 1;

    /** A reason in a few words. */
    public Refusal(String why) {
      super(why, null, false, false);
    }
  }

  /**
   * Makes the program of a call ready for all calls like it: of the same formula, with rows of the
   * same types and in the same kinds of memory.
   *
   * @param stores how the output is stored
   */
  Compiled compile(Call call, Stores stores) throws Refusal;
}
