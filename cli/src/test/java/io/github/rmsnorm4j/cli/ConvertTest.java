package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rmsnorm convert} on a small random GPT-2. */
class ConvertTest {
  private static final int WIDTH = 32;
  private static final int LAYERS = 2;

  @TempDir private Path folder;
  private final List<Tensor> tensors = new ArrayList<>();
  private Path model;
  private Path out;

  @BeforeEach
  void write() throws IOException {
    model = Files.createDirectory(folder.resolve("gpt2"));
    out = folder.resolve("out");
    Files.writeString(
        model.resolve("config.json"),
        """
        {
          "architectures": ["GPT2LMHeadModel"],
          "model_type": "gpt2",
          "activation_function": "gelu_new",
          "n_embd": %d,
          "n_head": 4,
          "n_layer": %d,
          "n_positions": 40,
          "layer_norm_epsilon": 1e-05,
          "vocab_size": 97
        }
        """
            .formatted(WIDTH, LAYERS));
    add("wte.weight", 97, WIDTH);
    add("wpe.weight", 40, WIDTH);
    for (int layer = 0; layer < LAYERS; layer++) {
      String h = "h." + layer + ".";
      norm(h + "ln_1");
      projection(h + "attn.c_attn", WIDTH, 3 * WIDTH);
      projection(h + "attn.c_proj", WIDTH, WIDTH);
      norm(h + "ln_2");
      projection(h + "mlp.c_fc", WIDTH, 4 * WIDTH);
      projection(h + "mlp.c_proj", 4 * WIDTH, WIDTH);
    }
    norm("ln_f");
    Random random = new Random(1);
    try (TensorWriter writer =
        TensorWriter.create(model.resolve("model.safetensors"), tensors, Map.of(), false)) {
      for (Tensor tensor : writer.order()) {
        ByteBuffer bytes = ByteBuffer.allocate((int) tensor.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        boolean gain = tensor.name().matches(".*ln_.\\.weight");
        while (bytes.hasRemaining()) {
          bytes.putFloat((float) ((gain ? 1 : 0.05) + 0.2 * random.nextGaussian()));
        }
        writer.write(MemorySegment.ofArray(bytes.array()));
      }
      writer.commit();
    }
  }

  private void norm(String name) {
    add(name + ".weight", WIDTH);
    add(name + ".bias", WIDTH);
  }

  private void projection(String name, long inputs, long outputs) {
    add(name + ".weight", inputs, outputs);
    add(name + ".bias", outputs);
  }

  private void add(String name, long... shape) {
    List<Long> lengths = Arrays.stream(shape).boxed().toList();
    tensors.add(new Tensor("transformer." + name, Dtype.F32, lengths));
  }

  private CommandResult convert(String... options) {
    List<String> args = new ArrayList<>(List.of("convert", "" + model, "--to", "rmsnorm"));
    args.addAll(List.of("-o", "" + out));
    args.addAll(List.of(options));
    return CommandResult.of(args.toArray(String[]::new));
  }

  @Test
  void saysWhatItConvertedAndProvesIt() throws IOException {
    CommandResult result = convert("--untie");
    assertThat(result.err()).matches("(?s).*/out: the model converted, in \\d+\\.\\d\\d s\\R");
    assertThat(result.outLines())
        .startsWith(
            "GPT-2: 5 norms, 4 folded, 0 without gain and bias, 1 left alone",
            "  transformer.h.N.ln_1, N = 0 to 1: folded into transformer.h.N.attn.c_attn",
            "  transformer.h.N.ln_2, N = 0 to 1: folded into transformer.h.N.mlp.c_fc",
            "  transformer.ln_f: left alone: transformer.wte.weight has no bias, which would",
            "    take the norm's bias: it keeps both",
            "the head is a matrix of its own now, lm_head.weight; tie_word_embeddings is",
            "  false",
            "all norms are RMSNorm now, with the same epsilon; 2 embeddings and 4 matrices",
            "  that add to the residual stream are centered",
            "model_type is rmsnorm4j-gpt2 now, which transformers does not load")
        .anyMatch(
            line -> line.matches("  elements of what is added to the stream +14,752 +0\\.\\d+"))
        .anyMatch(line -> line.startsWith("whole model: for 24 random tokens the logits"));
    assertThat(Files.readString(out.resolve("config.json")))
        .contains("\"model_type\": \"rmsnorm4j-gpt2\"", "\"layer_norm_epsilon\": 1e-05");
  }

  @Test
  void aTiedHeadNeedsUntie() {
    CommandResult result = convert();
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.out()).isEmpty();
    assertThat(result.err())
        .isEqualToIgnoringNewLines(
            "rmsnorm convert: "
                + model
                + " cannot be converted: the head is the token embedding, which is centered, and the"
                + " head must not be: --untie gives the head a matrix of its own");
    assertThat(out).doesNotExist();
  }

  /** What is in the way is said, and stays. */
  @Test
  void anotherPartialFolderIsRefused() throws IOException {
    Path partial = Files.createDirectory(folder.resolve("out.partial"));
    Files.writeString(partial.resolve("mine"), "mine");
    CommandResult result = convert("--untie");
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.err())
        .isEqualToIgnoringNewLines(
            "rmsnorm convert: "
                + partial
                + ": exists: another command is writing OUT, or was killed; if none is running, delete"
                + " it");
    assertThat(partial.resolve("mine")).hasContent("mine");
  }
}
