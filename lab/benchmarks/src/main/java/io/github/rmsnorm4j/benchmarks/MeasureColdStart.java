package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.measure.ChildJvm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** A process that normalises 2 MiB once, as a command on a small file does. */
final class MeasureColdStart {
  private static final int WIDTH = 4096;
  private static final int ROWS = 128;
  private static final int STARTS = 11;

  private MeasureColdStart() {}

  /** What such a process uses. */
  enum Kernels {
    NONE("no norm at all", () -> null),
    PLAIN("plain Java", Backend::scalar),
    BEST("Backend.best()", Backend::best),
    VECTORS("vectors from the first call", () -> Backend.vector(vectorBits())),
    MACHINE_CODE(
        "machine code from the first call", () -> Backend.machineCode(Backend.best().vectorBits()));

    private final String title;
    private final Supplier<Backend> backend;

    Kernels(String title, Supplier<Backend> backend) {
      this.title = title;
      this.backend = backend;
    }

    private boolean areHere() {
      return switch (this) {
        case VECTORS -> vectorBits() > 0;
        case MACHINE_CODE -> Backend.hasMachineCode();
        default -> true;
      };
    }

    private static int vectorBits() {
      return Backend.withoutMachineCode().vectorBits();
    }
  }

  /** Starts processes of each kind in turn. */
  static List<Results.ColdStart> inFreshJvms(boolean quick) throws IOException {
    Map<Kernels, Results.ColdStart> all = new EnumMap<>(Kernels.class);
    for (Kernels kernels : Kernels.values()) {
      if (kernels.areHere()) {
        all.put(kernels, new Results.ColdStart(kernels.title, new ArrayList<>()));
      }
    }
    for (int start = 0; start < (quick ? 1 : STARTS); start++) {
      for (Map.Entry<Kernels, Results.ColdStart> kind : all.entrySet()) {
        long before = System.nanoTime();
        ChildJvm.run(MeasureColdStart.class, List.of(kind.getKey().name()));
        kind.getValue().nanos().add((double) (System.nanoTime() - before));
      }
    }
    return List.copyOf(all.values());
  }

  public static void main(String[] args) {
    Kernels kernels = Kernels.valueOf(args[0]);
    if (kernels == Kernels.NONE) {
      return;
    }
    float[] x = new float[ROWS * WIDTH];
    for (int i = 0; i < x.length; i++) {
      x[i] = i % 255 - 127;
    }
    RmsNorm.builder(WIDTH).backend(kernels.backend.get()).build().apply(x, x);
    if (!(Math.abs(x[0] + 1.7) < 0.1)) {
      throw new IllegalStateException("the first element is " + x[0] + ", it must be about -1.7");
    }
  }
}
