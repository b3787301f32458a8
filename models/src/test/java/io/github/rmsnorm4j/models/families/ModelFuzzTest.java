package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.testing.Allocated;
import io.github.rmsnorm4j.formats.testing.GgufBytes;
import io.github.rmsnorm4j.formats.testing.Mutation;
import io.github.rmsnorm4j.models.FamilyGuess;
import io.github.rmsnorm4j.models.InspectedNorm;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.StoredModel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Thousands of models of which one file is nearly right. Each is either inspected, and then the
 * figures are those of another reader, or refused by a {@link FormatException} of one line, in
 * little memory.
 */
class ModelFuzzTest {
  private static final long MOST_NANOS = 10_000_000_000L;
  private static final int ROUNDS = 3 * Integer.getInteger("fuzz.rounds", 300);
  private static final long MOST_ALLOCATED = 64 << 20;

  private static final String RULES =
      """
      {"family": "Mine", "like": "Llama", "norm": "llama(eps=1e-6)", "epsilon": ["rms_norm_eps"],
       "counts": {"layer": ["num_hidden_layers"]}, "may_lack": {"layer": "model.layers.0.*"},
       "width": ["hidden_size"], "prefixes": ["model.", ""], "gain": true, "head": "lm_head",
       "norms": [
        {"name": "{prefix}layers.{layer}.input_layernorm",
         "consumers": ["{prefix}layers.{layer}.self_attn.{q,k,v}_proj"]},
        {"name": "{prefix}layers.{layer}.{post_attention_layernorm}", "optional": true},
        {"name": "{prefix}norm", "consumers": ["{head}"], "kept": "residual"}],
       "others": ["{prefix}layers.{layer}.mlp.{up,gate}_proj", "model.layers.1*"]}
      """;

  /** The file that is damaged. */
  private enum Damaged {
    CONFIG("config.json"),
    INDEX("model.safetensors.index.json"),
    GGUF("model.gguf"),
    MAP("map.json");

    final String name;

    Damaged(String name) {
      this.name = name;
    }
  }

  private static final TinyModel MODEL = Layouts.ALL.get("llama").model(StoredType.F32, 3);

  @TempDir private Path folder;
  private int guessed;

  private void write() throws IOException {
    HuggingFaceFolder.write(MODEL, folder, 2);
    Files.writeString(folder.resolve(Damaged.MAP.name), RULES);
    GgufBytes gguf =
        new GgufBytes()
            .text("general.architecture", "llama")
            .uint32("llama.block_count", 1)
            .uint32("llama.embedding_length", 4)
            .float32("llama.attention.layer_norm_rms_epsilon", 1e-5f)
            .tensor("token_embd.weight", GgufBytes.F32, new byte[32], 2, 4);
    for (String norm : new String[] {"blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"}) {
      gguf.tensor(norm + ".weight", GgufBytes.F32, GgufBytes.floats(1, 2, 3, 4), 4);
    }
    Files.write(folder.resolve(Damaged.GGUF.name), gguf.toBytes());
  }

  private Inspection inspect(Damaged damaged) throws IOException {
    Path model = damaged == Damaged.GGUF ? folder.resolve(damaged.name) : folder;
    Optional<Path> map =
        damaged == Damaged.MAP ? Optional.of(folder.resolve(damaged.name)) : Optional.empty();
    if (damaged == Damaged.CONFIG) {
      configAlone();
    }
    try (StoredModel stored = StoredModel.open(model)) {
      try {
        return Inspection.of(stored, map);
      } catch (FormatException e) {
        if (map.isEmpty()) {
          new FamilyGuess(stored).map();
          guessed++;
        }
        throw e;
      }
    }
  }

  private void configAlone() throws IOException {
    try {
      assertThat(Inspection.ofConfig(folder.resolve("config.json"), Optional.empty()).norms())
          .isNotEmpty();
    } catch (FormatException e) {
      assertThat(e.getMessage()).matches("[^\\p{Cntrl}]{1,2000}");
    }
  }

  @ParameterizedTest
  @EnumSource
  void noFileDoesAnythingButTellOrBeRefused(Damaged damaged) throws IOException {
    write();
    Path file = folder.resolve(damaged.name);
    byte[] right = Files.readAllBytes(file);
    Random random = new Random(damaged.ordinal());
    int refused = 0;
    int inspected = 0;
    for (int round = 0; round < ROUNDS; round++) {
      byte[] content = Mutation.some(right.clone(), random);
      Files.write(file, content);
      String which = "%s, round %d".formatted(damaged, round);
      Inspection inspection = null;
      String message = null;
      try {
        inspection = inspect(damaged);
        inspected++;
      } catch (FormatException e) {
        message = e.getMessage();
        refused++;
      } catch (Throwable e) {
        fail(which + ": " + new String(content, StandardCharsets.UTF_8), e);
      }
      if (message != null) {
        assertThat(message).describedAs(which).matches("[^\\p{Cntrl}]{1,2000}");
      } else if (damaged == Damaged.CONFIG || damaged == Damaged.INDEX) {
        assertRight(inspection, which);
      }
    }
    // Otherwise the mutations would be too wild or too tame to test anything.
    assertThat(refused).isGreaterThan(ROUNDS / 4);
    assertThat(inspected).isGreaterThan(ROUNDS / 100);
    if (damaged == Damaged.CONFIG || damaged == Damaged.GGUF) {
      assertThat(guessed).isPositive();
    }
  }

  @Tag("measure")
  @ParameterizedTest
  @EnumSource
  void noFileTakesMuchMemoryOrTime(Damaged damaged) throws IOException {
    write();
    inspect(damaged); // The first loads classes, which allocates more than any may.
    Path file = folder.resolve(damaged.name);
    byte[] right = Files.readAllBytes(file);
    Random random = new Random(damaged.ordinal());
    for (int round = 0; round < ROUNDS; round++) {
      Files.write(file, Mutation.some(right.clone(), random));
      long before = Allocated.bytes();
      long start = System.nanoTime();
      try {
        inspect(damaged);
      } catch (FormatException _) {
        // Refused, in as little.
      }
      assertThat(Allocated.bytes() - before)
          .describedAs("%s, round %d", damaged, round)
          .isLessThan(MOST_ALLOCATED);
      assertThat(System.nanoTime() - start)
          .describedAs("%s, round %d", damaged, round)
          .isLessThan(MOST_NANOS);
    }
  }

  /** The figures are those that the tests' own reader of folders has. */
  private void assertRight(Inspection inspection, String which) throws IOException {
    TinyModel model = HuggingFaceFolder.read(folder);
    Map<String, Object> config = model.config();
    int layers = (int) Double.parseDouble("" + config.get("num_hidden_layers"));
    assertThat(inspection.norms()).describedAs(which).hasSize(2 * layers + 1);
    double offset = inspection.model().family().startsWith("Gemma") ? 1 : 0;
    double epsilon = Double.parseDouble("" + config.getOrDefault("rms_norm_eps", "NaN"));
    for (InspectedNorm norm : inspection.norms()) {
      if (!norm.site().epsilonAssumed()) {
        assertThat(norm.site().spec().epsilon()).describedAs(which).hasValue(epsilon);
      }
      double[] stored = model.get(norm.site().gain().orElseThrow()).elements();
      double greatest = Arrays.stream(stored).max().orElseThrow() + offset;
      assertThat(norm.gain().orElseThrow().greatest()).describedAs(which).isEqualTo(greatest);
      assertThat(norm.site().spec().gainOffset()).isEqualTo(offset);
    }
  }
}
