package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RandomRows;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.internal.backend.RowMemory.Access;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Formula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.ForwardFormula;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.norm.Plans;
import io.github.rmsnorm4j.internal.norm.Runner;
import io.github.rmsnorm4j.internal.norm.SumsOverRows;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * One call of a norm, everything about it drawn from a seed. Of four seeds in order each has other
 * arithmetic or another direction.
 */
final class DrawnCall {
  /** How many elements rows have, and how many rows there are. */
  enum Size {
    SMALL,
    /** Several chunks of rows of one type, of which most are in range and none are copied. */
    CHUNKS,
    /** More than a super-block. */
    LONG,
    /** More elements than are summed in one pass. */
    TWO_PASSES
  }

  private static final double[] EPSILONS = {0, 1e-5, 1e-12, 0.1, 1e-200, 1e-300, 1e100};
  private static final int[] WIDTHS = {768, 1000, 1023, 1024, 1025, 2048, 4096, 4100};
  private static final int[] OF_CHUNKS = {32, 64, 128, 256, 512, 1056, 2048, 2048, 4096, 4096};

  final Formula formula;
  final int width;
  final int rows;

  /** The rows of each tensor. */
  final Map<Tensor, DrawnRows> operands = new TreeMap<>();

  /** Gain and bias of groups, as float[] or double[]. */
  private final Map<Tensor, Object> parameters = new TreeMap<>();

  private final String name;
  private final SplittableRandom random;
  private final RandomRows source;
  private final Size size;
  private final boolean float64;
  private final NormChoices choices;

  /** Rows that are groups of a wider row; 1 where there are none. */
  private final int groups;

  /** Whether each group of a row has a part of gain and bias of its own, and sums of its own. */
  private final boolean ofGroups;

  /** The input or the gradient that the output takes the place of, or null. */
  private final Tensor over;

  private final Object[] columns;
  private final boolean ofNorm;
  private final double[] mean;
  private final double[] rstd;
  private final boolean given;

  DrawnCall(long seed, Size size) {
    name = "seed " + seed + ", " + size;
    random = new SplittableRandom(seed);
    source = new RandomRows(random);
    this.size = size;
    float64 = (seed & 1) == 0;
    boolean backward = (seed & 2) == 0;
    width = drawnWidth();
    int chunk = Math.clamp(4096 / width, 1, 64);
    int drawnRows =
        switch (size) {
          case SMALL -> random.nextInt(1, 7);
          case CHUNKS -> chunk * of(3, 34) + random.nextInt(chunk);
          case LONG -> of(1, 1, 1, 2);
          case TWO_PASSES -> 1;
        };
    NormSpec drawn = spec();
    boolean whole = drawn.part().elements(width) == width;
    groups = whole && drawnRows > 1 && random.nextInt(4) == 0 ? random.nextInt(2, 4) : 1;
    rows = (drawnRows + groups - 1) / groups * groups;
    boolean drawsGate = random.nextInt(size == Size.LONG && backward ? 2 : 4) == 0;
    Gate gate = drawsGate ? of(Gate.SILU, Gate.SIGMOID, Gate.SILU_BEFORE) : Gate.NONE;
    boolean gated = gate != Gate.NONE && !(drawn.isCentred() && gate == Gate.SILU_BEFORE);
    NormSpec spec = gated ? drawn.withGate(gate) : drawn;
    ElementType x = type(null, true);
    choices = new NormChoices(spec, width, spec.part().elements(width), spec.epsilon(x));
    boolean gain = random.nextBoolean();
    boolean keeps = size != Size.TWO_PASSES && random.nextBoolean();
    boolean output = backward && keeps && !gated && choices.isWhole() && random.nextBoolean();
    boolean needsBias = output || spec.gate().isAfter();
    boolean mayHaveBias = backward ? needsBias : spec.castOrder() == CastOrder.FLOAT32;
    boolean bias = mayHaveBias && random.nextBoolean();
    formula =
        backward
            ? new BackwardFormula(
                spec, output, keeps, gain, bias, random.nextBoolean(), random.nextBoolean())
            : ForwardFormula.of(spec, x, gain ? of(ElementType.values()) : null, bias);
    given = backward && keeps;
    mean = keeps && spec.isCentred() && !output ? numbersOfRows(1e30) : null;
    rstd = keeps ? numbersOfRows(1) : null;
    ofNorm = random.nextBoolean();
    ofGroups = groups > 1 && random.nextBoolean();
    columns =
        new Object[] {
          gain && !ofGroups ? column(output) : null, bias && !ofGroups ? column(false) : null
        };
    ofGroup(Forward.GAIN_OF_GROUPS, gain && ofGroups);
    ofGroup(Forward.BIAS_OF_GROUPS, bias && ofGroups);
    operands.put(Forward.X, input(x));
    if (gated) {
      operands.put(Forward.Z, input(type(x, true)));
    } else if (random.nextBoolean()) {
      operands.put(Forward.RESIDUAL, input(type(x, true)));
    }
    if (backward) {
      operands.put(Backward.DY, input(type(x, true)));
      if (gated) {
        DrawnRows dz = input(type(x, true));
        operands.put(Backward.DZ, dz.as(dz.type()));
      }
    }
    over = over(backward);
    ElementType to = type(x, backward || size == Size.TWO_PASSES);
    DrawnRows place = over == null ? input(to) : operands.get(over);
    boolean fits = over == null || to.bytes() == place.type().bytes();
    operands.put(formula.output(), place.as(fits ? to : place.type()));
  }

