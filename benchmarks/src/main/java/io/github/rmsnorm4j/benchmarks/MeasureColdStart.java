package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.measure.ChildJvm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

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
    VECTORS("vectors");

    private final String title;

    Kernels(String title) {
      this.title = title;
    }
  }

  /** Starts processes of each kind in turn. */
  static List<Results.ColdStart> inFreshJvms(boolean quick) throws IOException {
    List<Results.ColdStart> all = new ArrayList<>();
    for (Kernels kernels : Kernels.values()) {
      all.add(new Results.ColdStart(kernels.title, new ArrayList<>()));
    }
    for (int start = 0; start < (quick ? 1 : STARTS); start++) {
      for (Kernels kernels : Kernels.values()) {
        long before = System.nanoTime();
        ChildJvm.run(MeasureColdStart.class, List.of(kernels.name()));
        all.get(kernels.ordinal()).nanos().add((double) (System.nanoTime() - before));
      }
    }
    return all;
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
    Backend backend = kernels == Kernels.PLAIN ? Backend.scalar() : Backend.best();
    RmsNorm.builder(WIDTH).backend(backend).build().apply(x, x);
    if (!(Math.abs(x[0] + 1.7) < 0.1)) {
      throw new IllegalStateException("the first element is " + x[0] + ", it must be about -1.7");
    }
  }
}
