package io.github.rmsnorm4j;

import io.github.rmsnorm4j.RandomRows.Mix;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/**
 * One call of a norm and, if its direction is that, the backward call after it, everything about
 * them drawn from a seed, and the contract's answer.
 */
final class Case {
  private static final double[] EPSILONS = {0.0, 1e-12, 1e-6, 1e-5, 0.1, 1e-40, 1e-200, 1e-300};
  private static final int GAP = 40;

  final Variant norm;

  /** Rows of gain and bias. */
  final int samples;

  /** Elements of such a row: of a row of x, or of a group. */
  final int length;

  final Operand x;
  final Operand residual;
  final Operand z;
  final Operand y;

  /** What y is written over: x, z, or null for rows of its own. */
  final Operand over;

  final Operand gain;
  final Operand bias;

  /** Whether gain and bias are the call's, and not the norm's. */
  final boolean ofCall;

  final boolean safe;

  /** What is kept for a backward call; null if nothing is told to. */
  final Keep keep;

  /** Whether a call that keeps nothing takes arrays for the statistics. */
  final boolean statistics;

  /** Null forward, as all that follows. */
  final Operand dy;

  final Operand dresidual;

  /** Where dx goes: dy, dresidual, or rows of its own. */
  final Operand dx;

  /** Where dz goes: dy, or rows of its own. */
  final Operand dz;

  final Learned dgain;
  final Learned dbias;

  final CaseAnswer answer;

  private final String name;
  private final Draw draw;
  private final Shape shape;
  private final boolean backward;

  private Case(String name, Draw draw, Shape shape, Mix mix, int choice, Parts parts) {
    this.name = name;
    this.draw = draw;
    this.shape = shape;
    backward = shape.direction() == Direction.BACKWARD;
    int width = shape.width();
    double usual = draw.epsilon(EPSILONS, width, mix);
    double epsilon = mix == Mix.ANY && draw.onceIn(8) ? 1e100 : usual;
    boolean biased = backward ? draw.onceIn(4) : (choice & Recipe.BIAS_OR_DGAIN) != 0;
    Variant any = variant(biased, epsilon).with(parts.gate());
    Variant part = shape.plain() || parts.groups() > 1 ? any.whole() : any;
    norm = (biased ? part.withoutCasts() : part).withGroups(parts.groups());
    boolean gated = parts.gate() != Gate.NONE;
    boolean hasGain = (choice & Recipe.GAIN) != 0;
    samples = hasGain || biased ? parts.samples() : 1;
    length = draw.evenly() || samples > 1 ? width : width / parts.groups();
    ofCall = samples > 1 || draw.evenly();

    boolean output = backward && !gated && norm.part() == width && draw.onceIn(3);
    boolean adds = backward ? !gated && draw.evenly() : (choice & Recipe.RESIDUAL) != 0;
    boolean elsewhere = !backward && (choice & Recipe.ELSEWHERE_OR_DBIAS) != 0;
    boolean mayBeInPlace = backward ? output || adds : !elsewhere;
    boolean inPlace = mayBeInPlace && draw.onceIn(3);
    Mix others = mix == Mix.ANY && (!backward || draw.onceIn(3)) ? Mix.ANY : Mix.ORDINARY;
    x = filled(!backward || (output ? inPlace : !adds), mix, epsilon < 1e-100 && !adds && !gated);
    residual = adds ? filled(backward && !output, others, false) : null;
    z = gated ? gates() : null;
    boolean overZ = gated && !backward && !inPlace && !elsewhere && isLikeX(z) && draw.onceIn(2);
    over = inPlace ? x : overZ ? z : null;
    y = over == null ? output(output, elsewhere) : in(over);
    double mean = backward ? 1.5 : draw.random.nextDouble(-1, 1);
    gain = hasGain ? parameter(output ? 0.2 : 2, mean) : null;
    bias = biased ? parameter(2, mean - 1.5) : null;
    boolean mayKeep = over == null || adds;
    keep =
        output
            ? Keep.OUTPUT
            : backward || mayKeep && draw.evenly() ? draw.of(Keep.INPUT, Keep.NOTHING) : null;
    statistics = draw.evenly();

    dy = backward ? filled(false, others, false) : null;
    boolean addsBack = backward && !gated && (choice & Recipe.RESIDUAL) != 0;
    dresidual = addsBack ? filled(false, others, false) : null;
    Operand own = backward ? empty(false) : null;
    dx = backward && draw.onceIn(3) ? dy : addsBack && draw.evenly() ? dresidual : own;
    dz = !backward || !gated ? null : dx != dy && draw.evenly() ? dy : empty(false);
    safe = !shape.plain() && (isPlain() || draw.onceIn(4));
    boolean wide = shape.type() == ElementType.FLOAT64 || draw.evenly();
    boolean added = draw.evenly();
    dgain = backward && (choice & Recipe.BIAS_OR_DGAIN) != 0 ? learned(wide, added) : null;
    dbias = backward && (choice & Recipe.ELSEWHERE_OR_DBIAS) != 0 ? learned(wide, added) : null;
    answer = new CaseAnswer(this);
  }

