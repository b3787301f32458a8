package io.github.rmsnorm4j.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.ChildJvm;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A model of 4 GiB in shards is folded and compared in a JVM with a heap of 512 MiB. The model's
 * files are mostly holes; the result takes 4 GiB of disk. It takes minutes:
 *
 * <p>{@code ./mvnw -pl cli -am test -Dtest=LargeFoldTest -DexcludedGroups=
 * -Dsurefire.failIfNoSpecifiedTests=false}
 */
@Tag("long")
class LargeFoldTest {
  private static final int WIDTH = 4096;
  private static final int INNER = 11008;
  private static final int LAYERS = 11;
  private static final int VOCABULARY = 256;
  private static final String GAIN = "layernorm.weight";

  @TempDir private Path folder;

  private record Entry(String name, int... shape) {
    long bytes() {
      long elements = 1;
      for (int length : shape) {
        elements *= length;
      }
      return 2 * elements;
    }
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.MINUTES) // It writes 4 GiB, and a disk may be slow.
  void passesThroughASmallHeap() throws Exception {
    Path in = writeModel();
    Path out = folder.resolve("out");
    List<String> command =
        ChildJvm.command(Rmsnorm.class, List.of("-Xmx512m"), "fold", in, "-o", out);
    Path log = folder.resolve("log");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      process.waitFor();
    } finally {
      process.destroyForcibly();
    }
    String text = Files.readString(log);
    System.out.println(text);
    assertThat(process.exitValue()).as(text).isZero();
    assertThat(text).contains("Llama: 23 norms, 23 folded");
    for (int layer = 0; layer < LAYERS; layer++) {
      String l = "model.layers." + layer + ".";
      String gate = l + "mlp.gate_proj.weight";
      float[] gain = row(in, l + "post_attention_" + GAIN);
      float[] before = row(in, gate);
      float[] after = row(out, gate);
      for (int i = 0; i < WIDTH; i++) {
        float exact = before[i] * gain[i];
        assertThat(Math.abs(after[i] - exact)).isLessThanOrEqualTo(Math.abs(exact) * 0x1p-8f);
      }
      assertThat(row(out, l + "post_attention_" + GAIN)).containsOnly(1);
    }
  }

  /** A shard for each layer, and one for the rest: 4.2 GiB. */
  private Path writeModel() throws IOException {
    Path in = Files.createDirectory(folder.resolve("in"));
    List<String> map = new ArrayList<>();
    long bytes = 0;
    for (int shard = 0; shard <= LAYERS; shard++) {
      String file = "model-%05d-of-%05d.safetensors".formatted(shard + 1, LAYERS + 1);
      List<Entry> entries = shard < LAYERS ? layer(shard) : rest();
      entries.forEach(entry -> map.add("\"%s\":\"%s\"".formatted(entry.name, file)));
      writeShard(in.resolve(file), entries);
      bytes += entries.stream().mapToLong(Entry::bytes).sum();
    }
    assertThat(bytes).isGreaterThan(4L << 30);
    Files.writeString(
        in.resolve("model.safetensors.index.json"),
        "{\"metadata\":{\"total_size\":%d},\"weight_map\":{%s}}"
            .formatted(bytes, String.join(",", map)));
    Files.writeString(
        in.resolve("config.json"),
        """
        {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": %d, "num_hidden_layers": %d,
         "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": %d, "vocab_size": %d,
         "max_position_embeddings": 64, "rms_norm_eps": 1e-05, "tie_word_embeddings": false, "hidden_act": "silu",
         "rope_theta": 10000.0, "torch_dtype": "bfloat16"}
        """
            .formatted(WIDTH, LAYERS, INNER, VOCABULARY));
    return in;
  }

  private static List<Entry> layer(int layer) {
    String l = "model.layers." + layer + ".";
    List<Entry> entries = new ArrayList<>();
    entries.add(new Entry(l + "input_" + GAIN, WIDTH));
    for (String name : List.of("q", "k", "v", "o")) {
      entries.add(new Entry(l + "self_attn." + name + "_proj.weight", WIDTH, WIDTH));
    }
    entries.add(new Entry(l + "post_attention_" + GAIN, WIDTH));
    entries.add(new Entry(l + "mlp.gate_proj.weight", INNER, WIDTH));
    entries.add(new Entry(l + "mlp.up_proj.weight", INNER, WIDTH));
    entries.add(new Entry(l + "mlp.down_proj.weight", WIDTH, INNER));
    return entries;
  }

  private static List<Entry> rest() {
    return List.of(
        new Entry("model.embed_tokens.weight", VOCABULARY, WIDTH),
        new Entry("model.norm.weight", WIDTH),
        new Entry("lm_head.weight", VOCABULARY, WIDTH));
  }

  /** The first rows hold random numbers; the others are a hole, which reads as zeros. */
  private static void writeShard(Path path, List<Entry> entries) throws IOException {
    StringBuilder header = new StringBuilder("{\"__metadata__\":{\"format\":\"pt\"}");
    long end = 0;
    for (Entry entry : entries) {
      header.append(
          ",\"%s\":{\"dtype\":\"BF16\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
              .formatted(entry.name, Arrays.toString(entry.shape), end, end + entry.bytes()));
      end += entry.bytes();
    }
    header.append('}');
    header.append(" ".repeat((8 - header.length() % 8) % 8));
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      long start = 8 + header.length();
      file.write(
          ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(header.length()).array());
      file.write(header.toString().getBytes(UTF_8));
      file.setLength(start + end);
      for (Entry entry : entries) {
        file.seek(start);
        file.write(randomRows(entry));
        start += entry.bytes();
      }
    }
  }

  private static byte[] randomRows(Entry entry) {
    Random random = new Random(entry.name.hashCode());
    boolean gain = entry.shape.length == 1;
    int rows = gain ? 1 : 64;
    int columns = entry.shape[entry.shape.length - 1];
    ByteBuffer bytes = ByteBuffer.allocate(2 * rows * columns).order(ByteOrder.LITTLE_ENDIAN);
    while (bytes.hasRemaining()) {
      float value = (float) (gain ? 0.5 + random.nextDouble() : 0.02 * random.nextGaussian());
      bytes.putShort((short) (Float.floatToRawIntBits(value) >>> 16));
    }
    return bytes.array();
  }

  private static float[] row(Path model, String name) throws IOException {
    try (TensorFile file = TensorFile.open(model);
        Arena arena = Arena.ofConfined()) {
      Tensor tensor = file.tensor(name);
      MemorySegment bytes = arena.allocate(2L * WIDTH, 2);
      file.read(tensor, 0, WIDTH, bytes);
      float[] row = new float[WIDTH];
      for (int i = 0; i < WIDTH; i++) {
        row[i] = Float.intBitsToFloat(bytes.getAtIndex(ValueLayout.JAVA_SHORT, i) << 16);
      }
      return row;
    }
  }
}
