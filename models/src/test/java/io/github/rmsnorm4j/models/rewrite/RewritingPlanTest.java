package io.github.rmsnorm4j.models.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import io.github.rmsnorm4j.models.ModelNorms;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.Projection;
import io.github.rmsnorm4j.models.rewrite.NormOutcome.Fate;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Wish;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of each tensor, for norms and matrices that are made by hand. */
class RewritingPlanTest {
  private static final Projection Q = new Projection("q", false, Optional.empty());
  private static final Projection FC = new Projection("fc", true, Optional.of("fc_bias"));
  private static final Projection TIED = new Projection("embed", false, Optional.empty());
  private static final Projection HEAD = new Projection("head", false, Optional.empty());

  private final List<NormSite> norms = new ArrayList<>();
  @TempDir private Path folder;
  private final Map<String, double[]> vectors = new HashMap<>();
  private final Map<String, Tensor> tensors = new LinkedHashMap<>();
  private Projection head = HEAD;
  private double scale = 1;
  private Optional<String> notConverted = Optional.empty();
  private List<Projection> writers = List.of();
  private List<String> unknown = List.of();

  RewritingPlanTest() {
    tensor("q", Dtype.BF16, 2, 2);
    tensor("fc", Dtype.BF16, 2, 3);
    tensor("fc_bias", Dtype.BF16, 3);
    tensor("embed", Dtype.BF16, 5, 2);
    tensor("head", Dtype.BF16, 5, 2);
    tensor("o", Dtype.BF16, 2, 2);
    tensor("down", Dtype.BF16, 3, 2);
    tensor("down_bias", Dtype.BF16, 2);
  }

  private void tensor(String name, Dtype dtype, long... shape) {
    List<Long> lengths = Arrays.stream(shape).boxed().toList();
    tensors.put(name, new Tensor(name, dtype, lengths));
  }

  private NormSite norm(String name, NormSpec spec, Projection... consumers) {
    Optional<String> bias =
        spec == NormSpec.LAYERNORM ? Optional.of(name + ".bias") : Optional.empty();
    tensor(name + ".gain", Dtype.BF16, 2);
    vectors.put(name + ".gain", new double[] {2, -3});
    if (bias.isPresent()) {
      tensor(bias.get(), Dtype.BF16, 2);
      vectors.put(bias.get(), new double[] {0, 5});
    }
    NormSite site =
        new NormSite(
            name,
            0,
            spec,
            2,
            false,
            false,
            Optional.of(name + ".gain"),
            bias,
            List.of(consumers),
            Optional.empty(),
            Optional.empty(),
            List.of());
    norms.add(site);
    return site;
  }

  private ModelNorms model() {
    return new ModelNorms(
        "Test",
        norms,
        List.of("embed"),
        writers,
        Optional.of(head),
        head == TIED,
        "head",
        scale,
        List.of("tie_word_embeddings"),
        Optional.of("rms-test"),
        notConverted,
        unknown);
  }

  private RewritingPlan plan(Goal goal, boolean untie) throws IOException {
    Path path = folder.resolve("model.safetensors");
    try (TensorWriter writer =
        TensorWriter.create(path, List.copyOf(tensors.values()), Map.of(), true)) {
      for (Tensor tensor : writer.order()) {
        MemorySegment bytes = Arena.ofAuto().allocate(tensor.bytes(), 8);
        double[] vector = vectors.getOrDefault(tensor.name(), new double[0]);
        for (int i = 0; i < vector.length; i++) {
          tensor.dtype().elementType().orElseThrow().set(bytes, i, vector[i]);
        }
        writer.write(bytes);
      }
      writer.commit();
    }
    try (TensorFile file = TensorFile.open(path)) {
      return new RewritingPlan(model(), file, new Wish(goal, Optional.empty(), untie, true));
    }
  }

  private static Edit edit(String source, Edit.Step... steps) {
    return new Edit(source, List.of(steps));
  }

  private void assertKept(RewritingPlan plan, String reason) {
    assertKept(plan, Fate.KEPT, reason);
  }

  private void assertKept(RewritingPlan plan, Fate fate, String reason) {
    assertThat(plan.norms).hasSize(1);
    assertThat(plan.norms.getFirst().fate()).isEqualTo(fate);
    assertThat(plan.norms.getFirst().reason()).isEqualTo(reason);
    assertThat(plan.edits).isEmpty();
    assertThat(plan.untied).isFalse();
  }

