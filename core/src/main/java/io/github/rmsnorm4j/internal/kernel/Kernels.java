package io.github.rmsnorm4j.internal.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Kernels made to order: one hidden class per combination of choices in use.
 *
 * <p>A kernel's source is one class whose choices are {@code static final} fields read from class
 * data. The JIT sees constants, so a step that is not chosen costs nothing, and every combination
 * has a type profile of its own. Defining one takes about half a millisecond; it is kept for good.
 *
 * <p>Its static methods are called through method handles that are fields of an object, not
 * constants: that is a call that the JIT does not look into. Left to itself it inlines all kernels
 * of a norm into the loop over rows and then, past its node budget, boxes their vectors.
 */
public final class Kernels {
  private static final ConcurrentHashMap<Record, Object> CACHE = new ConcurrentHashMap<>();

  private Kernels() {}

  /**
   * The one kernel of some choices.
   *
   * @param maker makes it the first time
   */
  public static <K> K of(Record choices, Class<K> type, Function<Record, K> maker) {
    Object kernel = CACHE.get(choices);
    return type.cast(kernel != null ? kernel : CACHE.computeIfAbsent(choices, maker));
  }

  /**
   * Defines the hidden class of a source and some choices.
   *
   * @param lookup of a class in the source's package
   * @param source simple name of the source class
   */
  public static MethodHandles.Lookup define(
      MethodHandles.Lookup lookup, String source, Record choices) {
    try (InputStream in = lookup.lookupClass().getResourceAsStream(source + ".class")) {
      return lookup.defineHiddenClassWithClassData(in.readAllBytes(), choices, true);
    } catch (IOException e) {
      throw new UncheckedIOException("kernel source " + source + " cannot be read", e);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("kernel " + source + " cannot be made for " + choices, e);
    }
  }

  /** A static method of a kernel. */
  public static MethodHandle method(MethodHandles.Lookup kernel, String name, MethodType type) {
    try {
      return kernel.findStatic(kernel.lookupClass(), name, type);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("kernel " + kernel.lookupClass() + " has no " + name, e);
    }
  }

  /** The choices that a kernel class was made for. */
  public static <S> S choices(MethodHandles.Lookup kernel, Class<S> type) {
    try {
      return MethodHandles.classData(kernel, "_", type);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("not a kernel: " + kernel.lookupClass(), e);
    }
  }

  /** What a kernel threw; kernels throw nothing checked. */
  public static RuntimeException thrown(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return (RuntimeException) e;
  }
}