  /** Any norm; if it may have one, more often with a cast order than without. */
  private Variant variant(boolean biased, double epsilon) {
    Variant any = Variant.any(draw.random, shape.centred(), shape.width(), epsilon);
    for (int i = 0; i < 3 && !biased && any.order() == CastOrder.FLOAT32; i++) {
      any = Variant.any(draw.random, shape.centred(), shape.width(), epsilon);
    }
    return any;
  }

  /** Any call of a direction, with rows of a type. */
  static Case of(Direction direction, long seed, int rows, int width, ElementType in) {
    return of(seed, Shape.of(direction, new Draw(~seed), in, rows, width));
  }

  /** Any call of a shape. */
  static Case of(long seed, Shape shape) {
    Draw draw = new Draw(seed);
    int choice = draw.choice();
    return of(seed, draw, shape, draw.mix(), choice, Parts.drawn(draw, shape, choice));
  }

  /** Any call of a shape that has some parts. */
  static Case of(long seed, Shape shape, Parts parts) {
    Draw draw = new Draw(seed);
    int forced = parts.samples() > 1 ? Recipe.GAIN : 0;
    int refused = parts.gate() == Gate.NONE ? 0 : Recipe.RESIDUAL;
    return of(seed, draw, shape, draw.mix(), (draw.choice() | forced) & ~refused, parts);
  }

  /** Any call of a shape with some rows and choices. */
  static Case of(long seed, Shape shape, Mix mix, int choice) {
    return of(seed, new Draw(seed), shape, mix, choice, Parts.NONE);
  }

  private static Case of(long seed, Draw draw, Shape shape, Mix mix, int choice, Parts parts) {
    String name = "seed %d, %s, %s, %s".formatted(seed, shape, mix, parts);
    return new Case(name, draw, shape, mix, choice, parts);
  }

  /** One of a stratum. */
  static Case of(Recipe recipe) {
    Draw draw = new Draw(recipe.seed());
    Shape shape = recipe.stratum().draw(draw, recipe.seed());
    Parts parts = Parts.drawn(draw, shape, recipe.choice());
    return of(recipe.seed(), draw, shape, recipe.mix(), recipe.choice(), parts);
  }

  /** Rows of a type that goes with the arithmetic; those that the shape tells of as it says. */
  private Operand operand(boolean asShape, double[][] rows) {
    boolean same = asShape || shape.plain() || shape.type() == ElementType.FLOAT64;
    ElementType type = same ? shape.type() : draw.narrowType();
    boolean there = asShape || !backward && shape.plain();
    boolean heap = there ? shape.heap() : draw.evenly();
    Place place = shape.plain() ? draw.plainPlace(heap) : draw.place(heap);
    return new Operand(type, place, draw.gap(GAP), shape.width(), rows);
  }

