package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.models.transformer.DepthObserver;
import io.github.rmsnorm4j.models.transformer.RowMoments;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.IntStream;

/** Takes down how large the residual stream and its gradient are at each depth, in one step. */
final class DepthProbe implements DepthObserver {
  private final int width;
  private final double[] activations;
  private final double[] gradients;
  private final double[] rho;

  DepthProbe(int width, int layers) {
    this.width = width;
    activations = new double[layers + 1];
    gradients = new double[layers + 1];
    rho = new double[layers + 1];
  }

  @Override
  public void forward(int depth, MemorySegment x) {
    activations[depth] = rms(x);
    long rows = x.byteSize() / Float.BYTES / width;
    double sum = 0;
    for (long row = 0; row < rows; row++) {
      sum += RowMoments.of(x, row, width).rho();
    }
    rho[depth] = sum / rows;
  }

  @Override
  public void backward(int depth, MemorySegment d) {
    gradients[depth] = rms(d);
  }

  private static double rms(MemorySegment x) {
    long n = x.byteSize() / Float.BYTES;
    double squares = 0;
    for (long i = 0; i < n; i++) {
      double value = x.getAtIndex(ValueLayout.JAVA_FLOAT, i);
      squares += value * value;
    }
    return Math.sqrt(squares / n);
  }

  List<Layer> layers() {
    return IntStream.range(0, activations.length)
        .mapToObj(i -> new Layer(i, activations[i], gradients[i], rho[i]))
        .toList();
  }
}