  @SafeVarargs
  private <T> T of(T... values) {
    return values[random.nextInt(values.length)];
  }

  private int drawnWidth() {
    return switch (size) {
      case SMALL ->
          switch (random.nextInt(3)) {
            case 0 -> random.nextInt(1, 300);
            case 1 -> 32 * random.nextInt(1, 9);
            default -> WIDTHS[random.nextInt(WIDTHS.length)];
          };
      case CHUNKS -> OF_CHUNKS[random.nextInt(OF_CHUNKS.length)];
      case LONG -> (1 << 16) + random.nextInt(1, 300);
      case TWO_PASSES -> (1 << 20) + random.nextInt(1, 1500);
    };
  }

  private NormSpec spec() {
    boolean centred = size == Size.TWO_PASSES || random.nextInt(5) < 2;
    NormSpec any =
        (centred ? NormSpec.LAYERNORM : NormSpec.RMSNORM)
            .withEpsilon(EPSILONS[random.nextInt(EPSILONS.length)])
            .withEpsilonPlacement(of(EpsilonPlacement.values()))
            .withResidualRounding(of(ResidualRounding.values()));
    NormSpec cast = centred ? any : any.withCastOrder(of(CastOrder.values()));
    if (!centred && random.nextInt(8) == 0) {
      return NormSpec.L2
          .withEpsilon(any.epsilon().getAsDouble())
          .withEpsilonPlacement(any.epsilonPlacement())
          .withResidualRounding(any.residualRounding());
    }
    boolean partial = !centred && size != Size.CHUNKS && random.nextBoolean();
    return partial ? cast.withPart(RowPart.of(random.nextInt(1, width + 1), width)) : cast;
  }

  private ElementType type(ElementType x, boolean ofArithmetic) {
    ElementType type = size == Size.CHUNKS && x != null ? x : of(ElementType.values());
    while (ofArithmetic && (type == ElementType.FLOAT64) != float64) {
      type = of(ElementType.values());
    }
    return type;
  }

  private Tensor over(boolean backward) {
    if (random.nextInt(3) > 0) {
      return null;
    }
    boolean added = backward && operands.containsKey(Forward.RESIDUAL) && random.nextBoolean();
    return added ? Forward.RESIDUAL : backward ? Backward.DY : Forward.X;
  }

  private DrawnRows input(ElementType type) {
    Access access =
        switch (size) {
          case TWO_PASSES -> Access.NATIVE;
          case CHUNKS -> of(Access.NATIVE, Access.ARRAY);
          default -> random.nextInt(3) > 0 ? Access.NATIVE : of(Access.values());
        };
    // Of 200 rows of chunks two are not ordinary; of three other rows also two.
    int ordinary = size == Size.CHUNKS ? 198 : 1;
    double[][] values = new double[rows][];
    for (int r = 0; r < rows; r++) {
      int kind = random.nextInt(ordinary + 2);
      values[r] =
          kind < ordinary
              ? source.ordinary(type, width)
              : kind == ordinary ? source.any(type, width) : source.outOfRange(type, width, true);
    }
    return new DrawnRows(
        type,
        access,
        random.nextInt(5),
        groups,
        random.nextBoolean() ? 0 : random.nextInt(40),
        access == Access.ARRAY ? 0 : random.nextInt(2),
        values);
  }

  /** A gain or bias of which each group of a row has a part. */
  private void ofGroup(Tensor tensor, boolean has) {
    if (has) {
      parameters.put(tensor, float64 ? new double[groups * width] : new float[groups * width]);
      Object numbers = parameters.get(tensor);
      for (int i = 0; i < groups * width; i++) {
        Array.setFloat(numbers, i, (float) random.nextDouble(-2, 2));
      }
    }
  }

