package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.internal.backend.PlainBackEnd;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.List;
import java.util.Map;

/** Descriptions with more tensors of elements than bases that come in registers. */
enum ManyTensors {
  /** {@code y = norm(x) * z}: few tensors, of which one has a late place. */
  GATED {
    @Override
    List<Stage> stages(ElementType type) {
      Forward forward = forward(type);
      Stage.Builder output = new Stage.Builder();
      store(output, Forward.Y, type, element(Z, type).times(normalised(type)));
      return List.of(forward.statistic(), forward.roots(), output.build());
    }
  },

  /** The gradients of x, z and gain, with a gradient that is added to that of x. */
  GATED_BACKWARD {
    @Override
    List<Stage> stages(ElementType type) {
      Forward forward = forward(type);
      Value dy = element(Backward.DY, type);
      Value xh = element(Forward.X, type).times(rstd(type));
      Value h = dy.times(element(Z, type)).times(gain(type));
      Stage sums = new Stage.Builder().sum(Backward.H_XH, h.times(xh).widened()).build();
      Value mean = Value.row(Backward.H_XH).over(Value.call(Forward.K));
      Stage means = new Stage.Builder().keep(Backward.M, mean).build();
      Value m = number(Backward.M, type);
      Value dx = h.minus(xh.times(m)).times(rstd(type)).plus(element(Forward.RESIDUAL, type));
      Stage.Builder output = new Stage.Builder();
      store(output, Backward.DX, type, dx);
      store(output, DZ, type, dy.times(normalised(type)));
      output.sum(Backward.GAIN_GRADIENT, dy.times(element(Z, type)).times(xh));
      return List.of(forward.statistic(), forward.roots(), sums, means, output.build());
    }
  },

  /** One stage with seven tensors of elements and four columns. */
  STAGE {
    @Override
    List<Stage> stages(ElementType type) {
      Value bias = Value.column(Forward.BIAS, type == ElementType.FLOAT64);
      Value x = element(Forward.X, type).plus(element(Forward.RESIDUAL, type).times(bias));
      Value all = x.minus(element(Z, type)).times(gain(type)).plus(element(Backward.DY, type));
      Stage.Builder output = new Stage.Builder();
      store(output, Forward.Y, type, x);
      store(output, Backward.DX, type, all.times(all));
      store(output, DZ, type, all.minus(element(Z, type).times(x)));
      output.sum(Backward.GAIN_GRADIENT, all).sum(Backward.BIAS_GRADIENT, x);
      return List.of(output.build());
    }
  },

  /** Row sums of eight tensors, of which bfloat16 is read as even and odd elements. */
  SUMS {
    @Override
    List<Stage> stages(ElementType type) {
      Value sum = element(Forward.X, type);
      for (int place = 1; place < Tensor.Access.ELEMENT.places(); place++) {
        sum = sum.plus(element(rows("t" + place, place), type));
      }
      Value first = element(Forward.X, type).widened();
      Value last = element(rows("t7", 7), type).widened();
      return List.of(
          new Stage.Builder()
              .keep(Forward.SHIFT, sum.first().widened())
              .sum(Forward.SUM, sum.widened().minus(Value.row(Forward.SHIFT)))
              .sum(Forward.SQUARES, first.times(last))
              .build());
    }
  };

  static final Tensor Z = rows("z", 5);
  static final Tensor DZ = rows("dz", 6);

  abstract List<Stage> stages(ElementType type);

  private static Tensor rows(String name, int place) {
    return new Tensor(name, Tensor.Access.ELEMENT, place);
  }

  private static Storage storage(ElementType type) {
    return new Storage(type == ElementType.FLOAT64, PlainBackEnd.NARROW, Map.of(Forward.X, type));
  }

  private static Forward forward(ElementType type) {
    return Forward.ofKept(storage(type), NormSpec.RMSNORM);
  }

  private static Value element(Tensor rows, ElementType type) {
    return Value.element(rows, type);
  }

  private static Value gain(ElementType type) {
    return Value.column(Forward.GAIN, type == ElementType.FLOAT64);
  }

  private static Value number(Tensor number, ElementType type) {
    return type == ElementType.FLOAT64 ? Value.row(number) : Value.row(number).rounded();
  }

  private static Value rstd(ElementType type) {
    return number(Forward.RSTD, type);
  }

  private static Value normalised(ElementType type) {
    return element(Forward.X, type).times(rstd(type)).times(gain(type));
  }

  private static void store(Stage.Builder stage, Tensor rows, ElementType type, Value value) {
    stage.store(rows, type, type == ElementType.FLOAT16 ? value.oneNan() : value);
  }
}