  @Test
  void aGainGoesIntoEachConsumer() throws IOException {
    norm("n", NormSpec.LLAMA, Q, FC);
    assertThat(plan(Goal.FOLD, false).edits)
        .isEqualTo(
            Map.of(
                "q", edit("q", new Edit.ScaleInputs("n.gain", 0, false)),
                "fc", edit("fc", new Edit.ScaleInputs("n.gain", 0, true)),
                "n.gain", edit("n.gain", new Edit.Fill(1))));
  }

  @Test
  void aGainStoredLessOneBecomesZero() throws IOException {
    norm("n", NormSpec.GEMMA, Q);
    assertThat(plan(Goal.FOLD, false).edits)
        .isEqualTo(
            Map.of(
                "q", edit("q", new Edit.ScaleInputs("n.gain", 1, false)),
                "n.gain", edit("n.gain", new Edit.Fill(0))));
    vectors.put("n.gain", new double[] {0, 0});
    assertThat(plan(Goal.FOLD, false).norms.getFirst().fate()).isEqualTo(Fate.PLAIN);
    vectors.put("n.gain", new double[] {1, 1});
    assertThat(plan(Goal.FOLD, false).norms.getFirst().fate()).isEqualTo(Fate.FOLDED);
  }

  @Test
  void aBiasGoesIntoTheBias() throws IOException {
    norm("n", NormSpec.LAYERNORM, FC);
    assertThat(plan(Goal.FOLD, false).edits)
        .isEqualTo(
            Map.of(
                "fc_bias", edit("fc_bias", new Edit.AddProduct(FC, "n.bias")),
                "fc", edit("fc", new Edit.ScaleInputs("n.gain", 0, true)),
                "n.gain", edit("n.gain", new Edit.Fill(1)),
                "n.bias", edit("n.bias", new Edit.Fill(0))));
  }

  @Test
  void whatIsPlainAlreadyIsNotTouched() throws IOException {
    norm("n", NormSpec.LAYERNORM, FC);
    vectors.put("n.bias", new double[] {0, -0.0});
    assertThat(plan(Goal.FOLD, false).edits).containsOnlyKeys("fc", "n.gain");
    vectors.put("n.gain", new double[] {1, 1});
    assertThat(plan(Goal.FOLD, false).edits).isEmpty();
    assertThat(plan(Goal.FOLD, false).norms.getFirst().fate()).isEqualTo(Fate.PLAIN);
  }

  @Test
  void aBiasWithoutAPlaceToGoKeepsTheWholeNorm() throws IOException {
    norm("n", NormSpec.LAYERNORM, FC, Q);
    assertKept(
        plan(Goal.FOLD, false), "q has no bias, which would take the norm's bias: it keeps both");
    vectors.put("n.bias", new double[2]);
    assertThat(plan(Goal.FOLD, false).edits).containsOnlyKeys("fc", "q", "n.gain");
  }

  @Test
  void aNormIsKeptForItsFamilysReason() throws IOException {
    NormSite n = norm("n", NormSpec.LLAMA);
    norms.set(0, kept(n, "its output is added to the residual stream"));
    assertKept(plan(Goal.FOLD, false), "its output is added to the residual stream");
  }

  private static NormSite kept(NormSite n, String reason) {
    return new NormSite(
        n.name(),
        n.layer(),
        n.spec(),
        n.width(),
        n.heads(),
        n.epsilonAssumed(),
        n.gain(),
        n.bias(),
        n.consumers(),
        Optional.of(reason),
        n.note(),
        n.beginnings());
  }

  @Test
  void quantisedMatricesKeepTheWholeNorm() throws IOException {
    norm("n", NormSpec.LLAMA, FC, Q);
    tensor("q", Dtype.U8, 2, 2);
    assertKept(
        plan(Goal.FOLD, false),
        "q u8 [2, 2], which would change, is of a type that is not rewritten");
  }

  @Test
  void aTensorOfTwoNormsKeepsBoth() throws IOException {
    norm("n", NormSpec.LLAMA, Q);
    norm("m", NormSpec.LLAMA, Q, FC);
    RewritingPlan plan = plan(Goal.FOLD, false);
    assertThat(plan.edits).isEmpty();
    assertThat(plan.norms.getFirst().reason()).isEqualTo("q is also used by m");
    assertThat(plan.norms.getLast().reason()).isEqualTo("q is also used by n");
  }

  @Test
  void numbersThatAreNotFiniteAreNotFolded() throws IOException {
    norm("n", NormSpec.LLAMA, Q);
    vectors.put("n.gain", new double[] {1, Double.NaN});
    assertThatThrownBy(() -> plan(Goal.FOLD, false))
        .isInstanceOf(RefusedException.class)
        .hasMessage("n.gain has numbers that are not finite");
  }