  private RowMemory ofGroups(Object numbers) {
    MemorySegment segment =
        numbers instanceof float[] floats
            ? MemorySegment.ofArray(floats)
            : MemorySegment.ofArray((double[]) numbers);
    ElementType type = float64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
    return new RowMemory(segment, type, (long) width * type.bytes(), groups, 0, true);
  }

  /** A gain or bias. */
  private Object column(boolean notZero) {
    Object numbers = float64 ? new double[length()] : new float[length()];
    boolean special = random.nextInt(8) == 0;
    double[] specials = {Double.NaN, Double.POSITIVE_INFINITY, notZero ? 1 : 0, 1e-40, 3e38};
    for (int i = 0; i < Array.getLength(numbers); i++) {
      boolean one = special && random.nextInt(width) == 0;
      double number = one ? specials[random.nextInt(5)] : random.nextDouble(0.5, 2);
      number = random.nextBoolean() ? number : -number;
      if (numbers instanceof float[] floats) {
        floats[i] = (float) number;
      } else {
        ((double[]) numbers)[i] = number;
      }
    }
    return numbers;
  }

  /** Arrays of a call may be longer than the width. */
  private int length() {
    return ofNorm ? width : width + random.nextInt(9);
  }

  /** A number for each row, as a forward pass may keep it: some are out of the range of float32. */
  private double[] numbersOfRows(double size) {
    double[] numbers = new double[rows + random.nextInt(3)];
    for (int r = 0; r < numbers.length; r++) {
      boolean far = random.nextInt(3) == 0;
      double number = random.nextDouble(0.01, 100);
      double other = of(size * 1e-44, size * 1e44, Double.NaN, Double.POSITIVE_INFINITY);
      numbers[r] = far ? other : float64 ? number : (float) number;
    }
    return numbers;
  }

  /** Runs it on a back end, in memory of its own. Returns the bits of all that it may write. */
  Map<String, long[]> run(BackEnd backEnd) {
    try (Arena arena = Arena.ofConfined()) {
      Map<Tensor, MemorySegment> memory = new TreeMap<>();
      RowMemory[] ofCall = new RowMemory[Tensor.Access.ELEMENT.places()];
      operands.forEach(
          (tensor, drawn) -> {
            boolean shared = over != null && tensor.equals(formula.output());
            MemorySegment of = shared ? memory.get(over) : drawn.memory(arena, rows, width);
            memory.put(tensor, of);
            ofCall[tensor.place()] = drawn.in(of, rows, width);
          });
      parameters.forEach((tensor, numbers) -> ofCall[tensor.place()] = ofGroups(numbers));
      Map<String, long[]> bits = new TreeMap<>();
      double[] means = mean == null ? null : mean.clone();
      double[] rstds = rstd == null ? null : rstd.clone();
      NormColumns kept = ofNorm ? new NormColumns() : null;
      Plans plans = new Plans(List.of(backEnd, new PlainBackEnd()));
      double[][] numbers = Call.numbers(means, rstds);
      double[][] taken = given ? null : numbers;
      double[][] known = given ? numbers : null;
      try (Call call =
          new Call(choices, formula, ofCall, columns[0], columns[1], kept, taken, known)) {
        if (formula instanceof BackwardFormula) {
          int apart = ofGroups ? groups : 1;
          SumsOverRows.run(
              call,
              plans,
              rows,
              1,
              1,
              apart,
              (dgain, dbias, at, sample) -> {
                add(bits, "dgain", dgain, apart * width);
                add(bits, "dbias", dbias, apart * width);
              });
        } else {
          Runner.run(call, plans, rows, 1);
        }
      }
      add(bits, "mean", means, mean == null ? 0 : mean.length);
      add(bits, "rstd", rstds, rstd == null ? 0 : rstd.length);
      operands.forEach((tensor, drawn) -> bits.put(tensor.name(), drawn.bits(memory.get(tensor))));
      return bits;
    }
  }

  private static void add(Map<String, long[]> bits, String name, Object numbers, int n) {
    long[] of = new long[numbers == null ? 0 : n];
    for (int i = 0; i < of.length; i++) {
      of[i] = Double.doubleToLongBits(Array.getDouble(numbers, i));
    }
    bits.put(name, of);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(name + ", " + rows + " x " + width + ", " + choices);
    operands.forEach((tensor, drawn) -> text.append(", ").append(tensor).append(' ').append(drawn));
    return text
        + ", "
        + parameters.keySet()
        + " of groups, over "
        + over
        + ", of the norm "
        + ofNorm
        + ", "
        + formula;
  }
}
