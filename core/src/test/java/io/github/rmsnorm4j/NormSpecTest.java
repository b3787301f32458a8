package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A norm's choices as a value and as text. */
class NormSpecTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "rmsnorm",
        "layernorm",
        "llama",
        "gemma(eps=1e-5)",
        "rmsnorm(eps=1e-8 outside, part=1/16)",
        "rmsnorm(eps=0)",
        "rmsnorm(eps=type floor)",
        "llama(eps=1.1920928955078125e-7, offset=1)",
        "gemma(eps=0.25, part=0.0000123 down, residual=between)",
        "rmsnorm(offset=-12.5, part=1/3)",
        "onnx(eps=1e-6, residual=last)",
        "layernorm(eps=1e-12, offset=1)",
        "rmsnorm(groupcount=8)",
        "layernorm(eps=0.001, groupsize=128)",
        "llama(residual=last, groupsize=64)",
        "rmsnorm(eps=0.001, offset=1000000)",
        "rmsnorm(eps=1e-4, offset=1e7)",
        "rmsnorm(part=1/65536)",
        "rmsnorm(part=0.0000152587890624)",
        "rmsnorm(eps=4.9e-324)",
        "rmsnorm(eps=1.7976931348623157e308)",
        "llama(gate=silu)",
        "llama(gate=sigmoid)",
        "llama(gate=silu before)"
      })
  void textsAreReadAndWritten(String text) {
    assertThat(NormSpec.parse(text)).hasToString(text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "' llama ( part = 2/32 , eps = 1E-05 ) ' | llama(eps=1e-5, part=1/16)",
        "rmsnorm(part=0.0625)                    | rmsnorm(part=1/16)",
        "rmsnorm(part=.5 down)                   | rmsnorm(part=1/2 down)",
        "rmsnorm(part=1 down)                    | rmsnorm",
        "rmsnorm(cast=llama)                     | llama",
        "llama(cast=float32, offset=1)           | gemma",
        "paper(eps=1e-5)                         | rmsnorm(eps=1e-5 outside)",
        "paper(eps=1e-6 inside)                  | rmsnorm",
        "rmsnorm(eps=type)                       | pytorch",
        "rmsnorm(groupcount=1)                   | rmsnorm",
        "gemma3                                  | gemma",
        "gemma3(eps=1e-5, offset=0)              | rmsnorm(eps=1e-5)",
        "gpt_oss                                 | rmsnorm(eps=1e-5)",
        "glm4moe                                 | llama(eps=1e-5)",
        "rmsnorm(eps=-0.0, offset=-0.0)          | rmsnorm(eps=0)"
      })
  void otherTextsOfTheSameChoices(String text, String written) {
    assertThat(NormSpec.parse(text)).hasToString(written).isEqualTo(NormSpec.parse(written));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "lama | it may be rmsnorm, layernorm, llama, gemma, t5, paper, pytorch, onnx, l2, unit, or a model_type of docs/choose.md",
        "llama(eps=1e-5 | a ) must close the settings: llama(eps=1e-5)",
        "LayerNorm | did you mean layernorm? it may be rmsnorm, layernorm, llama",
        "Llama(eps=1) | did you mean llama? it may be rmsnorm, layernorm, llama",
        "Gemma3 | did you mean gemma3? it may be rmsnorm, layernorm, llama",
        "qwen3-next | did you mean qwen3_next or qwen3next? it may be rmsnorm, layernorm, llama",
        "rmsnom | did you mean rmsnorm? it may be rmsnorm, layernorm, llama",
        "glm | did you mean glm4? it may be rmsnorm, layernorm, llama",
        "kimi_linear | such a model has several: llama; rmsnorm(gate=sigmoid) for self_attn.o_norm",
        "llama-3.1 | did you mean llama? it may be rmsnorm, layernorm, llama",
        "Gemmax | did you mean gemma? it may be rmsnorm, layernorm, llama",
        "batch | it may be rmsnorm, layernorm, llama",
        "llama() | a setting is NAME=VALUE, NAME may be eps, cast, offset, part, residual, gate, groupcount",
        "llama(bias=1) | a setting is NAME=VALUE, NAME may be eps",
        "llama(eps) | a setting is NAME=VALUE, NAME may be eps",
        "llama(eps=1, eps=1) | eps is set twice",
        "llama(eps=-1) | eps may be a finite number of 0 or more, or type; inside, outside or floor",
        "llama(eps=1e400) | eps may be a finite number of 0 or more",
        "llama(eps=1e-5f) | eps may be a finite number of 0 or more",
        "llama(eps=0x1p-20) | eps may be a finite number of 0 or more",
        "llama(eps=NaN) | eps may be a finite number of 0 or more",
        "llama(eps=1 under) | eps may be a finite number of 0 or more",
        "llama(cast=bfloat16) | cast may be float32, llama, t5, onnx",
        "l2(cast=llama) | cast may be float32, llama, t5, onnx, divided, gain-first, rounded-root, none, none-divided;",
        "rmsnorm(offset=Infinity) | offset may be a finite number",
        "rmsnorm(part=0) | part may be a share above 0 and at most 1",
        "rmsnorm(part=17/16) | part may be a share above 0 and at most 1",
        "rmsnorm(part=1/0) | part may be a share above 0 and at most 1",
        "rmsnorm(part=1e-999999999) | part may be a share above 0 and at most 1",
        "rmsnorm(part=1/2 up) | part may be a share above 0 and at most 1",
        "layernorm(part=1/2) | part may be a share above 0 and at most 1",
        "l2(part=1/2) | part may be a share above 0 and at most 1",
        "rmsnorm(residual=never) | residual may be first, between, last",
        "rmsnorm(gate=gelu) | gate may be none, silu, sigmoid, silu before; not silu before for layernorm",
        "layernorm(gate=silu before) | gate may be none, silu, sigmoid, silu before; not silu before for",
        "rmsnorm(groupcount=0) | groupcount may be a whole number from 1 on",
        "rmsnorm(groupsize=2.5) | groupsize may be a whole number from 1 on",
        "rmsnorm(groupsize=9999999999) | groupsize may be a whole number from 1 on",
        "rmsnorm(groupcount=2, groupsize=8) | groupsize may be a whole number from 1 on, without",
        "rmsnorm(part=1/2, groupsize=8) | groupsize may be a whole number from 1 on, without",
        "rmsnorm(groupsize=8, part=1/2) | part may be a share above 0",
        "t5(offset=1) | gain offset is 1.0, it must be 0 with cast order T5"
      })
  void wrongTextsSayWhatIsAllowed(String text, String said) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> NormSpec.parse(text))
        .withMessageStartingWith("norm is '" + text + "', " + said)
        .withMessageNotContaining("\n");
  }

  @Test
  void errorsAreOneLine() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> NormSpec.parse("llama(\n\u001b\u2028=1)"))
        .withMessageStartingWith("norm is 'llama(???=1)', it may be rmsnorm");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RowPart.of(Double.MIN_VALUE).down().elements(3))
        .satisfies(e -> assertThat(e.getMessage().length()).isLessThan(250));
  }

  @Test
  void sharesThatNoTextHasAreRefused() {
    BigInteger large = BigInteger.TEN.pow(20).multiply(BigInteger.valueOf(3));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RowPart(BigInteger.ONE, large, false))
        .withMessageContaining("it must be at most 10^18");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RowPart(BigInteger.ONE, BigInteger.TWO.pow(2000), false))
        .withMessage("denominator has 2001 bits, it must be at most 10^340");
    RowPart smallest = new RowPart(BigInteger.ONE, BigInteger.TEN.pow(340), false);
    assertThat(RowPart.parse(smallest.toString())).isEqualTo(smallest);
    for (RowPart part :
        new RowPart[] {
          RowPart.of(1, 999_999_999_999_999_989L), RowPart.of(Double.MIN_VALUE),
        }) {
      assertThat(RowPart.parse(part.toString())).isEqualTo(part);
    }
  }

  @Test
  void longTextsAreCutInErrors() {
    for (String text : new String[] {"x".repeat(1 << 20), "llama(" + ",".repeat(1 << 20) + ")"}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> NormSpec.parse(text))
          .satisfies(e -> assertThat(e.getMessage().length()).isLessThan(250));
    }
  }

  /** What the builder was told is what the norm says, and what its text says. */
  @Test
  void drawnNormsGiveTheirSpecBack() {
    SplittableRandom random = new SplittableRandom(24);
    for (int i = 0; i < 2_000; i++) {
      int width = random.nextInt(1, 5_000);
      Variant drawn = Variant.any(random, width, random.nextDouble() * 1e-4);
      NormSpec spec = drawn.norm(ignored -> {}).spec();
      assertThat(spec.kind() == NormSpec.Kind.LAYER_NORM).isEqualTo(drawn.centred());
      assertThat(spec.epsilon()).hasValue(drawn.epsilon());
      assertThat(spec.epsilonPlacement()).isEqualTo(drawn.placement());
      assertThat(spec.castOrder()).isEqualTo(drawn.order());
      assertThat(spec.gainOffset()).isEqualTo(drawn.gainOffset());
      assertThat(spec.part().elements(width)).isEqualTo(drawn.part());
      assertThat(spec.residualRounding()).isEqualTo(drawn.rounding());
      assertThat(NormSpec.parse(spec.toString())).isEqualTo(spec);
      assertThat(spec.builder(width).build().spec()).isEqualTo(spec);
    }
  }

  /** By its type a choice is replaced. */
  @Test
  void everyChoiceHasATypeOfItsOwn() {
    assertThat(NormSpec.class.getRecordComponents())
        .extracting(RecordComponent::getType)
        .doesNotHaveDuplicates();
  }

  @Test
  void everyShareIsReadAndWritten() {
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 2_000; i++) {
      double share = Math.min(1, Math.scalb(1 - random.nextDouble(), -random.nextInt(40)));
      RowPart part = i % 2 == 0 ? RowPart.of(share) : RowPart.of(share).down();
      assertThat(RowPart.parse(part.toString())).isEqualTo(part);
    }
  }

  @Test
  void epsilonByTheTypeOfTheRows() {
    Norm norm = NormSpec.PYTORCH.builder(1).build();
    assertThat(norm.spec().epsilon()).isEqualTo(OptionalDouble.empty());
    double[] rstd = new double[1];
    ((RmsNorm) norm).apply(Rows.of(new double[1], 1), Rows.of(new double[1], 1), rstd);
    assertThat(rstd[0]).isEqualTo(0x1p26);
    ((RmsNorm) norm).apply(Rows.of(new float[1], 1), Rows.of(new float[1], 1), rstd);
    assertThat(rstd[0]).isEqualTo((float) (1 / Math.sqrt(0x1p-23)));
  }

  /** All that differ from the default RMSNorm, and epsilon in any case. */
  private static String settings(NormSpec spec) {
    return NormText.settings(spec, NormSpec.RMSNORM.withEpsilon(1));
  }

  /** The list of docs/variants.md is this one. */
  @Test
  void listOfPresets() throws IOException {
    String list =
        NormSpec.presets().stream()
            .map(
                preset ->
                    "* `%s` (%s): %s\n"
                        .formatted(preset.name(), settings(preset.spec()), preset.source()))
            .collect(Collectors.joining());
    Path page = Path.of("..", "docs", "variants.md");
    assertThat(Files.readString(page)).contains("\n\n" + list + "\n");
    assertThat(NormSpec.presets())
        .allSatisfy(preset -> assertThat(preset.spec()).hasToString(preset.name()));
  }

  @Test
  void presetsAreTheConstants() throws IllegalAccessException {
    for (var field : NormSpec.class.getFields()) {
      NormSpec constant = (NormSpec) field.get(null);
      assertThat(constant.toString()).isEqualToIgnoringCase(field.getName());
    }
    assertThat(Arrays.stream(NormSpec.class.getFields())).hasSize(NormSpec.presets().size());
  }
}
