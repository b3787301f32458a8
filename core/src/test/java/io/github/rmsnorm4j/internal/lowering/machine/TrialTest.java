package io.github.rmsnorm4j.internal.lowering.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.internal.backend.PlainBackEnd;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.ForwardFormula;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A kernel is tried before it is used: one with plain Java's bits passes, any other does not. */
class TrialTest {
  /** Otherwise each choice has a third of the widths. */
  private static final boolean ALL_DRAWS = Boolean.getBoolean("tests.all");

  private static final int[] WIDTHS = {0, 32, 64, 160, 256, 2048};

  @BeforeEach
  void needsMachineCode() {
    assumeThat(Machine.here().bits()).as(Machine.here().whyNot()).isPositive();
  }

  private static Storage storage(ElementType x, ElementType y) {
    Map<Tensor, ElementType> types = Map.of(Forward.X, x, Forward.Y, y);
    return new Storage(x == ElementType.FLOAT64, PlainBackEnd.NARROW, types);
  }

  private static Storage adding(ElementType x, ElementType y) {
    Map<Tensor, ElementType> types = Map.of(Forward.X, x, Forward.RESIDUAL, x, Forward.Y, y);
    return new Storage(x == ElementType.FLOAT64, PlainBackEnd.NARROW, types);
  }

  static List<Stage> stages(
      boolean centred, ElementType x, ElementType y, boolean adds, boolean gain, boolean bias) {
    NormSpec spec = ForwardKind.spec(centred, EpsilonPlacement.INSIDE);
    Forward forward =
        new Forward(
            adds ? adding(x, y) : storage(x, y), new ForwardFormula(spec, null, gain, bias), adds);
    return List.of(forward.statistic(), forward.roots(), forward.output());
  }

  @ParameterizedTest
  @ValueSource(ints = {256, 512})
  void everyKernelPasses(int bits) {
    assumeThat(bits).isLessThanOrEqualTo(Machine.here().bits());
    for (ElementType x : ForwardKind.TYPES) {
      for (ElementType y : ForwardKind.TYPES) {
        requirePasses(bits, x, y);
      }
    }
    requirePasses(bits, ElementType.FLOAT64, ElementType.FLOAT64);
  }

  private static void requirePasses(int bits, ElementType x, ElementType y) {
    for (int choice = 0; choice < 16; choice++) {
      boolean centred = (choice & 1) != 0;
      boolean adds = (choice & 2) != 0;
      boolean streams = (choice & 8) != 0;
      List<Stage> stages = stages(centred, x, y, adds, (choice & 4) != 0, centred);
      for (int w = 0; w < WIDTHS.length; w++) {
        int width = WIDTHS[w];
        if (!ALL_DRAWS && (w + choice + x.ordinal() + y.ordinal()) % 3 != 0) {
          continue;
        }
        assertThat(MachineKernel.of(stages, bits, width, streams))
            .as("%s to %s, choice %d, width %d, %d bits", x, y, choice, width, bits)
            .isNotNull();
      }
    }
  }

  /** Cast orders have a range of their own: the rows of the trial are in it. */
  @ParameterizedTest
  @EnumSource(CastOrder.class)
  void everyCastOrderPasses(CastOrder order) {
    for (EpsilonPlacement place : EpsilonPlacement.values()) {
      for (ElementType type : ForwardKind.TYPES) {
        NormSpec spec = NormSpec.RMSNORM.withCastOrder(order).withEpsilonPlacement(place);
        ForwardFormula formula = ForwardFormula.of(spec, type, type, false);
        Forward forward = new Forward(storage(type, type), formula, false);
        List<Stage> stages = List.of(forward.statistic(), forward.roots(), forward.output());
        assertThat(MachineKernel.of(stages, Machine.here().bits(), 0, false))
            .as("%s, epsilon %s, %s", order, place, type)
            .isNotNull();
      }
    }
  }

