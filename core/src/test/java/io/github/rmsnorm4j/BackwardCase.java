package io.github.rmsnorm4j;

import io.github.rmsnorm4j.RandomRows.Mix;
import java.util.Arrays;

/**
 * One backward call and the forward call before it, everything about them drawn from a seed, and
 * the contract's answer.
 */
final class BackwardCase {
  private static final double[] EPSILONS = {0.0, 1e-12, 1e-6, 0.1, 1e-40, 1e-300};
  private static final int GAP = 40;

  final Variant norm;
  final Keep keep;
  final boolean safe;

  /** Whether gain and bias are the call's, and not the norm's. */
  final boolean ofCall;

  /** Whether the forward call writes y over x. */
  final boolean inPlace;

  final Operand x;
  final Operand residual;
  final Operand y;
  final Operand gain;
  final Operand bias;
  final Operand dy;
  final Operand dresidual;

  /** Where dx goes: dy, dresidual, or rows of its own. */
  final Operand dx;

  final Learned dgain;
  final Learned dbias;

  /** Each row's mean and rstd as a forward pass that keeps the input leaves them. */
  final double[] mean;

  final double[] rstd;
  final BackwardContract.Result expected;

  private final String name;
  private final Draw draw;

  /** Elements of gain and bias: of a row, or of a group. */
  private final int length;

  private final Shape shape;
  private final boolean[] outOfRange;

  private BackwardCase(String name, Draw draw, Shape shape, Mix mix, int choice) {
    this.name = name;
    this.draw = draw;
    this.shape = shape;
    int width = shape.width();
    double epsilon = draw.epsilon(EPSILONS, width, mix);
    Variant any = Variant.any(draw.random, shape.centred(), width, epsilon);
    norm = (shape.plain() ? any.whole() : any).withGroups(draw.groups(width));
    length = draw.parameterLength(norm);
    boolean output = norm.part() == width && draw.onceIn(3);
    keep = output ? Keep.OUTPUT : draw.of(Keep.INPUT, Keep.NOTHING);
    ofCall = draw.evenly();
    boolean adds = draw.evenly();
    inPlace = (output || adds) && draw.onceIn(3);
    Mix others = mix == Mix.ANY && draw.onceIn(3) ? Mix.ANY : Mix.ORDINARY;
    x = filled(output ? inPlace : !adds, mix, epsilon < 1e-100 && !adds);
    residual = adds ? filled(!output, others, false) : null;
    y = inPlace ? x : empty(output);
    gain = (choice & 1) != 0 ? draw.parameter(width, output ? 0.2 : 2, 1.5).first(length) : null;
    boolean mayHaveBias = norm.order() == CastOrder.FLOAT32;
    bias = mayHaveBias && draw.evenly() ? draw.parameter(width, 1, 0).first(length) : null;
    dy = filled(false, others, false);
    dresidual = (choice & 4) != 0 ? filled(false, others, false) : null;
    Operand own = empty(false);
    Operand overResidual = dresidual == null || draw.evenly() ? own : dresidual;
    dx = draw.onceIn(3) ? dy : overResidual;
    safe = !shape.plain() && (isPlain() || draw.onceIn(4));
    boolean wide = shape.type() == ElementType.FLOAT64 || draw.evenly();
    boolean added = draw.evenly();
    dgain = (choice & 2) != 0 ? learned(wide, added) : null;
    dbias = (choice & 8) != 0 ? learned(wide, added) : null;
    mean = new double[shape.rows() * norm.groups()];
    rstd = new double[mean.length];
    outOfRange = new boolean[shape.rows()];
    expected = expected();
  }

  /** Any call of so many rows of a width. */
  static BackwardCase of(long seed, int rows, int width) {
    Draw draw = new Draw(~seed);
    ElementType type = draw.onceIn(5) ? ElementType.FLOAT64 : draw.narrowType();
    return of(seed, Shape.of(Direction.BACKWARD, draw, type, rows, width));
  }

  /** Any call of a shape. */
  static BackwardCase of(long seed, Shape shape) {
    Draw draw = new Draw(seed);
    String name = "seed " + seed + ", " + shape;
    return new BackwardCase(name, draw, shape, draw.mix(), draw.choice());
  }

  /** One of a stratum. */
  static BackwardCase of(Recipe recipe) {
    Draw draw = new Draw(recipe.seed());
    Shape shape = recipe.stratum().draw(draw, recipe.seed());
    String name = recipe + ", " + shape;
    return new BackwardCase(name, draw, shape, recipe.mix(), recipe.choice());
  }

  /** Rows of the types that go with the arithmetic; the kept ones as the shape says. */
  private Operand operand(boolean kept, double[][] rows) {
    boolean same = kept || shape.plain() || shape.type() == ElementType.FLOAT64;
    ElementType type = same ? shape.type() : draw.narrowType();
    boolean heap = kept ? shape.heap() : draw.evenly();
    Place place = shape.plain() ? draw.plainPlace(heap) : draw.place(heap);
    return new Operand(type, place, draw.gap(GAP), shape.width(), rows);
  }

