package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.ElementType.FLOAT64;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * A backward pass of a norm, its rows and what else is not as usual: on every backend, each with
 * the bits of the contract.
 */
final class BackwardEdge {
  final boolean centred;
  double epsilon = 1e-6;
  EpsilonPlacement placement = EpsilonPlacement.INSIDE;
  int part;
  Keep keep = Keep.INPUT;
  ElementType type = FLOAT32;
  double[] gain;
  double[][] dresidual;
  final double[][] x;
  final double[][] dy;

  BackwardEdge(boolean centred, double[][] x, double[][] dy) {
    this.centred = centred;
    this.x = x;
    this.dy = dy;
    part = x[0].length;
  }

  BackwardEdge epsilon(double epsilon, EpsilonPlacement placement) {
    this.epsilon = epsilon;
    this.placement = placement;
    return this;
  }

  BackwardEdge keep(Keep keep) {
    this.keep = keep;
    return this;
  }

  BackwardEdge type(ElementType type) {
    this.type = type;
    return this;
  }

  BackwardEdge part(int part) {
    this.part = part;
    return this;
  }

  BackwardEdge gain(double... gain) {
    this.gain = gain;
    return this;
  }

  BackwardEdge dresidual(double[]... dresidual) {
    this.dresidual = dresidual;
    return this;
  }

  private Variant variant() {
    return new Variant(
        centred,
        x[0].length,
        part,
        epsilon,
        placement,
        CastOrder.FLOAT32,
        0,
        ResidualRounding.FIRST);
  }

  Norm norm(Backend backend) {
    return variant()
        .norm(
            builder -> {
              builder.backend(backend);
              if (gain != null) {
                builder.gain(gain);
              }
            });
  }

  /** On every backend, each with the contract's bits. */
  BackwardContract.Result run() {
    BackwardContract.Result result = null;
    for (int bits : new int[] {0, 128, 256, 512}) {
      result = run(bits == 0 ? Backend.scalar() : Backend.vector(bits));
    }
    return result;
  }

  private BackwardContract.Result run(Backend backend) {
    int rows = x.length;
    int width = x[0].length;
    Norm norm = norm(backend);
    try (Arena arena = Arena.ofConfined()) {
      Block in = block(arena, x);
      Block slopes = block(arena, dy);
      Block y = block(arena, new double[rows][width]);
      Block out = block(arena, new double[rows][width]);
      Saved saved = new Saved(keep, rows);
      norm.apply(in.rows, y.rows, saved);
      double[] dgain = new double[width];
      double[] dbias = new double[width];
      ParameterGradients gradients = ParameterGradients.assigned(dgain, dbias);
      if (dresidual == null) {
        norm.backward(slopes.rows, saved, out.rows, gradients);
      } else {
        norm.backward(slopes.rows, saved, block(arena, dresidual).rows, out.rows, gradients);
      }
      BackwardContract.Result expected = expected();
      double[][] dx = values(out);
      for (int r = 0; r < rows; r++) {
        assertThat(dx[r]).as("dx of row %d, %s", r, backend).isEqualTo(expected.dx()[r]);
      }
      assertThat(dgain).as("dgain, %s", backend).isEqualTo(expected.dgain());
      assertThat(dbias).as("dbias, %s", backend).isEqualTo(expected.dbias());
      return new BackwardContract.Result(dx, dgain, dbias);
    }
  }

  /** By the contract alone, forward and backward. */
  private BackwardContract.Result expected() {
    boolean output = keep == Keep.OUTPUT;
    Variant is = variant();
    Values g = gain == null ? null : new Values(FLOAT64, gain);
    double[][] kept = new double[x.length][];
    double[] mean = new double[x.length];
    double[] rstd = new double[x.length];
    for (int r = 0; r < x.length; r++) {
      Contract.Result forward = Contract.row(is, new Values(type, x[r]), null, g, null, type);
      kept[r] = output ? forward.y() : x[r];
      mean[r] = output ? 0 : forward.mean();
      rstd[r] = forward.rstd();
    }
    BackwardContract.Choice choice =
        new BackwardContract.Choice(
            centred, part, part, epsilon, placement, type == FLOAT64, output, gain, null);
    return BackwardContract.of(choice, kept, dy, mean, rstd, dresidual, type);
  }

  private Block block(Arena arena, double[][] values) {
    Block block = new Block(arena, Place.NATIVE, type, values.length, x[0].length, x[0].length);
    for (int r = 0; r < values.length; r++) {
      block.put(r, values[r]);
    }
    return block;
  }

  private static double[][] values(Block block) {
    double[][] values = new double[(int) block.rows.rows()][];
    Arrays.setAll(values, block::values);
    return values;
  }

  /** One size and two signs in turn: longer than the widest vector, and with a tail. */
  static double[] alternating(double size) {
    double[] row = new double[36];
    Arrays.setAll(row, i -> i % 2 == 0 ? size : -size);
    return row;
  }

  static double[] constant(double value) {
    double[] row = new double[36];
    Arrays.fill(row, value);
    return row;
  }

  static double[] with(double[] row, int at, double value) {
    double[] changed = row.clone();
    changed[at] = value;
    return changed;
  }

  static double[][] rows(double[]... rows) {
    return rows;
  }
}
