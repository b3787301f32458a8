package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Mistakes that were reported in public, made again in plain loops: {@code check} names the norm
 * that the code computed, and with the mended code the norm that was meant.
 */
class PublicReportsTest {
  private static final int ROWS = 32;
  private static final int WIDTH = 96;
  private static final int GROUPS = 4;

  private static final String RMS = "RMSNorm, float32, eps 1e-6";
  private static final String LLAMA = "RMSNorm, llama, eps 1e-6";
  private static final String PLUS_1 = RMS + ", gain + 1";
  private static final String GROUPED = RMS + ", 4 groups of 24";
  private static final String LAYER = "LayerNorm, float32, eps 1e-6";
  private static final String NONE = "X itself";

  private static final Pattern VERDICT = Pattern.compile("^Y is (.+?)(:| \\([\\d,al]+ )");

  @TempDir Path folder;

  /** What some code makes of a row and a gain. */
  private interface Code {
    float[] apply(float[] x, float[] gain);
  }

  private enum Report {
    /**
     * utensils/mold#1074, kekzl/imp#459, vllm-project/vllm#31464, kvark/meganeura#188: 1 is added
     * to gains of a GGUF file, whose converter has added it.
     */
    MOLD_1074(Dtype.F32, PublicReportsTest::onePlus, PLUS_1, PublicReportsTest::rms, RMS),
    IMP_459(Dtype.F16, PublicReportsTest::onePlus, PLUS_1, PublicReportsTest::rms, RMS),
    VLLM_31464(Dtype.BF16, PublicReportsTest::onePlus, PLUS_1, PublicReportsTest::rms, RMS),
    MEGANEURA_188(Dtype.F32, PublicReportsTest::onePlus, PLUS_1, PublicReportsTest::rms, RMS),

    /** Blaizzy/mlx-vlm#1556, EricLBuehler/mistral.rs#2201: the same with gains of an MLX folder. */
    MLX_VLM_1556(Dtype.BF16, PublicReportsTest::onePlus, PLUS_1, PublicReportsTest::rms, RMS),
    MISTRAL_RS_2201(Dtype.BF16, PublicReportsTest::onePlus, PLUS_1, PublicReportsTest::rms, RMS),

    /** kekzl/imp#1289: 1 is not added to the gain of the last norm. */
    IMP_1289(Dtype.F16, PublicReportsTest::rms, RMS, PublicReportsTest::onePlus, PLUS_1),

    /** sonos/tract#2749: ONNX's SimplifiedLayerNormalization subtracts the mean. */
    TRACT_2749(Dtype.F32, PublicReportsTest::layer, LAYER, PublicReportsTest::rms, RMS),

    /** BENCHMARKS.md of DenzoSOFTHub/LLMPlayer 7276f7fb: Command-R's norm does not subtract it. */
    LLMPLAYER_C1(Dtype.F32, PublicReportsTest::rms, RMS, PublicReportsTest::layer, LAYER),

    /** ROCm/hip-ep#937: squares are summed over all groups of a row. */
    HIP_EP_937(Dtype.F32, PublicReportsTest::rms, RMS, PublicReportsTest::grouped, GROUPED),

    /** state-spaces/mamba#910: the same behind a gate; X is the product with it. */
    MAMBA_910(Dtype.F32, PublicReportsTest::rms, RMS, PublicReportsTest::grouped, GROUPED),

    /**
     * vllm-project/vllm#49639, sgl-project/sglang#22931: the product with the gain is in float32,
     * where the model rounds before it.
     */
    VLLM_49639(Dtype.BF16, PublicReportsTest::rms, RMS, rounded(Dtype.BF16), LLAMA),
    SGLANG_22931(Dtype.F16, PublicReportsTest::rms, RMS, rounded(Dtype.F16), LLAMA),

    /** vllm-project/vllm-xpu-kernels#536: the other way round. */
    XPU_KERNELS_536(Dtype.BF16, rounded(Dtype.BF16), LLAMA, PublicReportsTest::rms, RMS),

    /** WHATS-NEW.md of LLMPlayer: one of two paths leaves out the norm of queries and keys. */
    LLMPLAYER_QK(Dtype.F32, (x, gain) -> x, NONE, PublicReportsTest::rms, RMS),

    /** The same file: the norm of Gemma 4's values, which has no gain, is left out. */
    LLMPLAYER_V(Dtype.F32, (x, gain) -> x, NONE, (x, gain) -> normalized(x, 0, WIDTH, 0), RMS);

    final Dtype type;
    final Code wrong;
    final String made;
    final Code mended;
    final String meant;

    Report(Dtype type, Code wrong, String made, Code mended, String meant) {
      this.type = type;
      this.wrong = wrong;
      this.made = made;
      this.mended = mended;
      this.meant = meant;
    }
  }

  /** A part of a row, in float32, with its squares summed one after the other. */
  private static float[] normalized(float[] x, int from, int to, float mean) {
    float sum = 0;
    for (int i = from; i < to; i++) {
      sum += (x[i] - mean) * (x[i] - mean);
    }
    float rstd = 1 / (float) Math.sqrt(sum / (to - from) + 1e-6f);
    float[] y = new float[to - from];
    for (int i = from; i < to; i++) {
      y[i - from] = (x[i] - mean) * rstd;
    }
    return y;
  }

