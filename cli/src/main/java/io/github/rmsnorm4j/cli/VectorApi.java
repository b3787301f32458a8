package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import java.util.Collection;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The Vector API on demand.
 *
 * <p>{@code --add-modules jdk.incubator.vector} makes every start print a warning and take longer,
 * also where no vector is used. The JDK's own agents load modules while running; the same call
 * gives the same module, defined to the boot loader, with the JIT's support for it. The jar's
 * manifest exports the package it is in. A JDK that no longer has the call leaves the scalar
 * kernels, which {@code rmsnorm doctor} then says.
 */
public final class VectorApi {
  private static final String MODULE = "jdk.incubator.vector";

  /** Held, as a logger that nobody holds forgets its level. */
  private static final Logger LIBRARY = Logger.getLogger("io.github.rmsnorm4j");

  /** Up to about as many elements plain Java takes less time than to load vectors. */
  private static final long FEW = 1 << 22;

  static {
    // The library would advise flags of the JVM; this command has its own words for them.
    if (LIBRARY.getLevel() == null) {
      LIBRARY.setLevel(Level.WARNING);
    }
  }

  private VectorApi() {}

  /** The fastest kernels for tensors. For few elements nothing is loaded. */
  static Backend bestBackend(Collection<Tensor> tensors) {
    return areFew(tensors)
        ? Backend.best()
        : bestBackend(tensors.stream().anyMatch(tensor -> tensor.dtype() == Dtype.F64));
  }

  private static boolean areFew(Collection<Tensor> tensors) {
    return tensors.stream().mapToLong(Tensor::elements).sum() <= FEW;
  }

  /** The backend in a few words: plain Java by choice is not to look like a lack of anything. */
  static String describe(Backend backend, Collection<Tensor> tensors) {
    return areFew(tensors) ? "plain Java (few elements)" : backend.describe();
  }

  /**
   * The fastest kernels there are.
   *
   * @param float64 whether rows are float64. Machine code does not serve float64 rows together with
   *     rows of another type
   */
  public static Backend bestBackend(boolean float64) {
    if (float64 || !Backend.hasMachineCode()) {
      load();
    }
    return Backend.best();
  }

  private static void load() {
    if (ModuleLayer.boot().findModule(MODULE).isPresent()) {
      return;
    }
    try {
      Class.forName("jdk.internal.module.Modules")
          .getMethod("loadModule", String.class)
          .invoke(null, MODULE);
    } catch (ReflectiveOperationException | RuntimeException e) {
      System.getLogger(VectorApi.class.getName())
          .log(System.Logger.Level.DEBUG, "cannot load " + MODULE, e);
    }
  }
}
