package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls with quantised rows allocate a few small objects, whatever the shape. */
@Tag("measure")
class QuantizedAllocationTest {
  /** The few objects have 400 bytes at most, and one small object for each row has 8000. */
  private static final long FEW_BYTES = 1024;

  private static final String LINE = "%s of %d x %d: %d bytes%n";

  @Test
  void growsNeitherWithRowsNorWithWidth() throws Exception {
    List<String> lines = ChildJvm.output(ChildJvm.flags(), Calls.class).lines().toList();
    assertThat(lines).hasSizeGreaterThan(10);
    for (String line : lines) {
      if (line.endsWith(" bytes")) {
        String[] words = line.split(" ");
        assertThat(Long.parseLong(words[words.length - 2])).as(line).isLessThanOrEqualTo(FEW_BYTES);
      }
    }
  }

  /** Prints what calls allocate. */
  static final class Calls {
    private static final int[][] SHAPES = {{1, 256}, {500, 256}, {1, 4096}, {40, 4096}, {2, 70400}};

    private Calls() {}

    public static void main(String[] args) {
      Backend backend = Backend.best();
      for (String name : new String[] {"q8_0", "q8_k", "int8:row", "f8e4m3:128"}) {
        QuantizedType type = QuantizedType.ofName(name);
        for (int[] shape : SHAPES) {
          int rows = shape[0];
          int width = shape[1];
          Norm norm = RmsNorm.builder(width).backend(backend).threads(1).build();
          float[] x = new float[rows * width];
          for (int i = 0; i < x.length; i++) {
            x[i] = i % 101 - 50;
          }
          byte[] codes = new byte[(int) (rows * type.rowBytes(width))];
          Rows of = Rows.of(x, width);
          QuantizedRows q =
              type.scales(width) == 0
                  ? QuantizedRows.of(codes, type, width)
                  : QuantizedRows.of(codes, new float[rows * type.scales(width)], type, width);
          print("norm, " + name, shape, () -> norm.apply(of, null, q));
          print("quantizer, " + name, shape, () -> Quantizer.defaults().quantize(of, q, 1));
        }
      }
    }

    private static void print(String name, int[] shape, Runnable call) {
      long fewest = CountedCall.fewestBytes(call, FEW_BYTES);
      System.out.printf(Locale.ROOT, LINE, name, shape[0], shape[1], fewest);
    }
  }
}