  @Test
  void aTiedHeadIsLeftAloneOrUntied() throws IOException {
    tensors.remove("head");
    head = TIED;
    norm("n", NormSpec.LLAMA, TIED);
    assertKept(
        plan(Goal.FOLD, false),
        Fate.TIED,
        "the head is also the token embedding (--untie gives it a matrix of its own)");
    RewritingPlan plan = plan(Goal.FOLD, true);
    assertThat(plan.edits)
        .isEqualTo(
            Map.of(
                "head", edit("embed", new Edit.ScaleInputs("n.gain", 0, false)),
                "n.gain", edit("n.gain", new Edit.Fill(1))));
    assertThat(plan.untied).isTrue();
    scale = 0.125;
    assertThat(plan(Goal.FOLD, true).edits.get("head"))
        .isEqualTo(edit("embed", new Edit.Scale(0.125), new Edit.ScaleInputs("n.gain", 0, false)));
  }

  /** Some files store a tied head a second time; that copy may be stale. */
  @Test
  void aStoredCopyOfATiedHeadIsReplaced() throws IOException {
    head = TIED;
    norm("n", NormSpec.LLAMA, TIED);
    RewritingPlan plan = plan(Goal.FOLD, true);
    assertThat(plan.edits.get("head").source()).isEqualTo("embed");
    assertThat(plan.untied).isTrue();
    tensor("head", Dtype.F32, 5, 2);
    assertThatThrownBy(() -> plan(Goal.FOLD, true))
        .isInstanceOf(RefusedException.class)
        .hasMessage(
            "the head cannot be untied: it has head f32 [5, 2], which is not as embed bf16 [5, 2] is");
  }

  @Test
  void anUntiedHeadThatIsNotNeededStaysTied() throws IOException {
    head = TIED;
    norm("n", NormSpec.LAYERNORM, TIED);
    assertKept(
        plan(Goal.FOLD, true),
        "embed has no bias, which would take the norm's bias: it keeps both");
  }

  @Test
  void aConversionCentresWhatIsAddedToTheStream() throws IOException {
    head = TIED;
    tensors.remove("head");
    norm("n", NormSpec.LAYERNORM, FC);
    norm("last", NormSpec.LAYERNORM, TIED);
    writers =
        List.of(
            new Projection("o", false, Optional.empty()),
            new Projection("down", true, Optional.of("down_bias")));
    assertThatThrownBy(() -> plan(Goal.CONVERT, false))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("--untie");
    RewritingPlan plan = plan(Goal.CONVERT, true);
    assertThat(plan.modelType).contains("rms-test");
    Map<String, Edit> expected = new HashMap<>(plan(Goal.FOLD, true).edits);
    expected.put("embed", edit("embed", new Edit.Center(true)));
    expected.put("o", edit("o", new Edit.Center(false)));
    expected.put("down", edit("down", new Edit.Center(true)));
    expected.put("down_bias", edit("down_bias", new Edit.Center(true)));
    expected.put("head", edit("embed"));
    assertThat(plan.edits).isEqualTo(expected);
    assertThat(plan.untied).isTrue();
    assertThat(plan.norms.getLast().fate()).as("its bias has nowhere to go").isEqualTo(Fate.KEPT);
  }

  private void assertNotConverted(String reason) {
    assertThatThrownBy(() -> plan(Goal.CONVERT, true))
        .isInstanceOf(RefusedException.class)
        .hasMessage(reason);
  }

  @Test
  void whatBreaksThePremiseIsNotConverted() {
    notConverted = Optional.of("its blocks normalise what they add");
    assertNotConverted("its blocks normalise what they add");
    notConverted = Optional.empty();
    NormSite n = norm("n", NormSpec.LAYERNORM, FC);
    norms.set(0, kept(n, "its output is added to the residual stream"));
    assertNotConverted("n: its output is added to the residual stream");
    norms.set(0, n);
    writers = List.of(FC);
    assertNotConverted("fc takes a norm's output and adds to the stream");
    norm("m", NormSpec.LLAMA, Q);
    assertNotConverted("m is RMSNorm already");
  }

  @Test
  void tensorsThatNoRuleTellsOfAreRefused() {
    unknown = List.of("router", "lora_A");
    tensor("router", Dtype.F32, 2, 2);
    tensor("lora_A", Dtype.F32, 2, 2);
    norm("n", NormSpec.LLAMA, Q);
    assertThatThrownBy(() -> plan(Goal.FOLD, false))
        .isInstanceOf(RefusedException.class)
        .hasMessage(
            "the rules of Test do not cover router (2 such tensors), and a norm's"
                + " output may go there");
    unknown = List.of("router");
    assertThatThrownBy(() -> plan(Goal.FOLD, false))
        .hasMessageContaining("do not cover router (the only such tensor), and");
  }
}