  /** A kernel that is right, for something else. */
  @ParameterizedTest
  @ValueSource(ints = {0, 64})
  void anotherKernelDoesNot(int width) {
    int bits = Machine.here().bits();
    ElementType type = ElementType.FLOAT32;
    List<Stage> wanted = stages(false, type, type, false, true, false);
    Target target = MachineKernel.target(wanted, bits, width, false);
    assertThat(Trial.passes(target, MachineKernel.of(wanted, bits, width, false))).isTrue();
    for (List<Stage> other :
        List.of(
            stages(false, type, type, false, false, false),
            stages(true, type, type, false, true, false),
            stages(false, ElementType.BFLOAT16, type, false, true, false))) {
      MachineKernel kernel = MachineKernel.of(other, bits, width, false);
      assertThat(Trial.passes(target, kernel)).as(other.toString()).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {256, 512})
  void everyBackwardKernelPasses(int bits) {
    assumeThat(bits).isLessThanOrEqualTo(Machine.here().bits());
    for (BackwardKind kind : BackwardKind.ofPairs(bits)) {
      for (int width : WIDTHS) {
        assertThat(MachineKernel.of(kind.stages(), bits, width, kind.streams()))
            .as("%s, width %d, %d bits", kind, width, bits)
            .isNotNull();
      }
    }
  }

  /** Of rows longer than a super-block. */
  @ParameterizedTest
  @ValueSource(ints = {256, 512})
  void everyKernelOfOneStagePasses(int bits) {
    assumeThat(bits).isLessThanOrEqualTo(Machine.here().bits());
    for (ForwardKind kind : ForwardKind.drawn(bits, new SplittableRandom(41))) {
      Forward forward = kind.forward(true);
      List<Stage> stages =
          kind.centred()
              ? List.of(forward.shift(), forward.pieceStatistic(), forward.output())
              : List.of(forward.pieceStatistic(), forward.output());
      for (Stage stage : stages) {
        boolean streams = kind.streams() && !stage.written().isEmpty();
        assertThat(MachineKernel.of(List.of(stage), bits, 0, streams))
            .as("%s of %s, %d bits", stage, kind, bits)
            .isNotNull();
      }
    }
  }

  private static BackwardKind backward(Keep keep, boolean centred, EpsilonPlacement placement) {
    ElementType type = ElementType.FLOAT32;
    return new BackwardKind(
        keep,
        centred,
        placement,
        type,
        type,
        type,
        null,
        Backward.DX,
        true,
        false,
        true,
        true,
        false,
        false,
        false);
  }

  /** The last stage with sums for the gain's gradient that are those of the bias's. */
  private static List<Stage> withWrongSums(List<Stage> stages) {
    List<Stage> wrong = new ArrayList<>(stages);
    Stage output = wrong.removeLast();
    Value slope = output.columnSums().getLast().value();
    Stage.Builder builder = new Stage.Builder();
    for (Stage.Statement statement : output.statements()) {
      boolean ofGain =
          statement instanceof Stage.ColumnSum sum && sum.column().equals(Backward.GAIN_GRADIENT);
      builder.add(ofGain ? new Stage.ColumnSum(Backward.GAIN_GRADIENT, slope) : statement);
    }
    wrong.add(builder.build());
    return wrong;
  }

  @ParameterizedTest
  @CsvSource({
    "INPUT, 0",
    "INPUT, 64",
    "INPUT, 2048",
    "NOTHING, 0",
    "NOTHING, 64",
    "NOTHING, 2048",
    "OUTPUT, 0",
    "OUTPUT, 64",
    "OUTPUT, 2048"
  })
  void anotherBackwardKernelDoesNot(Keep keep, int width) {
    int bits = Machine.here().bits();
    EpsilonPlacement floor = EpsilonPlacement.FLOOR;
    BackwardKind kind = backward(keep, false, floor);
    Target target = MachineKernel.target(kind.stages(), bits, width, false);
    assertThat(Trial.passes(target, MachineKernel.of(kind.stages(), bits, width, false))).isTrue();
    for (List<Stage> other :
        List.of(
            kind.stages(false),
            withWrongSums(kind.stages()),
            backward(keep, true, floor).stages(),
            backward(keep, false, EpsilonPlacement.INSIDE).stages(),
            backward(keep, false, EpsilonPlacement.OUTSIDE).stages())) {
      MachineKernel kernel = MachineKernel.of(other, bits, width, false);
      assertThat(Trial.passes(target, kernel)).as(other.toString()).isFalse();
    }
  }

  /** Row sums and what is kept of a row are compared as well as what is stored. */
  @Test
  void anotherKernelOfOneStageDoesNot() {
    int bits = Machine.here().bits();
    Forward wanted = ofKept(ElementType.FLOAT32);
    Forward other = ofKept(ElementType.BFLOAT16);
    requireCaught(wanted.shift(), other.shift(), bits);
    requireCaught(wanted.pieceStatistic(), other.pieceStatistic(), bits);
  }

  private static Forward ofKept(ElementType x) {
    return Forward.ofKept(storage(x, x), NormSpec.LAYERNORM);
  }

  private static void requireCaught(Stage wanted, Stage other, int bits) {
    Target target = MachineKernel.target(List.of(wanted), bits, 0, false);
    MachineKernel kernel = MachineKernel.of(List.of(other), bits, 0, false);
    assertThat(Trial.passes(target, kernel)).as(wanted.toString()).isFalse();
  }
}
