package io.github.rmsnorm4j.internal.machine;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * Native calls of one kind. The JIT inlines a call whose handle is in a static final field, so a
 * nested class of the caller has it there. But a class whose initialiser once failed, for want of
 * memory, stays unusable. So the handle is made before, here, where a later call tries again.
 */
public final class Downcall {
  private final boolean takesArrays;
  private final ValueLayout[] parameters;
  private volatile @Nullable MethodHandle handle;

  /**
   * Calls of functions that return a long.
   *
   * @param takesArrays whether an address may be that of an array. The garbage collector must not
   *     move it meanwhile. So it waits, and calls have to be short
   */
  public Downcall(boolean takesArrays, ValueLayout... parameters) {
    this.takesArrays = takesArrays;
    this.parameters = parameters;
  }

  /**
   * Makes the handle, if there is none.
   *
   * @throws OutOfMemoryError if there is no memory for it
   */
  @SuppressWarnings("restricted")
  public void make() {
    if (handle == null) {
      Linker.Option[] options =
          takesArrays ? new Linker.Option[] {Linker.Option.critical(true)} : new Linker.Option[0];
      handle =
          Linker.nativeLinker()
              .downcallHandle(FunctionDescriptor.of(JAVA_LONG, parameters), options);
    }
  }

  /** The handle, for a static field that is read after {@link #make}. */
  public MethodHandle handle() {
    MethodHandle made = handle;
    if (made == null) {
      throw new IllegalStateException("it was not made");
    }
    return made;
  }
}
