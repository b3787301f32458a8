import io.github.rmsnorm4j.RmsNorm;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A decoding engine for a Llama in Hugging Face's layout with float32 weights, once with a plain
 * loop as its norm and once with rmsnorm4j. Each runs in JVMs of its own, in turn. It prints the
 * time to the first token, the tokens a second, and whether both engines chose the same tokens.
 *
 * <pre>
 * javac -cp rmsnorm4j.jar -d classes Llama2.java
 * java -cp rmsnorm4j.jar:classes Llama2 model.safetensors [tokens]
 * </pre>
 */
public final class Llama2 {
  private static final int ROUNDS = 5;

  /** The norms of the engine, which is all that differs. */
  private interface Norms {
    /** {@code y = norm(x)}. */
    void apply(int norm, float[] x, float[] y);

    /** {@code x += delta}, {@code y = norm(x)}. */
    void addAndApply(int norm, float[] delta, float[] x, float[] y);
  }

  /** The loop of the Java ports of llama2.c. */
  private record Loop(float[][] gains, float epsilon) implements Norms {
    @Override
    public void apply(int norm, float[] x, float[] y) {
      float[] gain = gains[norm];
      float sum = 0;
      for (int i = 0; i < x.length; i++) {
        sum += x[i] * x[i];
      }
      float rstd = (float) (1 / Math.sqrt(sum / x.length + epsilon));
      for (int i = 0; i < x.length; i++) {
        y[i] = gain[i] * (rstd * x[i]);
      }
    }

    @Override
    public void addAndApply(int norm, float[] delta, float[] x, float[] y) {
      for (int i = 0; i < x.length; i++) {
        x[i] += delta[i];
      }
      apply(norm, x, y);
    }
  }

  private record Library(RmsNorm[] norms) implements Norms {
    Library(float[][] gains, float epsilon) {
      this(new RmsNorm[gains.length]);
      for (int i = 0; i < gains.length; i++) {
        int width = gains[i].length;
        norms[i] = RmsNorm.builder(width).epsilon(epsilon).gain(gains[i]).threads(1).build();
      }
    }

    @Override
    public void apply(int norm, float[] x, float[] y) {
      norms[norm].apply(x, y);
    }

    @Override
    public void addAndApply(int norm, float[] delta, float[] x, float[] y) {
      norms[norm].addAndApply(delta, x, y);
    }
  }

  /** What config.json says. */
  private record Config(String text) {
    double number(String name) {
      Matcher found = Pattern.compile("\"" + name + "\"\\s*:\\s*([-+.\\deE]+)").matcher(text);
      if (!found.find()) {
        throw new IllegalArgumentException("config.json has no " + name);
      }
      return Double.parseDouble(found.group(1));
    }

    int count(String name) {
      return (int) number(name);
    }
  }

  private final Map<String, float[]> weights;
  private final int layers;
  private final int heads;
  private final int shared;
  private final int width;
  private final int ofHead;
  private final double base;
  private final float[][] keys;
  private final float[][] values;
  private final Norms norms;

  private Llama2(Path model, int tokens, boolean isLibrary) throws IOException {
    Config config = new Config(Files.readString(model.resolveSibling("config.json")));
    weights = weights(model);
    layers = config.count("num_hidden_layers");
    heads = config.count("num_attention_heads");
    shared = heads / config.count("num_key_value_heads");
    width = config.count("hidden_size");
    ofHead = width / heads;
    base = config.number("rope_theta");
    keys = new float[layers][tokens * width / shared];
    values = new float[layers][tokens * width / shared];
    float[][] gains = new float[2 * layers + 1][];
    for (int layer = 0; layer < layers; layer++) {
      gains[2 * layer] = weight(layer, "input_layernorm");
      gains[2 * layer + 1] = weight(layer, "post_attention_layernorm");
    }
    gains[2 * layers] = weights.get("model.norm.weight");
    float epsilon = (float) config.number("rms_norm_eps");
    norms = isLibrary ? new Library(gains, epsilon) : new Loop(gains, epsilon);
  }

