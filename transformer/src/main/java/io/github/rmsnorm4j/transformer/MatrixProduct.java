package io.github.rmsnorm4j.transformer;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.openblas.global.openblas_nolapack;

/**
 * Products of float32 matrices: the one place that calls OpenBLAS.
 *
 * <p>With the number of threads that it is told to use, OpenBLAS cuts a product in the same way
 * every time, so results are the same to the bit from run to run on one machine. Another number of
 * threads, or another machine, may round otherwise.
 */
public final class MatrixProduct {
  private static final int ROW_MAJOR = 101;
  private static final int AS_IT_IS = 111;
  private static final int TRANSPOSED = 112;

  private MatrixProduct() {}

  /**
   * Sets how many threads a product may use, in the whole process; 1 until it is called. With 1,
   * several threads may compute products at a time. Every number of threads has results of its own,
   * in the last bits.
   *
   * @param threads 1 or more
   * @throws IllegalArgumentException if it is less
   * @throws UnsatisfiedLinkError if there is no OpenBLAS for this machine
   */
  public static void useThreads(int threads) {
    if (threads < 1) {
      throw new IllegalArgumentException("threads is " + threads + ", it must be at least 1");
    }
    OpenBlas.setThreads(threads);
  }

  /** {@code c = alpha * op(a) op(b) + beta * c}, op(x) being x or its transpose. */
  static void multiply(
      Matrix a,
      boolean transposeA,
      Matrix b,
      boolean transposeB,
      float alpha,
      float beta,
      Matrix c) {
    int inner = transposeA ? a.rows : a.columns;
    check(c.rows == (transposeA ? a.columns : a.rows), a, b, c);
    check(c.columns == (transposeB ? b.rows : b.columns), a, b, c);
    check(inner == (transposeB ? b.columns : b.rows), a, b, c);
    OpenBlas.sgemm(
        transposeA ? TRANSPOSED : AS_IT_IS,
        transposeB ? TRANSPOSED : AS_IT_IS,
        c.rows,
        c.columns,
        inner,
        alpha,
        a,
        b,
        beta,
        c);
  }

  /** Native code checks nothing, so shapes are checked here. */
  private static void check(boolean fits, Matrix a, Matrix b, Matrix c) {
    if (!fits) {
      throw new IllegalArgumentException(
          "the product of %d x %d and %d x %d, either transposed or not, is not %d x %d"
              .formatted(a.rows, a.columns, b.rows, b.columns, c.rows, c.columns));
    }
  }

  /** Its own class, so that OpenBLAS is loaded with the first product. */
  @SuppressWarnings("restricted")
  private static final class OpenBlas {
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

    static void sgemm(
        int transposeA,
        int transposeB,
        int m,
        int n,
        int k,
        float alpha,
        Matrix a,
        Matrix b,
        float beta,
        Matrix c) {
      try {
        SGEMM.invokeExact(
            ROW_MAJOR,
            transposeA,
            transposeB,
            m,
            n,
            k,
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
}
