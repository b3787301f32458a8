package io.github.rmsnorm4j.internal.lowering.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Frame;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** There is no machine code of a stage that needs more than a kernel has. */
class RefusedStageTest {
  private static final Value X = Value.element(Forward.X, ElementType.FLOAT32);

  @ParameterizedTest
  @ValueSource(ints = {256, 512})
  void tooManyNumbersOfRows(int bits) {
    requireRefused(storing(numbersOfRows(Frame.MAX_TABLES + 1)), bits, "9 per-row scalars");
    List<Stage> most = List.of(storing(numbersOfRows(Frame.MAX_TABLES)));
    for (int width : new int[] {0, 64}) {
      Target target = MachineKernel.target(most, bits, width, false);
      assertThat(MachineCode.of(target).bytes()).isNotEmpty();
    }
  }

  private static Value numbersOfRows(int n) {
    Value sum = X;
    for (int place = 0; place < n; place++) {
      Tensor number = new Tensor("number" + place, Tensor.Access.ROW, place);
      sum = sum.times(Value.row(number).rounded());
    }
    return sum;
  }

  /** A power of x for each register, all of which are needed when the last one is known. */
  @ParameterizedTest
  @ValueSource(ints = {256, 512})
  void tooManyVectorRegisters(int bits) {
    int count = bits / 16;
    requireRefused(storing(power(X, count)), bits, "more than " + count + " vector registers");
  }

  private static Value power(Value power, int left) {
    return left == 0 ? power : power.minus(power(power.times(X), left - 1));
  }

  private static Stage storing(Value value) {
    return new Stage.Builder().store(Forward.Y, ElementType.FLOAT32, value).build();
  }

  private static void requireRefused(Stage stage, int bits, String why) {
    List<Stage> stages = List.of(stage);
    for (int width : new int[] {0, 64}) {
      Target target = MachineKernel.target(stages, bits, width, false);
      assertThatThrownBy(() -> MachineCode.of(target)).hasMessageContaining(why);
      assertThat(MachineKernel.of(stages, bits, width, false)).isNull();
    }
  }
}
