package io.github.rmsnorm4j.cuda.driver;

/**
 * What the driver made in a context and gets back once: from its owner, or when the context is
 * closed.
 */
final class Resource {
  private final CudaContext context;
  private final EntryPoint release;
  private final Object handle;

  Resource(CudaContext context, EntryPoint release, Object handle) {
    this.context = context;
    this.release = release;
    this.handle = handle;
  }

  EntryPoint release() {
    return release;
  }

  Object handle() {
    return handle;
  }

  /** Memory that work on the device may still use. */
  boolean isMemory() {
    return release == EntryPoint.MEM_FREE || isHostMemory();
  }

  /** Memory that Java code reads and writes, so it must not be gone before its arena is. */
  boolean isHostMemory() {
    return release == EntryPoint.MEM_FREE_HOST;
  }

  boolean isOpen() {
    return context.owns(this);
  }

  /** Gives it back, unless it was given back before. */
  void close() {
    context.release(this);
  }
}
