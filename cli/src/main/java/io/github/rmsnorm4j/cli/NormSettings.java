package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RmsNorm;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * What the options say of the norm; each but the kind may be null, which leaves it to the preset,
 * and without one to the library.
 *
 * @param kind which of the two
 * @param like whose RMSNorm
 * @param castOrder where rows of 16 bits are rounded
 * @param gain the gain
 * @param gainOffset what is added to the gain
 * @param bias the bias
 * @param epsilon what keeps the root from 0
 * @param epsilonPlace where it is
 * @param partial the part of a row that the mean square is of
 * @param partRounded how that part becomes whole elements
 * @param residualRounded when the sum with a residual is rounded
 * @param threads how many at most
 */
record NormSettings(
    Kind kind,
    Preset like,
    Order castOrder,
    StoredParameter gain,
    Double gainOffset,
    StoredParameter bias,
    Double epsilon,
    EpsilonPlace epsilonPlace,
    Double partial,
    PartRounded partRounded,
    ResidualRounded residualRounded,
    Integer threads) {
  /** Named as on the command line. */
  enum Kind {
    rms,
    layer
  }

  /** Named as on the command line, and as in {@link RmsNorm}. */
  enum Preset {
    llama(Order.llama),
    gemma(Order.float32),
    t5(Order.t5),
    paper(Order.float32),
    pytorch(Order.float32),
    onnx(Order.onnx);

    private final Order castOrder;

    Preset(Order castOrder) {
      this.castOrder = castOrder;
    }
  }

  /** Named as on the command line. */
  enum Order {
    float32(CastOrder.FLOAT32),
    llama(CastOrder.LLAMA),
    t5(CastOrder.T5),
    onnx(CastOrder.ONNX);

    private final CastOrder order;

    Order(CastOrder order) {
      this.order = order;
    }

    CastOrder castOrder() {
      return order;
    }
  }

  /** Named as on the command line. */
  enum PartRounded {
    up,
    down
  }

  /** Named as on the command line. */
  enum EpsilonPlace {
    inside(EpsilonPlacement.INSIDE),
    outside(EpsilonPlacement.OUTSIDE),
    floor(EpsilonPlacement.FLOOR);

    private final EpsilonPlacement placement;

    EpsilonPlace(EpsilonPlacement placement) {
      this.placement = placement;
    }
  }

  /** Named as on the command line. */
  enum ResidualRounded {
    first(ResidualRounding.FIRST),
    between(ResidualRounding.BETWEEN),
    last(ResidualRounding.LAST);

    private final ResidualRounding rounding;

    ResidualRounded(ResidualRounding rounding) {
      this.rounding = rounding;
    }
  }

  /**
   * Checks what the options are together; the library checks the rest.
   *
   * @throws IllegalArgumentException if they make no sense
   */
  NormSettings {
    if (kind == Kind.layer) {
      require(like == null, "--like", like, "it needs --norm rms");
      require(castOrder == null, "--cast-order", castOrder, "it needs --norm rms");
      require(partial == null, "--partial", partial, "it needs --norm rms");
    }
    require(
        partial == null || partial > 0 && partial <= 1,
        "--partial",
        partial,
        "it must be above 0 and at most 1");
    require(
        partRounded == null || partial != null,
        "--partial-rounding",
        partRounded,
        "it needs --partial");
    require(
        gainOffset == null || gain != null,
        "--gain-offset",
        gainOffset,
        "it needs --gain, which it is added to");
    Order order = castOrder != null ? castOrder : like != null ? like.castOrder : Order.float32;
    require(
        order != Order.t5 || gainOffset == null || gainOffset == 0,
        "--gain-offset",
        gainOffset,
        "with %s t5 it must be 0".formatted(castOrder == null ? "--like" : "--cast-order"));
    // Gemma's own offset, which nobody may have thought of.
    require(
        order != Order.t5 || like != Preset.gemma || gainOffset != null || gain == null,
        "--cast-order",
        castOrder,
        "with --like gemma it needs --gain-offset 0");
    // The others round a row before it meets the gain, which leaves no place for a bias.
    boolean unbiased = bias == null || order == Order.float32;
    require(
        unbiased || castOrder != null,
        "--like",
        like,
        "with --bias it may be gemma, paper or pytorch");
    require(unbiased, "--cast-order", castOrder, "with --bias it may be float32");
  }

  private static void require(boolean sense, String option, Object value, String allowed) {
    if (!sense) {
      throw new IllegalArgumentException("%s is %s, %s".formatted(option, value, allowed));
    }
  }

  List<StoredParameter> parameters() {
    return Stream.of(gain, bias).filter(Objects::nonNull).toList();
  }

  /**
   * Makes the norm for rows of a width and type.
   *
   * @throws IllegalArgumentException if a setting cannot be
   */
  Norm norm(int width, ElementType type, Backend backend) throws IOException {
    if (kind == Kind.layer) {
      return configure(LayerNorm.builder(width), backend).build();
    }
    RmsNorm.Builder builder = configure(preset(width, type), backend);
    if (castOrder != null) {
      builder.castOrder(castOrder.order);
    }
    if (partial != null && partRounded == PartRounded.down) {
      builder.partialRoundedDown(partial);
    } else if (partial != null) {
      builder.partial(partial);
    }
    return builder.build();
  }

  private RmsNorm.Builder preset(int width, ElementType type) {
    return switch (like) {
      case null -> RmsNorm.builder(width);
      case llama -> RmsNorm.llama(width);
      case gemma -> RmsNorm.gemma(width);
      case t5 -> RmsNorm.t5(width);
      case paper -> RmsNorm.paper(width);
      case pytorch -> RmsNorm.pytorch(width, type);
      case onnx -> RmsNorm.onnx(width);
    };
  }

  private <B extends Norm.Builder<B>> B configure(B builder, Backend backend) throws IOException {
    builder.backend(backend);
    if (gain == null) {
      builder.gainOffset(0); // A preset's; there is nothing that it could be added to.
    } else if (gainOffset != null) {
      builder.gainOffset(gainOffset);
    }
    if (epsilon != null) {
      builder.epsilon(epsilon);
    }
    if (epsilonPlace != null) {
      builder.epsilonPlacement(epsilonPlace.placement);
    }
    if (residualRounded != null) {
      builder.residualRounding(residualRounded.rounding);
    }
    if (threads != null) {
      builder.threads(threads);
    }
    try (Arena arena = Arena.ofConfined()) {
      if (gain != null) {
        builder.gain(gain.read(arena));
      }
      if (bias != null) {
        builder.bias(bias.read(arena));
      }
    }
    return builder;
  }
}
