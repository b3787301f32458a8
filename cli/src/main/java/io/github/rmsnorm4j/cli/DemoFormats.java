package io.github.rmsnorm4j.cli;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT16;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.Random;

/** The step of the demonstration about 16-bit rows. */
final class DemoFormats {
  private static final int WIDTH = 4096;

  private DemoFormats() {}

  static void show(DemoTable out) {
    out.section("16-bit numbers, and where to round");
    castOrders(out);
    out.text("");
    overflow(out);
  }

  private static void castOrders(DemoTable out) {
    short[] x = new short[WIDTH];
    short[] gain = new short[WIDTH];
    Random random = new Random(1);
    for (int i = 0; i < WIDTH; i++) {
      BFLOAT16.set(MemorySegment.ofArray(x), i, random.nextGaussian());
      BFLOAT16.set(MemorySegment.ofArray(gain), i, 0.5f + random.nextFloat());
    }
    out.text(
        "A bfloat16 row of %s numbers drawn from a normal distribution, and a gain"
            .formatted(WIDTH),
        "drawn from 0.5 to 1.5. A cast order says where a norm rounds to 16 bits;",
        "docs/variants.md has the formula of each. Elements that differ from FLOAT32's:",
        "");
    short[] float32 = output(CastOrder.FLOAT32, x, gain);
    for (CastOrder order : CastOrder.values()) {
      if (order != CastOrder.FLOAT32) {
        int differing = differences(float32, output(order, x, gain));
        out.text(String.format(Locale.ROOT, "  %-12s %4d", order, differing));
      }
    }
  }

  private static short[] output(CastOrder order, short[] x, short[] gain) {
    short[] y = new short[x.length];
    RmsNorm.builder(WIDTH)
        .castOrder(order)
        .gain(Rows.of(gain, BFLOAT16, WIDTH))
        .backend(Backend.scalar())
        .build()
        .apply(Rows.of(x, BFLOAT16, WIDTH), Rows.of(y, BFLOAT16, WIDTH));
    return y;
  }

  private static int differences(short[] a, short[] b) {
    int differences = 0;
    for (int i = 0; i < a.length; i++) {
      differences += a[i] == b[i] ? 0 : 1;
    }
    return differences;
  }

  private static void overflow(DemoTable out) {
    short[] x = new short[4];
    short[] y = new short[4];
    for (int i = 0; i < x.length; i++) {
      FLOAT16.set(MemorySegment.ofArray(x), i, 300);
    }
    RmsNorm norm = RmsNorm.builder(x.length).backend(Backend.scalar()).build();
    norm.apply(Rows.of(x, FLOAT16, x.length), Rows.of(y, FLOAT16, y.length));
    double square = FLOAT16.round(300 * 300);
    out.text(
        "A float16 row of 300s: 300^2 = 90000 becomes %s in float16, and 1 over".formatted(square),
        "its root is 0. With wider sums inside, each element becomes %s."
            .formatted(DemoTable.brief(FLOAT16.get(MemorySegment.ofArray(y), 0))));
  }
}