  /** Tensors of a safetensors file: the header's length, the header, and the numbers. */
  private static Map<String, float[]> weights(Path model) throws IOException {
    ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(model)).order(ByteOrder.LITTLE_ENDIAN);
    byte[] header = new byte[Math.toIntExact(file.getLong())];
    file.get(header);
    int data = file.position();
    Pattern tensor =
        Pattern.compile("\"([^\"]+)\":\\{\"dtype\":\"F32\",.*?\"data_offsets\":\\[(\\d+),(\\d+)]");
    Matcher found = tensor.matcher(new String(header).replaceAll("\\s", ""));
    Map<String, float[]> weights = new HashMap<>();
    while (found.find()) {
      int from = Integer.parseInt(found.group(2));
      float[] numbers = new float[(Integer.parseInt(found.group(3)) - from) / Float.BYTES];
      ByteBuffer there = file.slice(data + from, numbers.length * Float.BYTES).order(file.order());
      there.asFloatBuffer().get(numbers);
      weights.put(found.group(1), numbers);
    }
    return weights;
  }

  private float[] weight(int layer, String name) {
    return weights.get("model.layers." + layer + "." + name + ".weight");
  }

  private static float[] product(float[] matrix, float[] x) {
    float[] y = new float[matrix.length / x.length];
    for (int row = 0; row < y.length; row++) {
      float sum = 0;
      for (int i = 0; i < x.length; i++) {
        sum += matrix[row * x.length + i] * x[i];
      }
      y[row] = sum;
    }
    return y;
  }

  /** Logits of the token after one. */
  private float[] logits(int token, int position) {
    float[] embedding = weights.get("model.embed_tokens.weight");
    float[] x = Arrays.copyOfRange(embedding, token * width, (token + 1) * width);
    float[] y = new float[width];
    norms.apply(0, x, y);
    for (int layer = 0; layer < layers; layer++) {
      float[] attention = product(weight(layer, "self_attn.o_proj"), attention(layer, position, y));
      norms.addAndApply(2 * layer + 1, attention, x, y);
      float[] gate = product(weight(layer, "mlp.gate_proj"), y);
      float[] up = product(weight(layer, "mlp.up_proj"), y);
      for (int i = 0; i < gate.length; i++) {
        gate[i] *= up[i] / (1 + (float) Math.exp(-gate[i]));
      }
      norms.addAndApply(2 * layer + 2, product(weight(layer, "mlp.down_proj"), gate), x, y);
    }
    return product(weights.getOrDefault("lm_head.weight", embedding), y);
  }

  private float[] attention(int layer, int position, float[] x) {
    float[] query = product(weight(layer, "self_attn.q_proj"), x);
    float[] key = product(weight(layer, "self_attn.k_proj"), x);
    float[] value = product(weight(layer, "self_attn.v_proj"), x);
    rotate(query, position);
    rotate(key, position);
    System.arraycopy(key, 0, keys[layer], position * key.length, key.length);
    System.arraycopy(value, 0, values[layer], position * key.length, key.length);
    float[] y = new float[width];
    for (int head = 0; head < heads; head++) {
      int from = head / shared * ofHead;
      double[] scores = new double[position + 1];
      for (int t = 0; t <= position; t++) {
        for (int i = 0; i < ofHead; i++) {
          scores[t] += query[head * ofHead + i] * keys[layer][t * key.length + from + i];
        }
        scores[t] /= Math.sqrt(ofHead);
      }
      double max = Arrays.stream(scores).max().orElseThrow();
      double sum = 0;
      for (int t = 0; t <= position; t++) {
        scores[t] = Math.exp(scores[t] - max);
        sum += scores[t];
      }
      for (int t = 0; t <= position; t++) {
        for (int i = 0; i < ofHead; i++) {
          float of = values[layer][t * key.length + from + i];
          y[head * ofHead + i] += (float) (scores[t] / sum * of);
        }
      }
    }
    return y;
  }

  /** Rotary positions, of the two halves of each head. */
  private void rotate(float[] x, int position) {
    int half = ofHead / 2;
    for (int at = 0; at < x.length; at += ofHead) {
      for (int i = 0; i < half; i++) {
        double angle = position / Math.pow(base, (double) i / half);
        float a = x[at + i];
        float b = x[at + i + half];
        x[at + i] = (float) (a * Math.cos(angle) - b * Math.sin(angle));
        x[at + i + half] = (float) (b * Math.cos(angle) + a * Math.sin(angle));
      }
    }
  }

  /** What an engine did: its tokens, and nanoseconds until it had the first and the last. */
  private record Result(String tokens, long first, long all) {
    static Result of(Path model, int tokens, boolean isLibrary) throws IOException {
      long begin = System.nanoTime();
      Llama2 engine = new Llama2(model, tokens, isLibrary);
      int[] chosen = new int[tokens + 1];
      chosen[0] = 1; // the beginning of a text
      long first = 0;
      for (int i = 0; i < tokens; i++) {
        float[] logits = engine.logits(chosen[i], i);
        for (int token = 1; token < logits.length; token++) {
          chosen[i + 1] = logits[token] > logits[chosen[i + 1]] ? token : chosen[i + 1];
        }
        first = i == 0 ? System.nanoTime() - begin : first;
      }
      return new Result(Arrays.toString(chosen), first, System.nanoTime() - begin);
    }

    /** That of a JVM of its own, with the flags of this one. */
    static Result ofAnother(String model, int tokens, boolean isLibrary) throws IOException {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
      command.addAll(List.of("-cp", System.getProperty("java.class.path"), "Llama2"));
      command.addAll(List.of(model, "" + tokens, "" + isLibrary));
      ProcessBuilder start = new ProcessBuilder(command);
      Process jvm = start.redirectError(ProcessBuilder.Redirect.INHERIT).start();
      String[] lines = new String(jvm.getInputStream().readAllBytes()).split("\\R");
      if (lines.length != 3) {
        throw new IOException("a JVM with this engine failed: " + command);
      }
      return new Result(lines[0], Long.parseLong(lines[1]), Long.parseLong(lines[2]));
    }
  }

  public static void main(String[] args) throws IOException {
    if (args.length < 1 || args.length > 3) {
      System.err.println("usage: Llama2 model.safetensors [tokens]");
      System.exit(2);
    }
    int tokens = args.length > 1 ? Integer.parseInt(args[1]) : 256;
    if (args.length == 3) {
      Result of = Result.of(Path.of(args[0]), tokens, Boolean.parseBoolean(args[2]));
      System.out.printf("%s%n%d%n%d%n", of.tokens, of.first, of.all);
      return;
    }
    List<Result> loop = new ArrayList<>();
    List<Result> library = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      loop.add(Result.ofAnother(args[0], tokens, false));
      library.add(Result.ofAnother(args[0], tokens, true));
    }
    System.out.println("norm          first token      tokens/s");
    print("plain loop", tokens, loop);
    print("rmsnorm4j", tokens, library);
    boolean equal = loop.getFirst().tokens.equals(library.getFirst().tokens);
    System.out.println(equal ? "The tokens are equal." : "The tokens differ.");
  }

  private static void print(String name, int tokens, List<Result> rounds) {
    double first = median(rounds, Result::first) / 1e6;
    double all = median(rounds, Result::all) / 1e9;
    System.out.printf("%-12s %9.1f ms %13.0f%n", name, first, tokens / all);
  }

  private static long median(List<Result> rounds, ToLongFunction<Result> time) {
    return rounds.stream().mapToLong(time).sorted().toArray()[ROUNDS / 2];
  }
}
