package io.github.rmsnorm4j.cuda.interpret;

/** What a kernel must not do, or what the interpreter does not know. */
public final class PtxFault extends RuntimeException {
  private static final long serialVersionUID = 1;

  PtxFault(String message) {
    super(message);
  }
}
