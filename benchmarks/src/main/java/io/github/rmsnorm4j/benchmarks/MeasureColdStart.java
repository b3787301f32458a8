package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.measure.ChildJvm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** A process that normalises 2 MiB once, as a command on a small file does. */
final class MeasureColdStart {
  private static final int WIDTH = 4096;
  private static final int ROWS = 128;
  private static final int STARTS = 11;

  private MeasureColdStart() {}

  /** What such a process uses. */
  enum Kernels {
    NONE("no norm at all"),
    PLAIN("plain Java"),
    BEST("Backend.best()"),
    VECTORS("vectors from the first call"),
    MACHINE_CODE("machine code from the first call");

    private final String title;

    Kernels(String title) {
      this.title = title;
    }

    private boolean areHere() {
      return switch (this) {
        case VECTORS -> Backend.withoutMachineCode().vectorBits() > 0;
        case MACHINE_CODE -> Backend.hasMachineCode();
        default -> true;
      };
    }

    private Backend backend() {
      return switch (this) {
        case NONE -> throw new IllegalStateException("no norm at all has no backend");
        case PLAIN -> Backend.scalar();
        case BEST -> Backend.best();
        case VECTORS -> Backend.vector(Backend.withoutMachineCode().vectorBits());
        case MACHINE_CODE -> Backend.machineCode(Backend.best().vectorBits());
      };
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
    RmsNorm.builder(WIDTH).backend(kernels.backend()).build().apply(x, x);
    if (!(Math.abs(x[0] + 1.7) < 0.1)) {
      throw new IllegalStateException("the first element is " + x[0] + ", it must be about -1.7");
    }
  }
}
