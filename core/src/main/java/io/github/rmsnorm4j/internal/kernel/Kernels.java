package io.github.rmsnorm4j.internal.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Kernels made to order: one hidden class per combination of choices in use.
 *
 * <p>A kernel's source is one class whose choices are {@code static final} fields read from class
 * data. The JIT sees constants, so a step that is not chosen costs nothing, and every combination
 * has a type profile of its own. Defining one takes about half a millisecond; it is kept for good.
 */
public final class Kernels {
  private static final ConcurrentHashMap<Record, Object> CACHE = new ConcurrentHashMap<>();

  private Kernels() {}

  /** The statistic kernel of these choices. */
  public static StatisticKernel statistic(StatisticKernel.Spec spec) {
    String source = spec.vectorBits() == 0 ? "ScalarStatistic" : "VectorStatistic";
    return (StatisticKernel) of(MethodHandles.lookup(), source, spec);
  }

  /** The output kernel of these choices. */
  public static OutputKernel output(OutputKernel.Spec spec) {
    String source = spec.vectorBits() == 0 ? "ScalarOutput" : "VectorOutput";
    return (OutputKernel) of(MethodHandles.lookup(), source, spec);
  }

  /**
   * The one kernel of a source class and choices.
   *
   * @param lookup of a class in the source's package
   * @param source simple name of the source class
   */
  public static Object of(MethodHandles.Lookup lookup, String source, Record spec) {
    Object kernel = CACHE.get(spec);
    return kernel != null ? kernel : CACHE.computeIfAbsent(spec, s -> define(lookup, source, s));
  }

  private static Object define(MethodHandles.Lookup lookup, String source, Record spec) {
    try (InputStream in = lookup.lookupClass().getResourceAsStream(source + ".class")) {
      MethodHandles.Lookup kernel =
          lookup.defineHiddenClassWithClassData(in.readAllBytes(), spec, true);
      MethodType noArguments = MethodType.methodType(void.class);
      return kernel.findConstructor(kernel.lookupClass(), noArguments).invoke();
    } catch (IOException e) {
      throw new UncheckedIOException("kernel source " + source + " cannot be read", e);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("kernel " + source + " cannot be made for " + spec, e);
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
}
