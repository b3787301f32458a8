package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** A call that is refused, and all that it says: one line with the argument and what is allowed. */
record RefusedCall(String message, ThrowingCallable call) {
  void check() {
    assertThatThrownBy(call).isExactlyInstanceOf(type()).hasMessage(message);
  }

  private Class<?> type() {
    return message.endsWith(" is null")
        ? NullPointerException.class
        : message.endsWith("must lie between")
            ? IndexOutOfBoundsException.class
            : message.startsWith("saved is empty")
                ? IllegalStateException.class
                : IllegalArgumentException.class;
  }

  @Override
  public String toString() {
    return message;
  }
}
