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

  private VectorApi() {}

  /**
   * The fastest kernels for tensors. A job of a few elements is plain Java's as it is the library's
   * own choice at the start of a process; then nothing is loaded, and no native call is made.
   */
  static Backend bestBackend(Collection<Tensor> tensors) {
    return areFew(tensors)
        ? Backend.scalar()
        : bestBackend(tensors.stream().anyMatch(tensor -> tensor.dtype() == Dtype.F64));
  }

  private static boolean areFew(Collection<Tensor> tensors) {
    return tensors.stream().mapToLong(Tensor::elements).sum() <= Backend.PLAIN_ELEMENTS;
  }

  /** What ran, in a few words: plain Java by choice is not to look like a lack of anything. */
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
    return best();
  }

  /**
   * The library would warn where they are not the fastest there could be; this command names them
   * in its own words.
   */
  private static Backend best() {
    LIBRARY.setLevel(Level.OFF);
    try {
      return Backend.best();
    } finally {
      LIBRARY.setLevel(null);
    }
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