  /** Groups are each of a character of their own. */
  private Operand filled(boolean asShape, Mix mix, boolean tiny) {
    Operand like = operand(asShape, null);
    int groups = norm.groups();
    int n = shape.width() / groups;
    double[][] all = draw.rows.of(mix, like.type(), shape.rows() * groups, n, shape.chunk(), tiny);
    double[][] rows = new double[shape.rows()][];
    Arrays.setAll(rows, r -> CaseAnswer.joined(all, r * groups, groups));
    return like.with(rows);
  }

  private Operand empty(boolean asShape) {
    return operand(asShape, new double[shape.rows()][0]);
  }

  /** Rows for y: forward of any type, in the kind of memory that x has not if so said. */
  private Operand output(boolean asShape, boolean elsewhere) {
    if (backward) {
      return empty(asShape);
    }
    boolean heap = elsewhere != shape.heap();
    ElementType type = shape.plain() ? shape.type() : draw.type();
    Place place = shape.plain() ? draw.plainPlace(heap) : draw.place(heap);
    double[][] none = new double[shape.rows()][0];
    return new Operand(type, place, draw.gap(GAP), shape.width(), none);
  }

  /** Rows for y in place of others, of another type if both have 16 bits. */
  private Operand in(Operand there) {
    boolean other = !shape.plain() && !backward && there.type().bytes() == 2;
    return there.empty(other ? draw.of(ElementType.FLOAT16, ElementType.BFLOAT16) : there.type());
  }

  private boolean isLikeX(Operand other) {
    return other.place().isHeap() == x.place().isHeap();
  }

  /** Ordinary ones, or over the whole range of the exponential, with its ends. */
  private Operand gates() {
    double[] ends = {-0.0, Double.NaN, 1 / 0.0, -1 / 0.0, 87.25, 87, 709, -709, -88.8, 3e38, -3e38};
    Operand like = operand(false, null);
    double[][] values = new double[shape.rows()][];
    for (int r = 0; r < values.length; r++) {
      double size = draw.of(1.0, 4.0, 100.0, 800.0);
      values[r] = draw.rows.scaled(like.type(), shape.width(), size, 0);
      if (draw.onceIn(3)) {
        int at = draw.random.nextInt(shape.width());
        values[r][at] = Rounding.to(like.type(), draw.of(ends));
      }
    }
    return like.with(values);
  }

  private Operand parameter(double size, double mean) {
    return draw.parameter(samples, shape.width(), size, mean).first(length);
  }

  private Learned learned(boolean wide, boolean added) {
    double[] before = draw.rows.scaled(ElementType.FLOAT32, samples * length, 3, 0);
    before[0] = -0.0;
    return new Learned(wide, added, before);
  }

  /** Makes the call on a backend, and compares every bit with the contract. */
  void check(Backend backend, int threads) {
    CaseCheck.of(this, backend, threads);
  }

  /** Whether each group has elements of gain and bias of its own. */
  boolean isApart() {
    return norm.groups() > 1 && length == norm.width();
  }

  /** The rows that are normalised or, backward, were kept. */
  private Operand kept() {
    return !backward ? x : keep == Keep.OUTPUT ? y : residual == null ? x : residual;
  }

  /** Read off the call, and not off what was asked for. */
  Shape shape() {
    boolean plain = isPlain() && !safe;
    ElementType type = kept().type();
    boolean heap = kept().place().isHeap();
    int rows = x.rows().length;
    return new Shape(shape.direction(), type, heap, norm.centred(), plain, rows, norm.width());
  }

  /** As in {@link Recipe}. */
  int choice() {
    int first = gain != null ? Recipe.GAIN : 0;
    boolean second = backward ? dgain != null : bias != null;
    boolean third = backward ? dresidual != null : residual != null;
    boolean last = backward ? dbias != null : !isLikeX(y);
    return first
        | (second ? Recipe.BIAS_OR_DGAIN : 0)
        | (third ? Recipe.RESIDUAL : 0)
        | (last ? Recipe.ELSEWHERE_OR_DBIAS : 0);
  }

