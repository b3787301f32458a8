package io.github.rmsnorm4j.internal.quantized;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.ScaleFloor;
import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import io.github.rmsnorm4j.internal.machine.ShortageClock;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/**
 * There is no memory to make the handle of a native call, once: calls have machine code later. A
 * class that made it in its initialiser would be lost for the life of the process.
 */
class ShortageOfHandlesTest {
  /** Handles that a process makes: of functions, of kernels with arrays, of codes. */
  private static final int HANDLES = 3;

  @Test
  void passes() throws Exception {
    assumeThat(Machine.here().bits()).as(Machine.here().whyNot()).isPositive();
    for (int failing = 0; failing <= HANDLES; failing++) {
      Linkers.left = failing;
      Callable<?> calls =
          (Callable<?>)
              new Copy().loadClass(Calls.class.getName()).getDeclaredConstructor().newInstance();
      int attempts = (int) calls.call();
      assertThat(Linkers.left).as("handle %d", failing).isEqualTo(failing < HANDLES ? -1 : 0);
      assertThat(attempts).as("handle %d", failing).isEqualTo(failing < HANDLES ? 2 : 1);
    }
  }

  /** Makes handles, until there is no memory for one; the next one it makes again. */
  @SuppressWarnings("restricted")
  public static final class Linkers {
    static int left;

    private Linkers() {}

    /** Stands for the method of a linker. */
    public static MethodHandle downcallHandle(
        Linker linker, FunctionDescriptor of, Linker.Option... options) {
      if (left >= 0 && left-- == 0) {
        throw new OutOfMemoryError("a test has none");
      }
      return linker.downcallHandle(of, options);
    }
  }

  /** Calls with machine code, in a copy of the library; returns how often they were tried. */
  public static final class Calls implements Callable<Integer> {
    @Override
    public Integer call() {
      ShortageClock.stop();
      for (int attempt = 1; attempt < 5; attempt++) {
        try {
          if (areServed()) {
            return attempt;
          }
        } catch (OutOfMemoryError | UnsupportedOperationException e) {
          // Of a call that has to have the handle, or of the choice of machine code.
        }
        ShortageClock.almostPasses();
        ShortageClock.passes();
      }
      return 0;
    }

    private static boolean areServed() {
      Norm norm = RmsNorm.builder(64).backend(Backend.machineCode(256)).build();
      float[] y = new float[128];
      norm.apply(new float[128], y);
      CodeFormat format = new CodeFormat(CodeLayout.Q8_0, 32, null, false);
      CodeRule rule = new CodeRule(CodeFactor.RATIO, CodeRounding.EVEN, ScaleFloor.NONE);
      return MachineBlocks.of(format, rule, 128, 256) != null && Arrays.equals(y, new float[128]);
    }
  }

  /** A copy of the library, which asks {@link Linkers} for handles. */
  private static final class Copy extends ClassLoader {
    private static final ClassDesc LINKER = ClassDesc.of("java.lang.foreign.Linker");
    private static final ClassDesc LINKERS = ClassDesc.of(Linkers.class.getName());

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      boolean own =
          name.startsWith("io.github.rmsnorm4j.") && !name.equals(Linkers.class.getName());
      Class<?> loaded = own ? findLoadedClass(name) : super.loadClass(name, resolve);
      return loaded == null ? defined(name) : loaded;
    }

    private Class<?> defined(String name) throws ClassNotFoundException {
      try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
        byte[] bytes = transformed(in.readAllBytes());
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }

    private static byte[] transformed(byte[] bytes) {
      CodeTransform instead =
          (code, element) -> {
            if (element instanceof InvokeInstruction call
                && call.owner().asSymbol().equals(LINKER)
                && call.name().equalsString("downcallHandle")) {
              MethodTypeDesc type = call.typeSymbol().insertParameterTypes(0, LINKER);
              code.invokestatic(LINKERS, "downcallHandle", type);
            } else {
              code.with(element);
            }
          };
      ClassFile file = ClassFile.of();
      return file.transformClass(
          file.parse(bytes), ClassTransform.transformingMethodBodies(instead));
    }
  }
}
