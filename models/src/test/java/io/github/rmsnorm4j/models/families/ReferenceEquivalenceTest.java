package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Two families whose formulas meet in a special case have the same logits there. */
class ReferenceEquivalenceTest {
  private static final int[] IDS = Logits.IDS;

  @Test
  void phi3IsLlamaWithItsMatricesOneAboveTheOther() {
    TinyModel llama = Layouts.ALL.get("llama").model(StoredType.F64, 3);
    TinyModel phi3 = llama.with("model_type", "phi3").with("partial_rotary_factor", 1.0);
    for (int layer = 0; layer < 3; layer++) {
      String at = "model.layers." + layer + ".";
      phi3 = stacked(phi3, at + "self_attn.qkv_proj", at + "self_attn.", "q_proj k_proj v_proj");
      phi3 = stacked(phi3, at + "mlp.gate_up_proj", at + "mlp.", "gate_proj up_proj");
    }
    assertSame(ReferenceForward.logits(llama, IDS), ReferenceForward.logits(phi3, IDS));
  }

  private static TinyModel stacked(TinyModel model, String name, String at, String parts) {
    Values all = null;
    for (String part : parts.split(" ")) {
      Values values = model.get(at + part + ".weight");
      all = all == null ? values : below(all, values);
      model = model.without(at + part + ".weight");
    }
    return model.with(name + ".weight", all);
  }

  private static Values below(Values a, Values b) {
    double[] elements = Arrays.copyOf(a.elements(), a.elements().length + b.elements().length);
    System.arraycopy(b.elements(), 0, elements, a.elements().length, b.elements().length);
    return new Values(a.type(), List.of(a.rows() + b.rows(), a.columns()), elements);
  }

  /** Gemma's MLP alone differs, by its activation; and its embedding is scaled. */
  @Test
  void gemmaWithoutMlpIsLlama() {
    TinyModel gemma = scaled(Layouts.ALL.get("gemma").model(StoredType.F64, 4), ".*down_proj.*", 0);
    TinyModel llama =
        gemma
            .with("model_type", "llama")
            .with("tie_word_embeddings", false)
            .with("lm_head.weight", gemma.get("model.embed_tokens.weight"));
    llama = shifted(scaled(llama, "model.embed_tokens.*", Math.sqrt(24)), ".*norm.weight", 1);
    assertSame(ReferenceForward.logits(gemma, IDS), ReferenceForward.logits(llama, IDS));
  }

  /** Where scores are 0, caps of scores, norms of heads and rotations do nothing. */
  @Test
  void gemma2WithoutQueriesAndKeysIsGemma3() {
    TinyModel gemma3 = Layouts.ALL.get("gemma3").model(StoredType.F64, 5);
    gemma3 = scaled(gemma3, ".*(q|k)_proj.*", 0);
    TinyModel gemma2 =
        gemma3
            .with("model_type", "gemma2")
            .with("attn_logit_softcapping", 5.0)
            .with("final_logit_softcapping", 1e9);
    assertThat(
            Logits.distance(
                ReferenceForward.logits(gemma3, IDS), ReferenceForward.logits(gemma2, IDS)))
        .isLessThan(1e-10);
  }

  @Test
  void parallelAndSequentialMeetWhereAttentionIsZero() {
    TinyModel parallel =
        scaled(Layouts.ALL.get("gpt_neox").model(StoredType.F64, 6), ".*attention.dense.*", 0);
    TinyModel sequential = parallel.with("use_parallel_residual", false);
    assertSame(ReferenceForward.logits(parallel, IDS), ReferenceForward.logits(sequential, IDS));
    TinyModel whole = Layouts.ALL.get("gpt_neox").model(StoredType.F64, 6);
    assertThat(
            Logits.distance(
                ReferenceForward.logits(whole, IDS),
                ReferenceForward.logits(whole.with("use_parallel_residual", false), IDS)))
        .isGreaterThan(1e-3);
  }

  /** Attention alone: Conv1D is transposed, positions begin at 2, one bias is cut in three. */
  @Test
  void gpt2WithoutMlpIsOpt() {
    TinyModel gpt2 =
        scaled(Layouts.ALL.get("gpt2").model(StoredType.F64, 7), ".*mlp.c_proj.*", 0)
            .with("layer_norm_epsilon", 1e-5);
    TinyModel opt = scaled(Layouts.ALL.get("opt").model(StoredType.F64, 8), ".*fc2.*", 0);
    opt = copied(opt, "model.decoder.embed_tokens.weight", gpt2.get("wte.weight"));
    Values positions = opt.get("model.decoder.embed_positions.weight");
    double[] shifted = positions.elements().clone();
    System.arraycopy(gpt2.get("wpe.weight").elements(), 0, shifted, 48, shifted.length - 48);
    opt = opt.with("model.decoder.embed_positions.weight", positions.with(shifted));
    for (String part : new String[] {"weight", "bias"}) {
      opt = copied(opt, "model.decoder.final_layer_norm." + part, gpt2.get("ln_f." + part));
      for (int layer = 0; layer < 3; layer++) {
        String at = "model.decoder.layers." + layer + ".";
        Values norm = gpt2.get("h." + layer + ".ln_1." + part);
        opt = copied(opt, at + "self_attn_layer_norm." + part, norm);
        Values all = gpt2.get("h." + layer + ".attn.c_attn." + part);
        for (int i = 0; i < 3; i++) {
          String name = at + "self_attn." + "qkv".charAt(i) + "_proj." + part;
          opt = copied(opt, name, transposed(all, 24 * i, 24));
        }
        Values out = gpt2.get("h." + layer + ".attn.c_proj." + part);
        opt = copied(opt, at + "self_attn.out_proj." + part, transposed(out, 0, 24));
      }
    }
    assertSame(ReferenceForward.logits(gpt2, IDS), ReferenceForward.logits(opt, IDS));
  }

