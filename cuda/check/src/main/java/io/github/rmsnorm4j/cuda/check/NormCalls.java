package io.github.rmsnorm4j.cuda.check;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.ElementType.FLOAT64;
import static io.github.rmsnorm4j.cuda.check.Trait.APART;
import static io.github.rmsnorm4j.cuda.check.Trait.BIAS;
import static io.github.rmsnorm4j.cuda.check.Trait.GAIN;
import static io.github.rmsnorm4j.cuda.check.Trait.GRADIENTS;
import static io.github.rmsnorm4j.cuda.check.Trait.IN_PLACE;
import static io.github.rmsnorm4j.cuda.check.Trait.KEPT;
import static io.github.rmsnorm4j.cuda.check.Trait.OF_CALL;
import static io.github.rmsnorm4j.cuda.check.Trait.OF_GROUP;
import static io.github.rmsnorm4j.cuda.check.Trait.OF_SAMPLES;
import static io.github.rmsnorm4j.cuda.check.Trait.OUT_OF_RANGE;
import static io.github.rmsnorm4j.cuda.check.Trait.PAIR;
import static io.github.rmsnorm4j.cuda.check.Trait.RESIDUAL;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.RowPart;
import java.util.ArrayList;
import java.util.List;

/** Calls that together need every kind of kernel. */
final class NormCalls {
  /** Rows that a warp does alone, and rows that a block of threads shares. */
  private static final int NARROW = 96;

  private static final int WIDE = 1100;

  /** One block of 1,024 elements, the widest row of a warp. */
  private static final int ONE_BLOCK = 1024;

  /** More than one super-block. */
  private static final int LONG = 66_000;

  /** Rows in three blocks of 32, whose sums are a tree; and in two. */
  private static final int MANY = 70;

  private static final int SOME = 33;

  private static final int FEW = 3;

  /** Rows of which some leave the range. */
  private static final int OF_ALL_SIZES = 8;

  private static final List<NormSpec> NORMS =
      List.of(NormSpec.RMSNORM, NormSpec.LAYERNORM, NormSpec.L2);

  private final List<NormCall> calls = new ArrayList<>();

  private NormCalls() {}

  /** All of them, each with a name of its own. */
  static List<NormCall> all() {
    NormCalls all = new NormCalls();
    for (ElementType type : ElementType.values()) {
      NORMS.forEach(spec -> all.norm(spec, type));
      all.choices(type);
      all.residuals(type);
      all.gates(type);
      all.groups(type);
      all.ofTheCall(type);
    }
    return List.copyOf(all.calls);
  }

  /** A gain, and a bias for the norms that usually have one. */
  private static NormCall call(NormSpec spec, ElementType type, int rows, int width) {
    NormCall call = NormCall.of(spec, type, rows, width, GAIN);
    return spec.isCentred() ? call.with(BIAS) : call;
  }

  private void norm(NormSpec spec, ElementType type) {
    for (int width : new int[] {1, NARROW, ONE_BLOCK, WIDE}) {
      calls.add(call(spec, type, FEW, width).with(KEPT));
      calls.add(NormCall.of(spec, type, FEW, width, APART));
    }
    calls.add(call(spec, type, 1, LONG));
    calls.add(call(spec, type, FEW, NARROW).with(IN_PLACE));
    for (ElementType y : ElementType.values()) {
      if (y != type) {
        calls.add(call(spec, type, FEW, NARROW).to(y));
      }
    }
    for (EpsilonPlacement placement : EpsilonPlacement.values()) {
      NormSpec placed = spec.withEpsilonPlacement(placement).withEpsilon(1e-4);
      calls.add(call(placed, type, FEW, NARROW));
      calls.add(call(placed, type, FEW, NARROW).from(Keep.INPUT));
    }
    for (int width : new int[] {NARROW, WIDE}) {
      NormSpec exact = spec.withEpsilon(0);
      calls.add(call(exact, type, OF_ALL_SIZES, width).with(OUT_OF_RANGE, KEPT));
      calls.add(call(exact, type, OF_ALL_SIZES, width).from(Keep.INPUT).with(OUT_OF_RANGE));
      for (Keep keep : Keep.values()) {
        calls.add(call(spec, type, FEW, width).from(keep).with(GRADIENTS));
        calls.add(call(spec, type, FEW, width).from(keep).with(APART));
      }
      int rows = width == NARROW ? MANY : SOME;
      calls.add(call(spec, type, rows, width).from(Keep.INPUT).with(GRADIENTS));
    }
  }