  private static float[] times(float[] y, float[] gain, float offset) {
    float[] result = new float[y.length];
    for (int i = 0; i < y.length; i++) {
      result[i] = y[i] * (offset + gain[i]);
    }
    return result;
  }

  private static float[] rms(float[] x, float[] gain) {
    return times(normalized(x, 0, WIDTH, 0), gain, 0);
  }

  private static float[] onePlus(float[] x, float[] gain) {
    return times(normalized(x, 0, WIDTH, 0), gain, 1);
  }

  private static float[] layer(float[] x, float[] gain) {
    float sum = 0;
    for (float element : x) {
      sum += element;
    }
    return times(normalized(x, 0, WIDTH, sum / WIDTH), gain, 0);
  }

  private static float[] grouped(float[] x, float[] gain) {
    float[] y = new float[WIDTH];
    int width = WIDTH / GROUPS;
    for (int from = 0; from < WIDTH; from += width) {
      System.arraycopy(normalized(x, from, from + width, 0), 0, y, from, width);
    }
    return times(y, gain, 0);
  }

  /** Rounds between the two products. */
  private static Code rounded(Dtype type) {
    return (x, gain) -> {
      float[] y = normalized(x, 0, WIDTH, 0);
      return times(floats(tensor("y", type, y)), gain, 0);
    };
  }

  private static TestTensor tensor(String name, Dtype type, float[] values) {
    double[] all = new double[values.length];
    Arrays.setAll(all, i -> values[i]);
    long[] shape = all.length == WIDTH ? new long[] {WIDTH} : new long[] {ROWS, WIDTH};
    return TestTensor.of(name, type, all, shape);
  }

  private static float[] floats(TestTensor tensor) {
    double[] values = tensor.values();
    float[] floats = new float[values.length];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = (float) values[i];
    }
    return floats;
  }

  /** Rows so small that epsilon shows, with a mean that LayerNorm takes away. */
  private static TestTensor rows(Report report) {
    float[] x = floats(TestTensor.random("x", Dtype.F32, 0.3, 1, ROWS, WIDTH));
    float[] z = floats(TestTensor.random("z", Dtype.F32, 0.3, 3, ROWS, WIDTH));
    for (int i = 0; i < x.length; i++) {
      float gate = report == Report.MAMBA_910 ? z[i] / (1 + (float) Math.exp(-z[i])) : 1;
      x[i] = x[i] / 100 * gate;
    }
    return tensor("x", report.type, x);
  }

  @ParameterizedTest
  @EnumSource
  void theMistakeIsNamed(Report report) throws IOException {
    assertThat(check(report, report.wrong)).isEqualTo(report.made);
    assertThat(check(report, report.mended)).isEqualTo(report.meant);
  }

  /** llama.cpp#23758: a converter to GGUF adds 1 to the gains of a folder that MLX added it to. */
  @Test
  void gainsThatHoldTheOneAlreadyAreNamed() throws IOException {
    String warning = "the stored numbers look like g, but the architecture stores g - 1";
    assertThat(inspect("language_model.model.", 1.0331)).contains(warning);
    assertThat(inspect("model.language_model.", 0.0331)).doesNotContain("warning");
  }

  /** The last norm of a Qwen3.5, by gains around a mean. */
  private String inspect(String prefix, double mean) throws IOException {
    Path model = Files.createDirectory(folder.resolve(prefix + "bf16"));
    Files.writeString(
        model.resolve("config.json"),
        """
        {"model_type": "qwen3_5", "tie_word_embeddings": true,
         "text_config": {"model_type": "qwen3_5_text", "num_hidden_layers": 0}}
        """);
    double[] gain = {mean - 0.1, mean, mean + 0.1, mean + 0.05};
    TestTensor.write(
        model.resolve("model.safetensors"),
        TestTensor.random(prefix + "embed_tokens.weight", Dtype.BF16, 0, 1, 5, 4),
        TestTensor.of(prefix + "norm.weight", Dtype.BF16, gain, 4));
    CommandResult result = CommandResult.of("inspect", "" + model);
    assertThat(result.status()).as(result.err()).isZero();
    return result.out().replaceAll("\\s+", " ");
  }

  /** What made the output of some code, as check says it. */
  private String check(Report report, Code code) throws IOException {
    TestTensor x = rows(report);
    TestTensor gain = TestTensor.random("g", report.type, 1, 2, WIDTH);
    float[] all = floats(x);
    float[] y = new float[all.length];
    for (int from = 0; from < all.length; from += WIDTH) {
      float[] row = code.apply(Arrays.copyOfRange(all, from, from + WIDTH), floats(gain));
      System.arraycopy(row, 0, y, from, WIDTH);
    }
    List<String> args =
        new ArrayList<>(List.of("check", write(x), write(tensor("y", report.type, y))));
    if (report != Report.LLMPLAYER_V) {
      args.addAll(List.of("--gain", write(gain)));
    }
    String out = CommandResult.of(args.toArray(String[]::new)).out().replaceAll("\\s+", " ");
    Matcher verdict = VERDICT.matcher(out);
    assertThat(verdict.find()).as(out).isTrue();
    return verdict.group(1);
  }

  private String write(TestTensor tensor) throws IOException {
    return "" + TestTensor.write(folder.resolve(tensor.tensor().name() + ".safetensors"), tensor);
  }
}