  /** Columns of a matrix as rows; a part of a vector. */
  private static Values transposed(Values values, int from, int count) {
    if (values.shape().size() == 1) {
      double[] part = Arrays.copyOfRange(values.elements(), from, from + count);
      return new Values(values.type(), List.of(count), part);
    }
    double[] elements = new double[count * values.rows()];
    for (int i = 0; i < elements.length; i++) {
      elements[i] = values.at(i % values.rows(), from + i / values.rows());
    }
    return new Values(values.type(), List.of(count, values.rows()), elements);
  }

  /** T5's decoder without the encoder and without biases of distances is OPT with RMSNorm. */
  @Test
  void t5WithoutEncoderIsOptWithRmsNorm() {
    TinyModel t5 = Layouts.ALL.get("t5").model(StoredType.F64, 9);
    t5 = scaled(scaled(t5, ".*EncDecAttention.o.*", 0), ".*relative_attention_bias.*", 0);
    TinyModel opt =
        new TinyModel(
            Map.of(
                "model_type",
                "rmsnorm4j-opt",
                "do_layer_norm_before",
                true,
                "num_hidden_layers",
                3,
                "num_attention_heads",
                3,
                "tie_word_embeddings",
                false),
            Map.of());
    String to = "model.decoder.";
    opt = opt.with(to + "embed_tokens.weight", t5.get("shared.weight"));
    Values none = new Values(StoredType.F64, List.of(40, 24), new double[960]);
    opt = opt.with(to + "embed_positions.weight", none);
    for (int layer = 0; layer < 3; layer++) {
      String from = "decoder.block." + layer + ".layer.";
      String at = to + "layers." + layer + ".";
      for (String pair :
          """
          self_attn_layer_norm 0.layer_norm
          self_attn.q_proj 0.SelfAttention.q
          self_attn.k_proj 0.SelfAttention.k
          self_attn.v_proj 0.SelfAttention.v
          self_attn.out_proj 0.SelfAttention.o
          final_layer_norm 2.layer_norm
          fc1 2.DenseReluDense.wi
          fc2 2.DenseReluDense.wo
          """
              .split("\n")) {
        String[] names = pair.split(" ");
        opt = opt.with(at + names[0] + ".weight", t5.get(from + names[1] + ".weight"));
      }
    }
    opt = opt.with(to + "final_layer_norm.weight", t5.get("decoder.final_layer_norm.weight"));
    // OPT divides scores by the root of a head's width, 24 / 3 as it is asked for here.
    opt = scaled(opt, ".*q_proj.*", Math.sqrt(24 / 3));
    opt = opt.with("lm_head.weight", t5.get("shared.weight"));
    opt = scaled(opt, "lm_head.*", 1 / Math.sqrt(24));
    assertThat(
            Logits.distance(
                ReferenceForward.anyLogits(t5.with("layer_norm_epsilon", 1e-5), IDS),
                ReferenceForward.logits(opt, IDS)))
        .isLessThan(1e-12);
  }

  private static TinyModel copied(TinyModel model, String name, Values values) {
    assertThat(model.get(name).shape()).isEqualTo(values.shape());
    return model.with(name, values);
  }

  private static TinyModel scaled(TinyModel model, String pattern, double factor) {
    return changed(model, pattern, factor, 0);
  }

  private static TinyModel shifted(TinyModel model, String pattern, double offset) {
    return changed(model, pattern, 1, offset);
  }

  private static TinyModel changed(TinyModel model, String pattern, double factor, double offset) {
    TinyModel changed = model;
    for (Map.Entry<String, Values> tensor : model.tensors().entrySet()) {
      if (tensor.getKey().matches(pattern)) {
        double[] elements = tensor.getValue().elements();
        double[] others = Arrays.stream(elements).map(v -> v * factor + offset).toArray();
        changed = changed.with(tensor.getKey(), tensor.getValue().with(others));
      }
    }
    return changed;
  }

  private static void assertSame(double[][] a, double[][] b) {
    assertThat(Logits.distance(a, b)).isLessThan(1e-12);
  }
}
