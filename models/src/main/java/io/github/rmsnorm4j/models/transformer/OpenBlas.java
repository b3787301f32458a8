package io.github.rmsnorm4j.models.transformer;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.openblas.global.openblas_nolapack;

/** The functions of OpenBLAS, which is loaded with the first product. */
@SuppressWarnings("restricted")
final class OpenBlas {
  private static final int ROW_MAJOR = 101;
  private static final int AS_IT_IS = 111;
  private static final int TRANSPOSED = 112;
  private static final MethodHandle SGEMM;
  private static final MethodHandle SET_THREADS;

  static {
    load();
    ValueLayout.OfInt n = ValueLayout.JAVA_INT;
    ValueLayout.OfFloat f = ValueLayout.JAVA_FLOAT;
    AddressLayout p = ValueLayout.ADDRESS;
    SGEMM =
        function(
            "cblas_sgemm", FunctionDescriptor.ofVoid(n, n, n, n, n, n, f, p, n, p, n, f, p, n));
    SET_THREADS = function("openblas_set_num_threads", FunctionDescriptor.ofVoid(n));
    setThreads(1);
  }

  private OpenBlas() {}

  private static void load() {
    try {
      Loader.load(openblas_nolapack.class);
    } catch (UnsatisfiedLinkError e) {
      UnsatisfiedLinkError named =
          new UnsatisfiedLinkError(
              "matrix products need OpenBLAS, which does not load on "
                  + Loader.getPlatform()
                  + ": "
                  + e.getMessage());
      named.initCause(e);
      throw named;
    }
  }

  private static MethodHandle function(String name, FunctionDescriptor descriptor) {
    MemorySegment address =
        SymbolLookup.loaderLookup()
            .find(name)
            .orElseThrow(() -> new UnsatisfiedLinkError("OpenBLAS has no function " + name));
    return Linker.nativeLinker().downcallHandle(address, descriptor);
  }

  static void setThreads(int threads) {
    try {
      SET_THREADS.invokeExact(threads);
    } catch (Throwable e) {
      throw new AssertionError("a native call throws nothing", e);
    }
  }

  /** {@code c = alpha * op(a) op(b) + beta * c}; shapes are not checked here. */
  static void multiply(
      Matrix a,
      boolean transposeA,
      Matrix b,
      boolean transposeB,
      float alpha,
      float beta,
      Matrix c) {
    try {
      SGEMM.invokeExact(
          ROW_MAJOR,
          transposeA ? TRANSPOSED : AS_IT_IS,
          transposeB ? TRANSPOSED : AS_IT_IS,
          c.rows,
          c.columns,
          transposeA ? a.rows : a.columns,
          alpha,
          a.segment,
          a.stride,
          b.segment,
          b.stride,
          beta,
          c.segment,
          c.stride);
    } catch (RuntimeException | Error e) {
      throw e; // A closed arena.
    } catch (Throwable e) {
      throw new AssertionError("a native call throws nothing", e);
    }
  }
}
