package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Choices that a norm refuses, alone or together, and those at the edge that it takes. */
class RefusedNormsTest {
  private static final int WIDTH = 12;
  private static final double INFINITY = Double.POSITIVE_INFINITY;

  /** What is said of a gain or a bias of another length than a row and its groups of 4 have. */
  private static final String OF_GROUPS =
      " elements, the rows are 12 wide, their groups 4: it must be one row, with as many elements"
          + " as either";

  private final List<RefusedCall> refused = new ArrayList<>();

  private void add(String message, ThrowingCallable call) {
    refused.add(new RefusedCall(message, call));
  }

  private static RmsNorm.Builder rms() {
    return RmsNorm.builder(WIDTH);
  }

  private static RmsNorm.Builder ofGroups() {
    return rms().groupCount(3);
  }

  static List<RefusedCall> refused() {
    RefusedNormsTest all = new RefusedNormsTest();
    all.numbers();
    all.nulls();
    all.gainAndBias();
    all.groups();
    return all.refused;
  }

  @ParameterizedTest
  @MethodSource
  void refused(RefusedCall call) {
    call.check();
  }

  private void numbers() {
    add("width is 0, it must be at least 1", () -> RmsNorm.builder(0));
    add("width is -3, it must be at least 1", () -> LayerNorm.builder(-3));
    for (double epsilon :
        new double[] {-1e-6, -Double.MIN_VALUE, Double.NaN, INFINITY, -INFINITY}) {
      String message = "epsilon is " + epsilon + ", it must be finite and not negative";
      add(message, () -> RmsNorm.builder(4).epsilon(epsilon));
      add(message, () -> LayerNorm.builder(4).epsilon(epsilon));
    }
    for (int threads : new int[] {0, -1, Integer.MIN_VALUE}) {
      add("threads is " + threads + ", it must be at least 1", () -> rms().threads(threads));
    }
    for (double offset : new double[] {Double.NaN, INFINITY, -INFINITY}) {
      String message = "gain offset is " + offset + ", it must be finite";
      add(message, () -> RmsNorm.builder(4).gainOffset(offset));
      add(message, () -> LayerNorm.builder(4).gainOffset(offset));
    }
    for (int k : new int[] {0, -1, 13, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
      add("part is " + k + ", it must be between 1 and the width, 12", () -> rms().part(k));
    }
    for (double p : new double[] {0, -0.0, -0.5, 1.0000000000000002, Double.NaN, INFINITY}) {
      String message = "part is " + p + ", it must be above 0 and at most 1";
      add(message, () -> RmsNorm.builder(4).partial(p));
      add(message, () -> RmsNorm.builder(4).partialRoundedDown(p));
    }
    add(
        "part is 6/25 down, it must leave at least one of the 4 elements of a row",
        () -> RmsNorm.builder(4).partialRoundedDown(0.24));
  }

  private void nulls() {
    add("castOrder is null", () -> rms().castOrder(null));
    add("epsilonPlacement is null", () -> LayerNorm.builder(4).epsilonPlacement(null));
    add("residualRounding is null", () -> rms().residualRounding(null));
    add("quantizer is null", () -> rms().quantizer(null));
    add("spec is null", () -> RmsNorm.builder(null, 4));
    add("text is null", () -> NormSpec.parse(null));
    add("gain is null", () -> rms().gain((float[]) null));
    add("gain is null", () -> rms().gain((double[]) null));
    add("gain is null", () -> rms().gain((Rows) null));
    add("bias is null", () -> rms().bias((float[]) null));
    add("bias is null", () -> rms().bias((double[]) null));
    add("bias is null", () -> rms().bias((Rows) null));
  }

  private static Rows rows(int rows, int width) {
    return Rows.of(new float[rows * width], 0, rows, width);
  }

  private void gainAndBias() {
    for (int n : new int[] {0, 11, 13}) {
      String is = " has " + n + " elements, the rows are 12 wide";
      add("gain" + is, () -> rms().gain(new float[n]));
      add("gain" + is, () -> rms().gain(new double[n]));
      add("bias" + is, () -> rms().bias(new float[n]));
      add("bias" + is, () -> rms().bias(new double[n]));
    }
    add("gain has 11 elements, the rows are 12 wide", () -> rms().gain(rows(1, 11)));
    add("bias has 13 elements, the rows are 12 wide", () -> rms().bias(rows(1, 13)));
    add("gain has 2 rows, it must be one row", () -> rms().gain(rows(2, WIDTH)));
    add("bias has 0 rows, it must be one row", () -> rms().bias(rows(0, WIDTH)));
    for (CastOrder order : CastOrder.values()) {
      String message = "cast order is " + order + ", with a bias it must be FLOAT32";
      if (order != CastOrder.FLOAT32) {
        add(message, () -> rms().bias(new float[WIDTH]).castOrder(order).build());
        RmsNorm norm = rms().castOrder(order).build();
        add(message, () -> norm.withParameters(rows(1, WIDTH), rows(1, WIDTH)));
      }
    }
    String ofStored =
        "gain offset is 1.0, it must be 0 with cast order T5: that rounds to the type of the gain"
            + " as stored";
    add(ofStored, () -> RmsNorm.t5(4).gainOffset(1).build());
    add(ofStored, () -> RmsNorm.gemma(4).castOrder(CastOrder.T5).gain(new float[4]).build());
    add(
        "gate is silu before, a LayerNorm has only none, silu and sigmoid",
        () -> LayerNorm.builder(4).gate(Gate.SILU_BEFORE));
    add(
        "cast order is LLAMA, only an RMSNorm may have another than FLOAT32",
        () -> NormSpec.LAYERNORM.withCastOrder(CastOrder.LLAMA));
    add(
        "spec is layernorm, it must be of kind RMS_NORM",
        () -> RmsNorm.builder(NormSpec.LAYERNORM, 4));
    add("spec is llama, it must be of kind LAYER_NORM", () -> LayerNorm.builder(NormSpec.LLAMA, 4));
  }

  private void groups() {
    add("groupCount is 0, it must be at least 1", () -> rms().groupCount(0));
    add("groupSize is -1, it must be at least 1", () -> rms().groupSize(-1));
    add("groupCount is 5, it must divide the width, 12", () -> rms().groupCount(5));
    add("groupSize is 24, it must divide the width, 12", () -> rms().groupSize(24));
    NormSpec ofFive = NormSpec.parse("rmsnorm(groupsize=5)");
    add("groupSize is 5, it must divide the width, 12", () -> ofFive.builder(WIDTH));
    add("part is 1/3, with groups of a row it must be 1", () -> ofGroups().part(4));
    add("part is 1/3, with groups of a row it must be 1", () -> rms().part(4).groupCount(3));
    add(
        "count is 2 and size is 2, one must be at least 1 and the other 0",
        () -> new RowGroups(2, 2));
    add("gain has 6" + OF_GROUPS, () -> ofGroups().gain(new float[6]).build());
    add("bias has 3" + OF_GROUPS, () -> ofGroups().bias(new double[3]).build());
    add("gain has 5" + OF_GROUPS, () -> ofGroups().gain(new float[5]));
    add("bias has 24" + OF_GROUPS, () -> ofGroups().bias(rows(1, 24)));
    add(
        "bias has 4 elements, gain has 12: they must be the same",
        () -> ofGroups().gain(new float[WIDTH]).bias(new float[4]).build());
    add(
        "gain has 4 elements, the rows are 12 wide: for one of each head set groupSize(4)",
        () -> rms().gain(new float[4]).build());
    add("gain has 1 elements, the rows are 12 wide", () -> rms().gain(new float[1]).build());
  }

  @Test
  void numbersAtTheEdge() {
    for (double epsilon : new double[] {0.0, Double.MIN_VALUE, Double.MAX_VALUE}) {
      assertThat(rms().epsilon(epsilon).build().spec().epsilon()).hasValue(epsilon);
    }
    assertThat(rms().build().spec().epsilon()).hasValue(1e-6);
    assertThat(LayerNorm.builder(4).build().spec().epsilon()).hasValue(1e-5);
    assertThat(rms().threads(Integer.MAX_VALUE).build().width()).isEqualTo(WIDTH);
    assertThat(RmsNorm.t5(4).gainOffset(0).build().width()).isEqualTo(4);
  }

  /** Groups may be set after their gain, and are a count and a size. */
  @Test
  void groupsThatFit() {
    assertThat(ofGroups().gain(new float[4]).build().parameterCount()).isEqualTo(4);
    RmsNorm.Builder later = rms().gain(new float[4]).bias(new double[4]);
    assertThat(later.groupCount(3).build().parameterCount()).isEqualTo(8);
    assertThat(ofGroups().build().spec()).hasToString("rmsnorm(groupcount=3)");
    assertThat(rms().groupSize(4).build().groups).isEqualTo(3);
  }
}
