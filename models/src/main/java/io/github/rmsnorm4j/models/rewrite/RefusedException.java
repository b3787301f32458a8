package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.Printable;
import java.io.IOException;

/**
 * A model that cannot be rewritten, or a result that is not equal to it; nothing is put in place.
 */
public final class RefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes a refusal.
   *
   * @param reason the model and the reason; the middle of a long one is left out
   */
  public RefusedException(String reason) {
    super(Printable.message(reason));
  }
}
