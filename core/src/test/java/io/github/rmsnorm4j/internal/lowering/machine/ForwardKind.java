package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.internal.backend.PlainBackEnd;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.ForwardFormula;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** What a forward kernel is for. */
record ForwardKind(
    int bits,
    boolean centred,
    ElementType x,
    ElementType y,
    EpsilonPlacement placement,
    CastOrder order,
    boolean adds,
    Gate gate,
    boolean bfloat16,
    boolean streams) {
  static final List<ElementType> TYPES =
      List.of(ElementType.FLOAT32, ElementType.BFLOAT16, ElementType.FLOAT16);

  private static final List<CastOrder> ORDERS =
      List.of(
          CastOrder.FLOAT32,
          CastOrder.LLAMA,
          CastOrder.ONNX,
          CastOrder.GAIN_FIRST,
          CastOrder.ROUNDED_ROOT,
          CastOrder.NONE,
          CastOrder.NONE_DIVIDED);

  /** Some of all kinds. */
  static List<ForwardKind> drawn(int bits, SplittableRandom random) {
    List<ForwardKind> kinds = new ArrayList<>();
    for (int choice = 0; choice < 32; choice++) {
      ElementType x = TYPES.get(choice % 3);
      ElementType y = TYPES.get(choice / 3 % 3);
      boolean bfloat16 = bits == 512 && (choice & 16) != 0;
      boolean streams = random.nextInt(4) == 0;
      EpsilonPlacement[] placements = EpsilonPlacement.values();
      EpsilonPlacement placement = placements[random.nextInt(placements.length)];
      boolean centred = (choice & 1) != 0;
      CastOrder order = ORDERS.get(centred ? 0 : random.nextInt(ORDERS.size()));
      boolean adds = (choice & 8) != 0;
      Gate gate = gate(centred, adds, random);
      kinds.add(
          new ForwardKind(bits, centred, x, y, placement, order, adds, gate, bfloat16, streams));
      if (choice % 4 == random.nextInt(4)) {
        ElementType float64 = ElementType.FLOAT64;
        kinds.add(
            new ForwardKind(
                bits, centred, float64, float64, placement, order, adds, gate, bfloat16, streams));
      }
    }
    return kinds;
  }

  /** None with a residual, and none before a LayerNorm. */
  private static Gate gate(boolean centred, boolean adds, SplittableRandom random) {
    Gate gate = adds ? Gate.NONE : Gate.values()[random.nextInt(Gate.values().length)];
    return centred && gate == Gate.SILU_BEFORE ? Gate.SILU : gate;
  }

  private boolean isFloat64() {
    return x == ElementType.FLOAT64;
  }

  /** The compute type, which columns are in. */
  ElementType columnType() {
    return isFloat64() ? x : ElementType.FLOAT32;
  }

  /** The choices that a formula depends on in every pass. */
  static NormSpec spec(boolean centred, EpsilonPlacement placement) {
    NormSpec usual = centred ? NormSpec.LAYERNORM : NormSpec.RMSNORM;
    return usual.withEpsilonPlacement(placement);
  }

  /** Other orders of casts are not for a bias. */
  boolean biased() {
    return order == CastOrder.FLOAT32;
  }

  /** Its formula: of rows up to a super-block, or of longer ones, which are summed unstored. */
  Forward forward(boolean isLong) {
    Map<Tensor, ElementType> types = new TreeMap<>(Map.of(Forward.X, x, Forward.Y, y));
    if (adds) {
      types.put(Forward.RESIDUAL, x);
    }
    if (gate != Gate.NONE) {
      types.put(Forward.Z, x);
    }
    if (gate == Gate.SILU_BEFORE && !isLong) {
      types.put(Forward.GATED, columnType());
    }
    NormSpec spec = spec(centred, placement).withCastOrder(order).withGate(gate);
    boolean casts = order != CastOrder.FLOAT32 && order != CastOrder.GAIN_FIRST;
    ElementType cast = !casts || x.bytes() > Short.BYTES ? null : x;
    return new Forward(
        new Storage(isFloat64(), PlainBackEnd.NARROW, types),
        new ForwardFormula(spec, cast, true, biased()),
        adds && !isLong);
  }

  /** The kernel of a whole norm. */
  Target target(int width) {
    Forward forward = forward(false);
    List<Stage> stages = new ArrayList<>();
    if (gate == Gate.SILU_BEFORE) {
      stages.add(forward.gated());
    }
    stages.addAll(List.of(forward.statistic(), forward.roots(), forward.output()));
    return target(stages, width);
  }

  /**
   * Bytes that an output is off from where it is aligned: no, one or two elements, if its kernel
   * allows.
   */
  int shift(Target target, int width) {
    return target.peels() ? (width + 1) % 3 * y.bytes() : 0;
  }

  /** The kernel of one stage for a piece of a long row. */
  Target target(Stage stage) {
    return target(List.of(stage), 0);
  }

  private Target target(List<Stage> stages, int width) {
    Target target = MachineKernel.target(stages, bits, width, streams);
    int prefetched = !streams ? 0 : bits == 512 ? Short.BYTES : Long.BYTES;
    return new Target(
        stages, bits, target.width(), target.group(), bfloat16, streams, prefetched, false);
  }
}
