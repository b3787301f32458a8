package io.github.rmsnorm4j;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/**
 * A norm, rows and what else a call of some kind needs, so that it can be called again and again.
 */
final class PreparedCall {
  /** Elements of chance; beyond them rows are the same again. */
  private static final int DRAWN = 1 << 13;

  final CallKind kind;
  private final Arena arena;
  private final SplittableRandom random;
  private final Norm norm;
  private final Rows gain;
  private final Rows bias;
  private final Rows in;
  private final Rows out;
  private final Rows beside;

  /** Where the gradient of a gate goes. */
  private final Rows dz;

  private final Saved saved;
  private final ParameterGradients gradients;

  /** What was in the input, where the output goes there: or it would not stay what it is. */
  private final MemorySegment before;

  PreparedCall(CallKind kind, Backend backend, Arena arena, SplittableRandom random) {
    this.kind = kind;
    this.arena = arena;
    this.random = random;
    boolean given = kind.gain() == CallKind.Gain.GIVEN;
    Rows gain = kind.gain() == CallKind.Gain.NONE ? null : parameter(1);
    Rows bias = kind.bias() ? parameter(0) : null;
    norm = norm(backend, given ? null : gain, given ? null : bias);
    this.gain = given ? gain : null;
    this.bias = given ? bias : null;
    Block from = block(kind.from(), kind.in());
    in = from.rows;
    out = (kind.overwrites() ? from.as(kind.out()) : block(kind.to(), kind.out())).rows;
    beside =
        kind.beside().isEmpty() ? null : block(kind.besideIn().get(), kind.beside().get()).rows;
    boolean gated = kind.pass().isBackward() && kind.pass().gate() != Gate.NONE;
    dz = gated ? block(kind.to(), kind.out()).rows : null;
    before = kind.overwrites() ? copy(in.segment()) : null;
    saved = kind.pass().isBackward() ? kept() : new Saved(Keep.NOTHING, kind.rows());
    gradients = gradients();
  }

  private Norm norm(Backend backend, Rows gain, Rows bias) {
    int width = kind.width();
    NormBuilder<?> builder =
        switch (kind.formula()) {
          case LAYER -> LayerNorm.builder(width);
          case LENGTH -> Norm.l2(width);
          case RMS, PARTIAL, GROUPS -> RmsNorm.builder(width);
        };
    builder.backend(backend).threads(kind.threads());
    builder.epsilonPlacement(kind.placement()).residualRounding(kind.rounding());
    builder.gate(kind.pass().gate());
    if (kind.safe()) {
      builder.safe();
    }
    if (kind.formula() == CallKind.Formula.GROUPS) {
      builder.groupCount(kind.groups());
    }
    if (gain != null) {
      builder.gain(gain);
    }
    if (bias != null) {
      builder.bias(bias);
    }
    double share = kind.formula() == CallKind.Formula.PARTIAL ? 0.0625 : 1;
    return switch (builder) {
      case LayerNorm.Builder layer -> layer.build();
      case L2Norm.Builder length -> length.build();
      case RmsNorm.Builder rms -> rms.partial(share).castOrder(kind.order()).build();
    };
  }

  /** Of the type that T5 rounds for, otherwise that of the rows; around a mean. */
  private Rows parameter(double mean) {
    ElementType type = kind.order() == CastOrder.T5 ? ElementType.BFLOAT16 : kind.in();
    int width = kind.width();
    Block block = new Block(arena, kind.from(), type, 1, width, width);
    block.put(0, new RandomRows(random).scaled(type, width, 0.1, mean));
    return block.rows;
  }

  private Block block(Place place, ElementType type) {
    int width = kind.width();
    int rows = kind.rows();
    Block block = new Block(arena, place, type, rows, width, width);
    int drawn = Math.min(rows, DRAWN / width + 1);
    for (int r = 0; r < drawn; r++) {
      block.put(r, new RandomRows(random).scaled(type, width, 1, 0));
    }
    MemorySegment all = block.rows.segment();
    long bytes = all.byteSize();
    for (long done = bytes / rows * drawn; done < bytes; done += done) {
      MemorySegment.copy(all, 0, all, done, Math.min(done, bytes - done));
    }
    return block;
  }

  private MemorySegment copy(MemorySegment from) {
    return arena.allocate(from.byteSize(), Long.BYTES).copyFrom(from);
  }

  /** The forward pass, from and to memory and types of what is kept. */
  private Saved kept() {
    Keep keep =
        switch (kind.pass()) {
          case FROM_OUTPUT -> Keep.OUTPUT;
          case FROM_INPUT_ALONE -> Keep.NOTHING;
          default -> Keep.INPUT;
        };
    boolean third = kind.pass() != CallKind.Pass.WITH_DRESIDUAL;
    Place place = third ? kind.besideIn().get() : kind.from();
    Block x = block(place, third ? kind.beside().get() : kind.in());
    Block y = block(place, x.rows.type());
    Saved saved = new Saved(keep, kind.rows());
    if (kind.pass().gate() != Gate.NONE) {
      norm.applyGated(x.rows, block(place, x.rows.type()).rows, y.rows, saved);
    } else {
      norm.withParameters(gain, bias).apply(x.rows, y.rows, saved);
    }
    return saved;
  }

  private ParameterGradients gradients() {
    int width = kind.width();
    if (kind.sums().isEmpty()) {
      return null;
    }
    if (kind.sums().get() == ElementType.FLOAT64) {
      return ParameterGradients.added(new double[width], kind.bias() ? new double[width] : null);
    }
    return ParameterGradients.assigned(new float[width], kind.bias() ? new float[width] : null);
  }

  /** By the door that takes what this kind of call has. */
  void run() {
    if (before != null) {
      in.segment().copyFrom(before);
    }
    switch (kind.pass()) {
      case FORWARD -> forward();
      case ADDED -> {
        if (gain == null) {
          norm.addAndApply(in, beside, out);
        } else {
          norm.withParameters(gain, bias).addAndApply(in, beside, out, saved);
        }
      }
      case FROM_INPUT, FROM_INPUT_ALONE, FROM_OUTPUT -> norm.backward(in, saved, out, gradients);
      case GATED, GATED_BEFORE -> norm.applyGated(in, beside, out);
      case FROM_GATED, FROM_GATED_BEFORE -> norm.backwardGated(in, saved, out, dz, gradients);
      case WITH_DRESIDUAL -> norm.backward(in, saved, beside, out, gradients);
    }
  }

  private void forward() {
    if (gain == null) {
      norm.apply(in, out);
    } else if (bias == null) {
      norm.withParameters(gain, null).apply(in, out);
    } else {
      norm.withParameters(gain, bias).apply(in, out);
    }
  }
}
