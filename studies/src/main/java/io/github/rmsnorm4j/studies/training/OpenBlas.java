package io.github.rmsnorm4j.studies.training;

import static io.github.rmsnorm4j.models.internal.Requirement.require;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.models.transformer.Arithmetic;
import io.github.rmsnorm4j.models.transformer.Matrix;
import io.github.rmsnorm4j.models.transformer.MatrixProduct;
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
 * Products of matrices by OpenBLAS, several times faster than plain Java. Its native libraries must
 * be on the class path; they are loaded with the first product.
 *
 * <p>With the number of threads that it is told to use, OpenBLAS cuts a product in the same way
 * every time, so results are the same to the bit from run to run on one machine. Another number of
 * threads, or another machine, may round otherwise.
 */
public final class OpenBlas implements MatrixProduct {
  /** OpenBLAS's products and the fastest kernels of norms: for training. */
  public static final Arithmetic ARITHMETIC =
      new Arithmetic(new OpenBlas(), null, ElementType.FLOAT32);

  private static final int ROW_MAJOR = 101;
  private static final int AS_IT_IS = 111;
  private static final int TRANSPOSED = 112;

  private OpenBlas() {}

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
    require(threads >= 1, "threads", threads, "be at least 1");
    Functions.setThreads(threads);
  }

  /**
   * {@inheritDoc}
   *
   * @throws UnsatisfiedLinkError if there is no OpenBLAS for this machine
   */
  @Override
  public void multiply(
      Matrix a,
      boolean transposeA,
      Matrix b,
      boolean transposeB,
      float alpha,
      float beta,
      Matrix c) {
    MatrixProduct.requireFit(a, transposeA, b, transposeB, c);
    try {
      Functions.SGEMM.invokeExact(
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

  @Override
  public String toString() {
    return "OpenBLAS";
  }

  /**
   * OpenBLAS's functions: its own class, so that they are loaded only when something is computed.
   */
  @SuppressWarnings("restricted")
  private static final class Functions {
    static final MethodHandle SGEMM;
    static final MethodHandle SET_THREADS;

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
  }
}
