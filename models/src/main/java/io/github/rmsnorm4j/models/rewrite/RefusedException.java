package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.Printable;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A model that cannot be rewritten, or a result that is not equal to it; nothing is put in place.
 */
public final class RefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  private final String reason;

  /**
   * Makes a refusal.
   *
   * @param reason what is wrong; the middle of a long one is left out
   */
  public RefusedException(String reason) {
    super(Printable.message(reason));
    this.reason = reason;
  }

  /** The same with the model and what it cannot be. */
  RefusedException(Path model, Goal goal, RefusedException refused) {
    super(Printable.message("%s cannot be %s: %s".formatted(model, goal, refused.reason)));
    reason = refused.reason;
  }

  /** {@return the message without the model} */
  String reason() {
    return reason;
  }
}
