import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Makes {@code activations.safetensors}: what a small language model's layers might hand to their
 * norms, made up, but with what makes real ones hard.
 *
 * <p>The residual stream grows from layer to layer; a few of its dimensions are many times larger
 * than the others; the first token of a sequence has one that is far larger still. Hidden states
 * have hardly any mean, as measured in models; what comes out of a ReLU has a clear one. Two sequences of 24 tokens, 96
 * dimensions, and a gain near 1 for each norm.
 *
 * <pre>java examples/MakeActivations.java [OUT]</pre>
 *
 * <p>The same file each time: only {@link Random} and arithmetic, both exactly specified.
 */
final class MakeActivations {
  private static final int SEQUENCES = 2;
  private static final int TOKENS = 24;
  private static final int WIDTH = 96;
  private static final int[] LAYERS = {0, 4, 8, 12};
  private static final int[] OUTLIERS = {7, 42, 70};
  private static final int SINK = 42;
  private static final long SEED = 20191016;

  /** The file's header, without its braces, and its data. */
  private final List<String> entries = new ArrayList<>();

  private final ByteBuffer data = ByteBuffer.allocate(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
  private final Random random = new Random(SEED);

  public static void main(String[] args) throws IOException {
    Path out = Path.of(args.length > 0 ? args[0] : "examples/activations.safetensors");
    new MakeActivations().write(out);
    System.out.println(out + ": " + Files.size(out) + " bytes");
  }

  private void write(Path out) throws IOException {
    tokens();
    float[] stream = new float[SEQUENCES * TOKENS * WIDTH];
    int done = 0;
    for (int layer : LAYERS) {
      for (; done <= layer; done++) {
        addLayer(stream, done);
      }
      float32("layers." + layer + ".hidden", stream);
    }
    float32("layers.12.relu", relu());
    for (int layer : LAYERS) {
      bfloat16("layers." + layer + ".norm.weight", gain(layer));
    }
    String header =
        "{\"__metadata__\":{\"made_by\":\"examples/MakeActivations.java\"},"
            + String.join(",", entries)
            + "}";
    header += " ".repeat(-header.length() & 7);
    ByteBuffer file = ByteBuffer.allocate(8 + header.length() + data.position());
    file.order(ByteOrder.LITTLE_ENDIAN).putLong(header.length()).put(header.getBytes(UTF_8));
    Files.write(out, file.put(data.flip()).array());
  }

  /** Adds a layer's part to the residual stream, with little left of its mean. */
  private void addLayer(float[] stream, int layer) {
    for (int row = 0; row < SEQUENCES * TOKENS; row++) {
      double[] added = added(layer, row % TOKENS == 0 && layer > 0);
      double sum = 0;
      for (double value : added) {
        sum += value;
      }
      for (int i = 0; i < WIDTH; i++) {
        stream[row * WIDTH + i] += (float) (added[i] - 0.9 * sum / WIDTH);
      }
    }
  }

  /** What a layer adds to a token: more with depth, and most of it in few dimensions. */
  private double[] added(int layer, boolean isSink) {
    double[] added = new double[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
      added[i] = (0.3 + 0.1 * layer) * random.nextGaussian();
    }
    for (int outlier : OUTLIERS) {
      added[outlier] = 2 * added[outlier] + (outlier == SINK ? 1 : -1.5);
    }
    if (isSink) {
      added[SINK] += 60;
    }
    return added;
  }

  private float[] relu() {
    float[] values = new float[SEQUENCES * TOKENS * WIDTH];
    for (int i = 0; i < values.length; i++) {
      values[i] = Math.max(0, (float) (2 * random.nextGaussian()));
    }
    return values;
  }

  private float[] gain(int layer) {
    float[] values = new float[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
      values[i] = (float) (0.4 + 0.05 * layer + 0.08 * random.nextGaussian());
    }
    return values;
  }

  /** Not every tensor of a file is a matter for norms. */
  private void tokens() {
    int begin = data.position();
    for (int i = 0; i < SEQUENCES * TOKENS; i++) {
      data.putLong(i % TOKENS == 0 ? 1 : random.nextInt(32000));
    }
    entry("token_ids", "I64", "[" + SEQUENCES + "," + TOKENS + "]", begin);
  }

  private void float32(String name, float[] values) {
    int begin = data.position();
    for (float value : values) {
      data.putFloat(value);
    }
    entry(name, "F32", "[" + SEQUENCES + "," + TOKENS + "," + WIDTH + "]", begin);
  }

  /** Rounded to nearest, ties to even. */
  private void bfloat16(String name, float[] values) {
    int begin = data.position();
    for (float value : values) {
      int bits = Float.floatToRawIntBits(value);
      data.putShort((short) (bits + 0x7fff + (bits >>> 16 & 1) >>> 16));
    }
    entry(name, "BF16", "[" + WIDTH + "]", begin);
  }

  private void entry(String name, String type, String shape, int begin) {
    entries.add(
        "\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
            .formatted(name, type, shape, begin, data.position()));
  }
}
