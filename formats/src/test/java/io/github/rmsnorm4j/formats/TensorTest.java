package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.testing.GgufBytes;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class TensorTest {
  private static final Tensor TENSOR = new Tensor("t", Dtype.F32, List.of(2L, 5L, 8L));

  @ParameterizedTest
  @CsvSource({"-1,10,8", "2,10,8", "-2,2,40", "1,2,40", "-3,1,80", "0,1,80"})
  void isRowsSeenFromAnAxis(int axis, long rows, long width) {
    assertThat(TENSOR.rows(axis)).isEqualTo(rows);
    assertThat(TENSOR.width(axis)).isEqualTo(width);
    assertThat(TENSOR.elements()).isEqualTo(80);
    assertThat(TENSOR.bytes()).isEqualTo(320);
  }

  @Test
  void refusesAnAxisItDoesNotHave() {
    for (int axis : new int[] {3, -4, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      assertThatThrownBy(() -> TENSOR.width(axis))
          .hasMessage("axis is " + axis + ", the shape [2, 5, 8] allows -3 to 2");
    }
    assertThatThrownBy(() -> new Tensor("s", Dtype.F32, List.of()).rows(-1))
        .hasMessage("axis is -1, but the tensor is a scalar and has none");
  }

  @Test
  void refusesShapesItCannotHave() {
    assertThatThrownBy(() -> new Tensor("t", Dtype.F32, List.of(-1L)))
        .hasMessage("has a negative length in its shape [-1]");
    assertThatThrownBy(() -> new Tensor("t", Dtype.F32, Collections.nCopies(65, 1L)))
        .hasMessage("has 65 axes, at most 64 are supported");
    assertThatThrownBy(() -> new Tensor("t", Dtype.F16, List.of(1L << 61)).as(Dtype.F64))
        .hasMessage("has the shape [2305843009213693952], whose size in bytes overflows 64 bits");
  }

  @Test
  void itsShapeIsACopy() {
    List<Long> shape = new ArrayList<>(List.of(3L));
    Tensor tensor = new Tensor("t", Dtype.F32, shape);
    shape.set(0, 4L);
    assertThat(tensor.elements()).isEqualTo(3);
  }

  @Test
  void packedElementsAreCountedInBits() {
    assertThat(new Tensor("t", Dtype.F4, List.of(1L << 60)).bytes()).isEqualTo(1L << 59);
    assertThat(new Tensor("t", Dtype.F6_E2M3, List.of(4L)).bytes()).isEqualTo(3);
    assertThat(new Tensor("t", Dtype.F4, List.of(0L)).bytes()).isZero();
    assertThatThrownBy(() -> new Tensor("t", Dtype.F6_E2M3, List.of(2L)))
        .hasMessage("has 2 elements of 6 bits: no whole bytes");
  }

  @Test
  void elementsAreDecodedExactly() {
    double[] into = {9, 9, 9};
    Dtype.F32.decode(MemorySegment.ofArray(GgufBytes.floats(0.1f, -2, 3)), into, 2);
    assertThat(into).containsExactly(0.1f, -2, 9);
    Dtype.F16.decode(MemorySegment.ofArray(GgufBytes.halves(0.5f, 6)), into, 1);
    assertThat(into).containsExactly(0.5, -2, 9);
    Dtype.BF16.decode(MemorySegment.ofArray(GgufBytes.bfloats(-8, 9)), into, 1);
    assertThat(into).containsExactly(-8, -2, 9);
    byte[] wide = GgufBytes.int64(Double.doubleToLongBits(0.1));
    Dtype.F64.decode(MemorySegment.ofArray(wide), into, 1);
    assertThat(into).containsExactly(0.1, -2, 9);
    assertThatThrownBy(() -> Dtype.I64.decode(MemorySegment.ofArray(wide), into, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("I64 is not read as numbers");
  }

  @ParameterizedTest
  @EnumSource
  void everyElementTypeHasAStoredForm(ElementType type) {
    assertThat(Dtype.of(type).elementType()).contains(type);
    assertThat(Dtype.of(type).bits()).isEqualTo(8 * type.bytes());
    assertThat(Dtype.of(type).name()).isEqualToIgnoringCase(type.shortName());
  }
}
