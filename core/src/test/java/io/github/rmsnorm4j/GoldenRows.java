package io.github.rmsnorm4j;

import java.lang.foreign.Arena;
import java.util.function.IntFunction;
import java.util.zip.CRC32;

/** The rows of a call of one type in native memory, with numbers from a source of their own. */
final class GoldenRows implements AutoCloseable {
  final Golden.Source source;
  final Block x;
  final Block y;

  private final Arena arena = Arena.ofConfined();
  private final ElementType type;
  private final int rows;
  private final int groups;
  private final int groupWidth;
  private final Block z;
  private final Block dy;
  private final Block dx;
  private final Block dz;
  private Block dresidual;
  private double[] dgain;
  private double[] dbias;

  GoldenRows(ElementType type, int rows, int groups, int groupWidth) {
    this.type = type;
    this.rows = rows;
    this.groups = groups;
    this.groupWidth = groupWidth;
    source = new Golden.Source(groupWidth * 8L + type.ordinal());
    x = block();
    y = block();
    z = block();
    dy = block();
    dx = block();
    dz = block();
  }

  private Block block() {
    return new Block(arena, Place.NATIVE, type, rows, groups * groupWidth, groups * groupWidth);
  }

  private Block put(Block into, IntFunction<double[]> row) {
    for (int r = 0; r < rows; r++) {
      into.put(r, row.apply(r));
    }
    return into;
  }

  /** Rows of all characters in turn, as x or as rows of their own. */
  Block kinds(boolean asX) {
    return put(
        asX ? x : block(), r -> source.row((r + groupWidth) % Golden.KINDS, type, groupWidth));
  }

  private double[] slope() {
    return source.row(type, groups * groupWidth, 1, 0);
  }

  /** The gradients of a call, and of a residual. */
  void slopes(boolean ofResidual) {
    put(dy, r -> slope());
    dresidual = ofResidual ? put(block(), r -> slope()) : null;
  }

  /**
   * All that a gated call reads, row by row; the groups of a row have other characters.
   *
   * @param sizes standard deviations of gates, in turn
   */
  void ofGate(double... sizes) {
    for (int r = 0; r < rows; r++) {
      double[] all = new double[groups * groupWidth];
      for (int g = 0; g < groups; g++) {
        double[] group = source.row((r + g) % Golden.KINDS, type, groupWidth);
        System.arraycopy(group, 0, all, g * groupWidth, groupWidth);
      }
      x.put(r, all);
      z.put(r, source.row(type, all.length, sizes[r % sizes.length], 0));
      dy.put(r, slope());
    }
  }

  /**
   * A call forward and backward, with the gate that the norm has.
   *
   * @param parameters the elements of gain and bias
   */
  void run(Norm norm, Keep keep, int parameters) {
    dgain = new double[parameters];
    dbias = new double[parameters];
    ParameterGradients gradients = ParameterGradients.assigned(dgain, dbias);
    Saved saved = new Saved(keep, rows);
    if (norm.spec().gate() != Gate.NONE) {
      norm.applyGated(x.rows, z.rows, y.rows, saved);
      norm.backwardGated(dy.rows, saved, dx.rows, dz.rows, gradients);
    } else {
      norm.apply(x.rows, y.rows, saved);
      if (dresidual == null) {
        norm.backward(dy.rows, saved, dx.rows, gradients);
      } else {
        norm.backward(dy.rows, saved, dresidual.rows, dx.rows, gradients);
      }
    }
  }

  /** Adds what the call has left of some of y, dx, dz and the sums dgain and dbias. */
  void add(CRC32 crc, String... names) {
    for (String name : names) {
      switch (name) {
        case "y" -> Golden.add(crc, y);
        case "dx" -> Golden.add(crc, dx);
        case "dz" -> Golden.add(crc, dz);
        default -> {
          Golden.add(crc, dgain);
          Golden.add(crc, dbias);
        }
      }
    }
  }

  @Override
  public void close() {
    arena.close();
  }
}
