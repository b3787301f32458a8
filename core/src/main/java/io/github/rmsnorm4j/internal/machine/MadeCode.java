package io.github.rmsnorm4j.internal.machine;

import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Machine code by what it is made for. It is made and tried once; where there was no memory for it,
 * a call a second later tries again.
 *
 * @param <K> what code is made for
 * @param <T> what calls it
 */
public abstract class MadeCode<K extends MadeCode.Named, T extends MadeCode.Made> {
  /** What code is made for. */
  public interface Named {
    /** What a warning calls it. */
    String name();
  }

  /** What calls the code. */
  public interface Made {
    MemorySegment code();

    /** Whether it gives what plain Java gives. */
    boolean passes();
  }

  private final ConcurrentHashMap<K, Optional<T>> made = new ConcurrentHashMap<>();

  /** For the one object of a kind of code. */
  protected MadeCode() {}

  /**
   * Makes code.
   *
   * @throws OutOfMemoryError if there is no memory for it
   */
  protected abstract T make(K target);

  /** Whether there is nothing to make any more. */
  public final boolean isMade(K target) {
    return made.containsKey(target);
  }

  /** The code; null where there is none, or no memory for it now. */
  public final @Nullable T of(K target) {
    Optional<T> known = made.get(target);
    if (known == null && !Shortage.lasts()) {
      try {
        // Not in the lock of the map, where a thread that gets no memory leaves others waiting.
        known = kept(target, tried(target));
      } catch (OutOfMemoryError e) {
        Shortage.note(e);
      }
    }
    return known == null ? null : known.orElse(null);
  }

  /** The first code that was made of a target. */
  private Optional<T> kept(K target, Optional<T> code) {
    Optional<T> first = made.putIfAbsent(target, code);
    if (first == null) {
      return code;
    }
    code.ifPresent(other -> ExecutableMemory.giveBack(other.code()));
    return first;
  }

  /** The code, if it is right. */
  private Optional<T> tried(K target) {
    String fault = "it gives other bits than plain Java";
    T code = null;
    boolean passes = false;
    try {
      code = make(target);
      passes = code.passes();
      if (passes) {
        return Optional.of(code);
      }
    } catch (UncheckedIOException e) {
      throw e; // Of the listing, which is written first: it says nothing of the code.
    } catch (RuntimeException | LinkageError e) {
      Shortage.requireNone(e);
      fault = String.valueOf(e.getMessage());
    } finally {
      if (code != null && !passes) {
        ExecutableMemory.giveBack(code.code());
      }
    }
    System.getLogger("io.github.rmsnorm4j")
        .log(
            System.Logger.Level.WARNING, "machine code {0} is not used: {1}", target.name(), fault);
    return Optional.empty();
  }
}
