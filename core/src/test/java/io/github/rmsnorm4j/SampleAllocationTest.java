package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Calls with a gain and a bias for each sample: a forward call allocates a few small objects,
 * whatever the shape, and a backward call a KiB and a half at most for each sample.
 */
@Tag("measure")
class SampleAllocationTest {
  private static final int OF_CALL = 1024;
  private static final int OF_SAMPLE = 1536;

  @Test
  void growsNeitherWithRowsNorWithWidth() throws Exception {
    List<String> lines = ChildJvm.output(ChildJvm.flags(), Calls.class).lines().toList();
    long counted = lines.stream().filter(line -> line.startsWith("samples ")).count();
    assertThat(counted).isEqualTo(2L * Calls.SHAPES.length);
    for (String line : lines) {
      if (line.startsWith("samples ")) {
        String[] words = line.split(" ");
        long samples = Long.parseLong(words[1]);
        assertThat(Long.parseLong(words[2])).as(line).isLessThanOrEqualTo(OF_CALL);
        assertThat(Long.parseLong(words[3])).as(line).isLessThanOrEqualTo(samples * OF_SAMPLE);
      }
    }
  }

  /** Prints the samples, and what a forward and a backward call allocate. */
  static final class Calls {
    /**
     * Samples, rows of a sample, and elements of a row: one object more for each row, or in a
     * forward call for each sample, is more than is allowed in one of them. Of more elements than
     * 2^18 a gain to which an offset is added needs a new array each time.
     */
    private static final int[][] SHAPES = {
      {1, 1, 64},
      {1, 200, 64},
      {1, 8, 4096},
      {2, 1, 64},
      {2, 8, 4096},
      {60, 8, 4096},
      {1000, 20, 64}
    };

    private Calls() {}

    public static void main(String[] args) {
      for (int[] shape : SHAPES) {
        of(LayerNorm.builder(shape[2]).gainOffset(1), shape[0], shape[1], shape[2]);
        of(RmsNorm.builder(shape[2]), shape[0], shape[1], shape[2]);
      }
    }

    private static void of(NormBuilder<?> builder, int samples, int ofSample, int width) {
      Norm norm = builder.threads(1).build();
      int rows = samples * ofSample;
      float[] values = new float[rows * width];
      for (int i = 0; i < values.length; i++) {
        values[i] = i % 101 - 50;
      }
      Rows x = Rows.of(values, width);
      Rows gain = Rows.of(new float[samples * width], width);
      Rows bias = Rows.of(new float[samples * width], width);
      Rows y = Rows.of(new float[rows * width], width);
      Rows dy = Rows.of(values.clone(), width);
      Rows dx = Rows.of(new float[rows * width], width);
      Saved saved = new Saved(Keep.INPUT, rows);
      ParameterGradients gradients =
          ParameterGradients.assigned(new float[samples * width], new float[samples * width]);
      Runnable forward = () -> norm.withParameters(gain, bias).apply(x, y, saved);
      Runnable backward = () -> norm.backward(dy, saved, dx, gradients);
      forward.run(); // It saves what the backward call needs.
      System.out.printf(
          Locale.ROOT,
          "samples %d %d %d%n",
          samples,
          CountedCall.fewestBytes(forward, OF_CALL),
          CountedCall.fewestBytes(backward, (long) samples * OF_SAMPLE));
    }
  }
}
