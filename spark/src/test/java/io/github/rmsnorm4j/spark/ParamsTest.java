package io.github.rmsnorm4j.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.spark.ml.param.DoubleArrayParam;
import org.apache.spark.ml.param.IntParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.param.ParamPair;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import scala.jdk.javaapi.CollectionConverters;

/** What params may be, each by itself and together. */
class ParamsTest {
  private static final StructType SCHEMA =
      new StructType().add("x", DataTypes.createArrayType(DataTypes.FloatType));

  private static Arguments bad(Object value, String param, String message) {
    return Arguments.of(param, value, message);
  }

  static Stream<Arguments> badValues() {
    String types = "it may be float16, bfloat16, float32 or float64 (f16, ...)";
    return Stream.of(
        bad("", "inputCol", "inputCol is '', it must name a column"),
        bad(null, "inputCol", "inputCol is null, it must name a column"),
        bad("", "outputCol", "outputCol is '', it must name a column"),
        bad(0, "width", "width is 0, it must be at least 1"),
        bad(-3, "width", "width is -3, it must be at least 1"),
        bad(new double[0], "gain", "gain is empty, it must have as many elements as a row"),
        bad(null, "gain", "gain is null, it must have as many elements as a row"),
        bad(new double[0], "bias", "bias is empty, it must have as many elements as a row"),
        bad("int8", "inputType", "inputType is 'int8', " + types),
        bad("", "outputType", "outputType is '', " + types),
        bad("drop", "handleInvalid", "handleInvalid is 'drop', it may be error, keep or skip"),
        bad("f8", "gainType", "gainType is 'f8', " + types),
        bad(
            "batch",
            "norm",
            "norm is 'batch', it may be rmsnorm, layernorm, llama, gemma, t5, paper, pytorch, onnx,"
                + " l2, unit, or a model_type of docs/choose.md; settings may follow: llama(eps=1e-5)"),
        bad(
            "llama(gate=silu)",
            "norm",
            "norm is 'llama(gate=silu)', it must have no gate: a column has no second row"),
        bad(
            "llama(eps=-1)",
            "norm",
            "norm is 'llama(eps=-1)', eps may be a finite number of 0 or more, or type; inside,"
                + " outside or floor may follow"),
        bad(
            "t5(offset=1)",
            "norm",
            "norm is 't5(offset=1)', gain offset is 1.0, it must be 0 with cast order T5: that"
                + " rounds to the type of the gain as stored"));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("badValues")
  void aBadValueIsRefusedWhenItIsSet(String name, Object value, String message) {
    RowNormalizer stage = new RowNormalizer("stage");
    Param<Object> param = stage.getParam(name);
    assertThatThrownBy(() -> stage.set(param, value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("stage: " + message);
    assertThat(stage.isSet(param)).isFalse();
  }

  @Test
  void everyParamHasABadValueAbove() {
    Set<String> tried = new HashSet<>();
    badValues().forEach(arguments -> tried.add((String) arguments.get()[0]));
    assertThat(Stream.of(new RowNormalizer().params()).map(Param::name))
        .containsExactlyInAnyOrderElementsOf(tried);
  }

  private static Arguments together(String message, Consumer<RowNormalizer> set) {
    return Arguments.of(message, set);
  }

  static Stream<Arguments> badTogether() {
    double[] three = {1, 2, 3};
    return Stream.of(
        together("gain has 3 elements, the rows are 4 wide", s -> s.setWidth(4).setGain(three)),
        together("bias has 3 elements, the rows are 4 wide", s -> s.setWidth(4).setBias(three)),
        together(
            "bias has 3 elements, the rows are 1 wide",
            s -> s.setGain(new double[1]).setBias(three)),
        together(
            "part is 1/10 down, it must leave at least one of the 3 elements of a row",
            s -> s.setGain(three).setNorm("rmsnorm(part=0.1 down)")),
        together("gainType is float16, it needs gain", s -> s.setGainType("half")),
        together(
            "gain[1] is 0.1, no number of gainType bfloat16",
            s -> s.setGain(new double[] {0.5, 0.1}).setGainType("bf16")),
        together(
            "gain[0] is 1.0E300, no number of gainType float32",
            s -> s.setGain(new double[] {1e300}).setGainType("f32")),
        together(
            "gain[0] is 70000.0, no number of gainType float16",
            s -> s.setGain(new double[] {70000}).setGainType("f16")),
        together(
            "cast order is LLAMA, with a bias it must be FLOAT32",
            s -> s.setNorm("llama").setBias(three)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badTogether")
  void paramsThatDoNotGoTogether(String message, Consumer<RowNormalizer> set) {
    RowNormalizer stage = new RowNormalizer("stage").setInputCol("x");
    set.accept(stage);
    assertThatThrownBy(() -> stage.transformSchema(SCHEMA))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("stage: " + message);
  }

  @Test
  void paramsThatGoTogetherAfterAll() {
    double[] three = {1, 2, 3};
    List<RowNormalizer> stages =
        List.of(
            new RowNormalizer().setNorm("t5").setGain(three).setGainType("bf16"),
            new RowNormalizer().setNorm("gemma"),
            new RowNormalizer().setNorm("layernorm").setGain(three).setGainType("f16"),
            new RowNormalizer().setNorm("llama(cast=float32)").setBias(three),
            new RowNormalizer()
                .setGain(new double[] {Double.NaN, -0.0, 0x1p-149})
                .setGainType("f32"));
    for (RowNormalizer stage : stages) {
      assertThat(stage.setInputCol("x").transformSchema(SCHEMA).size()).isEqualTo(2);
    }
  }

  @Test
  void everyParamIsExplainedAndReadBack() {
    RowNormalizer stage = new RowNormalizer();
    for (Param<?> param : stage.params()) {
      assertThat(param.doc()).as(param.name()).isNotBlank();
    }
    assertThat(stage.explainParams()).contains("norm: the norm: rmsnorm, ", "(default: rmsnorm)");
    assertThat(stage.getHandleInvalid()).isEqualTo("error");
    assertThat(stage.getNorm()).isEqualTo("rmsnorm");
    assertThatThrownBy(stage::getWidth).isInstanceOf(NoSuchElementException.class);
    assertThatThrownBy(stage::getGain).isInstanceOf(NoSuchElementException.class);
    assertThat(stage.setWidth(8).getWidth()).isEqualTo(8);
    assertThat(stage.setNorm(" llama ( eps=1e-5 ) ").getNorm()).isEqualTo(" llama ( eps=1e-5 ) ");
    assertThat(stage.setGain(new double[] {1}).getGain()).containsExactly(1);
  }

  @Test
  void aCopyIsAnotherStageOfTheSameName() {
    RowNormalizer stage = new RowNormalizer("stage").setInputCol("x").setNorm("llama");
    RowNormalizer copy = stage.copy(new ParamMap().put(stage.norm().w("gemma")));
    assertThat(copy.uid()).isEqualTo("stage");
    assertThat(copy.getNorm()).isEqualTo("gemma");
    assertThat(copy.getInputCol()).isEqualTo("x");
    assertThat(stage.getNorm()).isEqualTo("llama");
  }

  @Test
  void whatBecomesOfTheCallersArrayLaterDoesNotMatter() {
    double[] gain = {1, 2, 3};
    RowNormalizer stage = new RowNormalizer().setGain(gain).setBias(gain);
    gain[0] = 7;
    assertThat(stage.getGain()).containsExactly(1, 2, 3);
    NormSettings settings = stage.settings();
    stage.getGain()[1] = 7;
    stage.getBias()[1] = 7;
    assertThat(settings.gain()).containsExactly(1, 2, 3);
    assertThat(settings.bias()).containsExactly(1, 2, 3);
  }

  /** PySpark's wrapper asks for a param by name, for a pair with a value, and sets the pair. */
  @Test
  void valuesAsPythonGivesThem() {
    RowNormalizer stage = new RowNormalizer("stage");
    stage.set(((DoubleArrayParam) (Param<?>) stage.getParam("gain")).w(List.of(1.0, 2.0)));
    stage.set(((IntParam) stage.getParam("width")).w(2));
    stage.set(stage.getParam("norm").w("llama"));
    stage.setDefault(
        CollectionConverters.<ParamPair<?>>asScala(
                List.of(stage.getParam("outputCol").w("from Python")))
            .toSeq());
    assertThat(stage.getGain()).containsExactly(1, 2);
    assertThat(stage.getWidth()).isEqualTo(2);
    assertThat(stage.getNorm()).isEqualTo("llama");
    assertThat(stage.getOutputCol()).isEqualTo("from Python");
    assertThatThrownBy(
            () -> ((DoubleArrayParam) (Param<?>) stage.getParam("gain")).w(List.<Double>of()))
        .hasMessageStartingWith("stage: gain is empty");
  }
}