  private boolean isPlain() {
    boolean plain = norm.part() == norm.width();
    Operand[] read = backward ? new Operand[] {z, dy, dresidual, dx, dz} : new Operand[] {z, y};
    for (Operand operand : read) {
      plain &= operand == null || operand.isPlain(kept().type());
    }
    boolean added = backward || residual == null || residual.isPlain(x.type()) && isLikeX(residual);
    return plain && added && kept().isPlain(kept().type());
  }

  /** What else a call of some direction can have. */
  static Set<String> options(Direction direction) {
    boolean back = direction == Direction.BACKWARD;
    Set<String> all = new TreeSet<>(Set.of("samples", "shared groups", "own groups", "a part"));
    all.addAll(Set.of("L2_NORM", "of the call", "over x", "safe", "gated samples", "gated groups"));
    all.addAll(back ? Set.of("dx over dy", "dx over dresidual", "dz over dy") : Set.of("over z"));
    all.addAll(back ? Set.of("added floats", "doubles") : Set.of("nothing told", "statistics"));
    for (Enum<?>[] values :
        new Enum<?>[][] {
          Gate.values(), EpsilonPlacement.values(), CastOrder.values(), ResidualRounding.values()
        }) {
      Arrays.stream(values).forEach(value -> all.add(value.name()));
    }
    Arrays.stream(Keep.values())
        .filter(k -> back || k != Keep.OUTPUT)
        .forEach(k -> all.add("keep " + k));
    return all;
  }

  /** Which of these this call has. */
  Set<String> options() {
    Set<String> has = new TreeSet<>(Set.of(norm.gate().name(), norm.placement().name()));
    has.addAll(Set.of(norm.order().name(), norm.spec().kind().name()));
    boolean gated = z != null;
    boolean grouped = norm.groups() > 1;
    add(has, samples > 1, gated ? "gated samples" : "samples");
    add(has, grouped, isApart() ? "own groups" : "shared groups");
    add(has, grouped && gated, "gated groups");
    add(has, norm.part() < norm.width(), "a part");
    add(has, residual != null, norm.rounding().name());
    add(has, ofCall && (gain != null || bias != null), "of the call");
    add(has, over != null, over == x ? "over x" : "over z");
    add(has, safe, "safe");
    add(has, true, keep == null ? "nothing told" : "keep " + keep);
    add(has, keep == null && statistics && residual == null && !gated, "statistics");
    add(has, dx != null && dx == dy, "dx over dy");
    add(has, dx != null && dx == dresidual, "dx over dresidual");
    add(has, dz != null && dz == dy, "dz over dy");
    Learned one = dgain != null ? dgain : dbias;
    add(has, one != null && one.wide(), "doubles");
    add(has, one != null && one.added() && !one.wide(), "added floats");
    return has;
  }

  private static void add(Set<String> to, boolean has, String option) {
    if (has) {
      to.add(option);
    }
  }

  @Override
  public String toString() {
    return name
        + (", " + norm + ", keep " + keep + (safe ? ", safe" : ""))
        + (", x " + Operand.text(x) + ", residual " + Operand.text(residual))
        + (", z " + Operand.text(z) + ", y " + Operand.text(y))
        + (over == null ? "" : over == x ? " over x" : " over z")
        + (", gain " + Operand.text(gain) + ", bias " + Operand.text(bias))
        + (", each of " + samples + " x " + length + (ofCall ? " of the call" : ""))
        + (", dy " + Operand.text(dy) + ", dresidual " + Operand.text(dresidual))
        + (", dx " + Operand.text(dx) + ", dz " + Operand.text(dz))
        + (dx == null || dx != dy && dz != dy ? "" : dx == dy ? ", dx over dy" : ", dz over dy")
        + (", dgain " + Learned.text(dgain) + ", dbias " + Learned.text(dbias));
  }
}