  private Operand filled(boolean kept, Mix mix, boolean tiny) {
    Operand like = operand(kept, null);
    int width = shape.width();
    double[][] rows = draw.rows.of(mix, like.type(), shape.rows(), width, shape.chunk(), tiny);
    return new Operand(like.type(), like.place(), like.gap(), width, rows);
  }

  private Operand empty(boolean kept) {
    return operand(kept, new double[shape.rows()][0]);
  }

  private Learned learned(boolean wide, boolean added) {
    double[] all = draw.rows.scaled(ElementType.FLOAT32, shape.width(), 3, 0);
    double[] before = Arrays.copyOf(all, length);
    before[0] = -0.0;
    return new Learned(wide, added, before);
  }

  /** By the contract alone: forward row by row, and backward from what that keeps. */
  private BackwardContract.Result expected() {
    boolean output = keep == Keep.OUTPUT;
    boolean float64 = x.type() == ElementType.FLOAT64;
    int groups = norm.groups();
    double[][] kept = new double[mean.length][];
    double[] means = new double[kept.length];
    for (int r = 0; r < outOfRange.length; r++) {
      Values added = Operand.row(residual, r);
      Contract.Result[] forward = forward(norm, Operand.row(x, r), added);
      for (int g = 0; g < groups; g++) {
        int i = r * groups + g;
        double[] in = added == null ? GroupRows.group(x.rows()[r], g, groups) : null;
        kept[i] = output ? forward[g].y() : in != null ? in : forward[g].residual();
      }
      if (keep == Keep.NOTHING) {
        // It is computed again from what was stored, and the gradient knows no cast.
        double[] stored = GroupRows.joined(kept, r * groups, groups);
        ElementType type = added == null ? x.type() : added.type();
        forward = forward(norm.withoutCasts(), new Values(type, stored), null);
      }
      for (int g = 0; g < groups; g++) {
        int i = r * groups + g;
        mean[i] = norm.centred() ? forward[g].mean() : 0;
        rstd[i] = forward[g].rstd();
        means[i] = output ? 0 : mean[i];
        outOfRange[r] |= forward[g].outOfRange();
      }
    }
    BackwardContract.Choice choice =
        new BackwardContract.Choice(
            norm.centred(),
            norm.ofGroup().part(),
            norm.ofGroup().count(),
            norm.epsilon(),
            norm.placement(),
            float64,
            output,
            gain == null ? null : rounded(gain.rows()[0], norm.gainOffset(), float64),
            bias == null ? null : rounded(bias.rows()[0], 0, float64));
    if (kept.length == 0) {
      return BackwardContract.ofNoRows(length);
    }
    double[][] added = dresidual == null ? null : GroupRows.groups(dresidual.rows(), groups);
    GroupRows rows = new GroupRows(kept, GroupRows.groups(dy.rows(), groups), means, rstd, added);
    return rows.gradients(choice, groups, length == norm.width(), dx.type());
  }

  private Contract.Result[] forward(Variant norm, Values x, Values added) {
    return Contract.groups(norm, x, added, Operand.row(gain, 0), Operand.row(bias, 0), y.type());
  }

  /** To the arithmetic's type, and with an offset that is added in that. */
  private static double[] rounded(double[] values, double offset, boolean float64) {
    return Arrays.stream(values)
        .map(v -> float64 ? v : (float) v)
        .map(v -> offset == 0 ? v : float64 ? v + offset : (float) v + (float) offset)
        .toArray();
  }

  /** Read off the call, and not off what was asked for. */
  Shape shape() {
    boolean plain = isPlain() && !safe;
    ElementType type = kept().type();
    boolean heap = kept().place().isHeap();
    int rows = expected.dx().length;
    int width = norm.width();
    return new Shape(Direction.BACKWARD, type, heap, norm.centred(), plain, rows, width);
  }

  /** As in {@link Recipe}. */
  int choice() {
    return (gain != null ? 1 : 0)
        + (dgain != null ? 2 : 0)
        + (dresidual != null ? 4 : 0)
        + (dbias != null ? 8 : 0);
  }

  private Operand kept() {
    return keep == Keep.OUTPUT ? y : residual == null ? x : residual;
  }

  private boolean isPlain() {
    ElementType type = kept().type();
    boolean direct = kept().isPlain(type) && dy.isPlain(type) && dx.isPlain(type);
    boolean added = dresidual == null || dresidual.isPlain(type);
    return direct && added && norm.part() == norm.width();
  }

  /** Which rows leave the range of their arithmetic. */
  boolean[] outOfRange() {
    return outOfRange.clone();
  }

  @Override
  public String toString() {
    return name
        + (", " + norm + ", keep " + keep + (safe ? ", safe" : ""))
        + (", x " + Operand.text(x) + (inPlace ? " in place" : ""))
        + (", residual " + Operand.text(residual) + ", y " + Operand.text(y))
        + (", gain " + Operand.text(gain) + ", bias " + Operand.text(bias))
        + (ofCall ? " of the call" : "")
        + (", dy " + Operand.text(dy) + ", dresidual " + Operand.text(dresidual))
        + (", dx " + Operand.text(dx))
        + (dx == dy ? " over dy" : dx == dresidual ? " over dresidual" : "")
        + (", dgain " + Learned.text(dgain) + ", dbias " + Learned.text(dbias));
  }
}