  /** What an RMSNorm alone may choose. */
  private void choices(ElementType type) {
    for (CastOrder order : CastOrder.values()) {
      NormSpec spec = NormSpec.RMSNORM.withCastOrder(order);
      calls.add(NormCall.of(spec, type, FEW, NARROW));
      calls.add(NormCall.of(spec, type, FEW, WIDE, GAIN, APART));
      calls.add(NormCall.of(spec.withEpsilon(0), type, OF_ALL_SIZES, NARROW, GAIN, OUT_OF_RANGE));
    }
    for (int width : new int[] {NARROW, WIDE}) {
      NormSpec partial = NormSpec.RMSNORM.withPart(RowPart.of(width / 3, width));
      calls.add(call(partial, type, FEW, width));
      calls.add(call(partial, type, FEW, width).from(Keep.INPUT).with(GRADIENTS));
    }
    NormSpec offset = NormSpec.GEMMA;
    calls.add(call(offset, type, FEW, NARROW));
    calls.add(call(offset.withCastOrder(CastOrder.NONE), type, FEW, NARROW));
    calls.add(call(offset, type, FEW, NARROW).from(Keep.INPUT).with(GRADIENTS));
  }

  private void residuals(ElementType type) {
    for (ResidualRounding rounding : ResidualRounding.values()) {
      for (ElementType residual : besides(type)) {
        NormSpec spec = NormSpec.RMSNORM.withResidualRounding(rounding);
        calls.add(call(spec, type, FEW, NARROW).beside(residual).with(RESIDUAL));
        calls.add(call(spec, type, FEW, WIDE).beside(residual).with(RESIDUAL, APART, KEPT));
      }
    }
    for (NormSpec spec : NORMS) {
      calls.add(call(spec, type, MANY, NARROW).from(Keep.INPUT).with(RESIDUAL, GRADIENTS));
      calls.add(call(spec, type, FEW, WIDE).from(Keep.OUTPUT).with(RESIDUAL));
    }
  }

  private void gates(ElementType type) {
    for (NormSpec norm : NORMS) {
      for (Gate gate : Gate.values()) {
        if (gate == Gate.NONE || norm.isCentred() && !gate.isAfter()) {
          continue;
        }
        NormSpec spec = norm.withGate(gate);
        for (ElementType z : besides(type)) {
          calls.add(call(spec, type, FEW, NARROW).beside(z));
        }
        calls.add(call(spec, type, FEW, WIDE).with(APART, KEPT));
        calls.add(call(spec, type, MANY, NARROW).from(Keep.INPUT).with(GRADIENTS));
        calls.add(call(spec, type, FEW, WIDE).from(Keep.NOTHING));
      }
    }
  }

  private void groups(ElementType type) {
    for (NormSpec norm : NORMS) {
      NormSpec spec = norm.withGroups(RowGroups.ofCount(3));
      for (int width : new int[] {3 * 32, 3 * WIDE}) {
        NormCall ofRow = call(spec, type, FEW, width);
        NormCall ofGroup = ofRow.with(OF_GROUP);
        calls.add(ofRow.with(KEPT));
        calls.add(ofGroup);
        calls.add(ofRow.from(Keep.INPUT).with(GRADIENTS));
        calls.add(ofGroup.from(Keep.INPUT).with(GRADIENTS));
      }
    }
  }

  /** Gains and biases that come with the call, also of samples; and two norms in one call. */
  private void ofTheCall(ElementType type) {
    for (NormSpec norm : NORMS) {
      for (ElementType gain : ElementType.values()) {
        calls.add(call(norm, type, FEW, NARROW).beside(gain).with(OF_CALL, KEPT));
        calls.add(call(norm, type, FEW, WIDE).beside(gain).from(Keep.INPUT).with(OF_SAMPLES));
      }
      NormCall ofSamples = call(norm, type, SOME, NARROW).with(OF_SAMPLES);
      calls.add(ofSamples.with(APART, KEPT));
      calls.add(ofSamples.from(Keep.INPUT).with(GRADIENTS));
      calls.add(ofSamples.with(norm.withGate(Gate.SILU)).with(KEPT));
      calls.add(call(norm, type, FEW, NARROW).with(RESIDUAL, PAIR));
      calls.add(call(norm, type, FEW, WIDE).with(RESIDUAL, PAIR, APART));
    }
  }

  /** Types that a residual or a gate may have beside rows of a type: the same, and another. */
  private static List<ElementType> besides(ElementType type) {
    return switch (type) {
      case FLOAT64 -> List.of(FLOAT64);
      case FLOAT32 -> List.of(FLOAT32, BFLOAT16);
      case FLOAT16 -> List.of(FLOAT16, FLOAT32);
      case BFLOAT16 -> List.of(BFLOAT16, FLOAT16);
    };
  }
}
