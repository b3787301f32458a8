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
import org.apache.spark.ml.param.DoubleParam;
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
        bad(Double.NaN, "gainOffset", "gainOffset is NaN, it must be finite"),
        bad(1 / 0.0, "gainOffset", "gainOffset is Infinity, it must be finite"),
        bad(-1e-6, "epsilon", "epsilon is -1.0E-6, it must be finite and not negative"),
        bad(Double.NaN, "epsilon", "epsilon is NaN, it must be finite and not negative"),
        bad(1 / 0.0, "epsilon", "epsilon is Infinity, it must be finite and not negative"),
        bad(
            "INSIDE",
            "epsilonPlacement",
            "epsilonPlacement is 'INSIDE', it may be inside, outside or floor"),
        bad("int8", "inputType", "inputType is 'int8', " + types),
        bad("", "outputType", "outputType is '', " + types),
        bad("drop", "handleInvalid", "handleInvalid is 'drop', it may be error, keep or skip"),
        bad(
            "bert",
            "preset",
            "preset is 'bert', it may be llama, gemma, t5, paper, pytorch or onnx"),
        bad("gemma", "castOrder", "castOrder is 'gemma', it may be float32, llama, t5 or onnx"),
        bad("f8", "gainType", "gainType is 'f8', " + types),
        bad(0.0, "partial", "partial is 0.0, it must be above 0 and at most 1"),
        bad(1.5, "partial", "partial is 1.5, it must be above 0 and at most 1"),
        bad(Double.NaN, "partial", "partial is NaN, it must be above 0 and at most 1"),
        bad("even", "partialRounding", "partialRounding is 'even', it may be up or down"));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("badValues")
  void aBadValueIsRefusedWhenItIsSet(String name, Object value, String message) {
    RmsNormalizer stage = new RmsNormalizer("stage");
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
    assertThat(Stream.of(new RmsNormalizer().params()).map(Param::name))
        .containsExactlyInAnyOrderElementsOf(tried);
  }

  private static Arguments together(String message, Consumer<RmsNormalizer> set) {
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
        together("partialRounding is down, it needs partial", s -> s.setPartialRounding("down")),
        together(
            "partial is 0.1, rounded down it must leave at least one of the 3 elements of a row",
            s -> s.setGain(three).setPartial(0.1).setPartialRounding("down")),
        together("gainOffset is 1.0, it needs gain, which it is added to", s -> s.setGainOffset(1)),
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
            "gainOffset is 1.0, with preset t5 it must be 0",
            s -> s.setPreset("t5").setGain(three).setGainOffset(1)),
        together(
            "gainOffset is 1.0, with castOrder t5 it must be 0",
            s -> s.setCastOrder("t5").setGain(three).setGainOffset(1)),
        together(
            "castOrder is t5, with preset gemma it needs gainOffset 0",
            s -> s.setPreset("gemma").setCastOrder("t5").setGain(three)),
        together(
            "preset is llama, with bias it may be gemma, paper or pytorch",
            s -> s.setPreset("llama").setBias(three)),
        together(
            "castOrder is onnx, with bias it may be float32",
            s -> s.setCastOrder("onnx").setBias(three)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badTogether")
  void paramsThatDoNotGoTogether(String message, Consumer<RmsNormalizer> set) {
    RmsNormalizer stage = new RmsNormalizer("stage").setInputCol("x");
    set.accept(stage);
    assertThatThrownBy(() -> stage.transformSchema(SCHEMA))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("stage: " + message);
  }

  @Test
  void paramsThatGoTogetherAfterAll() {
    double[] three = {1, 2, 3};
    List<RmsNormalizer> stages =
        List.of(
            new RmsNormalizer().setPreset("t5").setGain(three).setGainOffset(0),
            new RmsNormalizer().setPreset("gemma").setCastOrder("t5"),
            new RmsNormalizer()
                .setPreset("gemma")
                .setCastOrder("t5")
                .setGain(three)
                .setGainOffset(0),
            new RmsNormalizer().setPreset("llama").setCastOrder("float32").setBias(three),
            new RmsNormalizer()
                .setGain(new double[] {Double.NaN, -0.0, 0x1p-149})
                .setGainType("f32"));
    for (RmsNormalizer stage : stages) {
      assertThat(stage.setInputCol("x").transformSchema(SCHEMA).size()).isEqualTo(2);
    }
  }

  @Test
  void everyParamIsExplainedAndReadBack() {
    RmsNormalizer stage = new RmsNormalizer();
    for (Param<?> param : stage.params()) {
      assertThat(param.doc()).as(param.name()).isNotBlank();
    }
    assertThat(stage.explainParams()).contains("epsilonPlacement: where epsilon goes");
    assertThat(stage.getHandleInvalid()).isEqualTo("error");
    assertThatThrownBy(stage::getEpsilon).isInstanceOf(NoSuchElementException.class);
    assertThat(stage.setEpsilon(1e-5).getEpsilon()).isEqualTo(1e-5);
    assertThat(stage.setWidth(8).getWidth()).isEqualTo(8);
    assertThat(stage.setPartial(0.5).getPartial()).isEqualTo(0.5);
    assertThat(stage.setPreset("t5").getPreset()).isEqualTo("t5");
    assertThat(stage.setGain(new double[] {1}).getGain()).containsExactly(1);
    assertThat(new LayerNormalizer().params()).hasSize(11);
  }

  @Test
  void aCopyIsAnotherStageOfTheSameName() {
    RmsNormalizer stage = new RmsNormalizer("stage").setInputCol("x").setEpsilon(1e-5);
    RmsNormalizer copy = stage.copy(new ParamMap().put(stage.epsilon().w(0.5)));
    assertThat(copy.uid()).isEqualTo("stage");
    assertThat(copy.getEpsilon()).isEqualTo(0.5);
    assertThat(copy.getInputCol()).isEqualTo("x");
    assertThat(stage.getEpsilon()).isEqualTo(1e-5);
    assertThat(new LayerNormalizer("layer").copy(ParamMap.empty()).uid()).isEqualTo("layer");
  }

  @Test
  void whatBecomesOfTheCallersArrayLaterDoesNotMatter() {
    double[] gain = {1, 2, 3};
    RmsNormalizer stage = new RmsNormalizer().setGain(gain).setBias(gain);
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
    RmsNormalizer stage = new RmsNormalizer("stage");
    stage.set(((DoubleArrayParam) (Param<?>) stage.getParam("gain")).w(List.of(1.0, 2.0)));
    stage.set(((IntParam) stage.getParam("width")).w(2));
    stage.set(((DoubleParam) stage.getParam("epsilon")).w(0.25));
    stage.set(stage.getParam("preset").w("llama"));
    stage.setDefault(
        CollectionConverters.<ParamPair<?>>asScala(
                List.of(stage.getParam("outputCol").w("from Python")))
            .toSeq());
    assertThat(stage.getGain()).containsExactly(1, 2);
    assertThat(stage.getWidth()).isEqualTo(2);
    assertThat(stage.getEpsilon()).isEqualTo(0.25);
    assertThat(stage.getPreset()).isEqualTo("llama");
    assertThat(stage.getOutputCol()).isEqualTo("from Python");
    assertThatThrownBy(
            () -> ((DoubleArrayParam) (Param<?>) stage.getParam("gain")).w(List.<Double>of()))
        .hasMessageStartingWith("stage: gain is empty");
  }
}
