package io.github.rmsnorm4j.cuda.ptx;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.interpret.GlobalMemory;
import io.github.rmsnorm4j.cuda.interpret.Grid;
import io.github.rmsnorm4j.cuda.interpret.PtxProgram;
import io.github.rmsnorm4j.cuda.interpret.Work;
import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.codec.Narrow;
import io.github.rmsnorm4j.internal.codec.Power;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleBinaryOperator;
import org.junit.jupiter.api.Test;

/** Single values on the interpreter are those of Java, for numbers at the ends of the types. */
class ValueCodeTest {
  private static final long SEED = 20261127;
  private static final int COUNT = 1 << 14;
  private static final double[] SPECIAL = {
    0.0,
    -0.0,
    1,
    -1,
    Double.NaN,
    Double.POSITIVE_INFINITY,
    Double.NEGATIVE_INFINITY,
    Float.MIN_VALUE,
    Float.MIN_NORMAL,
    Float.MAX_VALUE,
    65504,
    65519,
    65520,
    0x1p-24,
    0x1p-25,
    0x1.8p-25,
    0x1p-14,
    0x1.feffp127,
    0x1.ff0001p127,
    0x1p-133,
    0x1p-134,
    0x1.8p-134,
    1 + 0x1p-8,
    1 + 0x1.8p-7,
    1 + 0x1p-11,
    1 + 0x1.8p-10
  };

  /** Also what only float64 has: one more digit than a tie, and numbers beyond float32. */
  private static final double[] SPECIAL_FLOAT64 = {
    1 + 0x1p-8 + 0x1p-40,
    1 + 0x1p-11 + 0x1p-40,
    1e300,
    -1e300,
    1e-300,
    Double.MIN_VALUE,
    0x1.fffffffp127,
    0x1p128,
    0x1p-150,
    0x1p-149,
    65519.999999,
    Double.MAX_VALUE
  };

  private static final Value X = Value.element(Forward.X, ElementType.FLOAT32);
  private static final Value Y = Value.element(Backward.DY, ElementType.FLOAT32);
  private static final Value X64 = Value.element(Forward.X, ElementType.FLOAT64);
  private static final Value Y64 = Value.element(Backward.DY, ElementType.FLOAT64);

  @Test
  void extremesAreThoseOfJava() {
    check(X.max(Y), (a, b) -> Math.max((float) a, (float) b));
    check(X.min(Y), (a, b) -> Math.min((float) a, (float) b));
    check(X64.max(Y64), Math::max);
    check(X64.min(Y64), Math::min);
    for (float literal : new float[] {0f, -0f, 1f}) {
      check(X.max(Value.floatLiteral(literal)), (a, b) -> Math.max((float) a, literal));
      check(X.min(Value.floatLiteral(literal)), (a, b) -> Math.min((float) a, literal));
      check(X64.max(Value.literal(literal)), (a, b) -> Math.max(a, literal));
      check(X64.min(Value.literal(literal)), (a, b) -> Math.min(a, literal));
    }
  }

  @Test
  void castsRoundOnce() {
    for (ElementType type : List.of(ElementType.FLOAT16, ElementType.BFLOAT16)) {
      check(X.cast(type), (a, b) -> Narrow.round((float) a, type));
      check(X64.cast(type), (a, b) -> Narrow.round(a, type));
    }
    check(X64.rounded(), (a, b) -> (float) a);
    check(X.widened(), (a, b) -> (float) a);
  }

  @Test
  void arithmeticIsThatOfJava() {
    check(X.plus(Y), (a, b) -> (float) a + (float) b);
    check(X.minus(Y), (a, b) -> (float) a - (float) b);
    check(X.times(Y), (a, b) -> (float) a * (float) b);
    check(X.over(Y), (a, b) -> (float) a / (float) b);
    check(X64.over(Y64), (a, b) -> a / b);
    check(X.fma(Y, Value.floatLiteral(3)), (a, b) -> Math.fma((float) a, (float) b, 3f));
    check(X.fma(Y, X), (a, b) -> Math.fma((float) a, (float) b, (float) a));
    check(X64.fma(Y64, X64), (a, b) -> Math.fma(a, b, a));
    check(X64.root(), (a, b) -> Math.sqrt(a));
    check(X64.above(Y64, X64, Value.literal(7)), (a, b) -> a > b ? a : 7);
    check(X64.atLeast(Y64, X64, Value.literal(7)), (a, b) -> a >= b ? a : 7);
    Value shift = Value.floatLiteral(0x1.8p23f);
    Value whole = X.min(Value.floatLiteral(99)).max(Value.floatLiteral(-99)).plus(shift);
    check(
        whole.power(),
        (a, b) -> {
          float shifted = Math.max(Math.min((float) a, 99), -99) + 0x1.8p23f;
          return shifted != shifted ? Double.NaN : Power.of(shifted);
        });
  }

  /** Compares a value with a function of x and y, for many numbers. */
  private static void check(Value value, DoubleBinaryOperator wanted) {
    boolean reads64 = value.text().contains("[i]") && reads(value, ElementType.FLOAT64);
    ElementType in = reads64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
    SplittableRandom random = new SplittableRandom(SEED);
    double[] x = new double[COUNT];
    double[] y = new double[COUNT];
    for (int i = 0; i < COUNT; i++) {
      x[i] = in.round(number(random, reads64));
      y[i] = in.round(number(random, reads64));
    }
    double[] results = run(value, in, x, y);
    boolean power = value.kind() == Value.Kind.POWER;
    for (int i = 0; i < COUNT; i++) {
      double other = wanted.applyAsDouble(x[i], y[i]);
      if (power && other != other) {
        continue; // Any number.
      }
      assertThat(Double.doubleToLongBits(results[i]))
          .as("%s of %s and %s is %s, wanted %s", value, x[i], y[i], results[i], other)
          .isEqualTo(Double.doubleToLongBits(other));
    }
  }

  private static boolean reads(Value value, ElementType type) {
    return value.kind() == Value.Kind.ELEMENT && value.type() == type
        || value.operands().stream().anyMatch(of -> reads(of, type));
  }

  private static double number(SplittableRandom random, boolean float64) {
    int kind = random.nextInt(4);
    double special = SPECIAL[random.nextInt(SPECIAL.length)];
    special = random.nextBoolean() ? -special : special;
    return switch (kind) {
      case 0 -> special;
      case 1 -> float64 ? SPECIAL_FLOAT64[random.nextInt(SPECIAL_FLOAT64.length)] : special;
      case 2 -> Float.intBitsToFloat(random.nextInt());
      default -> Math.scalb(random.nextDouble(-2, 2), random.nextInt(-30, 30));
    };
  }

  /** Runs a kernel that stores the value, as float64, of each pair of numbers. */
  private static double[] run(Value value, ElementType in, double[] x, double[] y) {
    PtxText text = new PtxText();
    KernelParameters parameters = new KernelParameters();
    RowPlaces places = new RowPlaces(text);
    List<Tensor> tensors = List.of(Forward.X, Forward.Y, Backward.DY);
    tensors.forEach(tensor -> RowPlaces.declareRows(parameters, tensor));
    places.addRows(Forward.X, in);
    places.addRows(Backward.DY, in);
    places.addRows(Forward.Y, ElementType.FLOAT64);
    String block = text.compute(Kind.B32, "mov.u32", "%ctaid.x");
    String thread = text.compute(Kind.B32, "mov.u32", "%tid.x");
    String index = text.compute(Kind.B32, "mad.lo.u32", block, "32", thread);
    places.moveTo("0");
    Accesses accesses = new Accesses(text);
    ValueCode code =
        ValueCode.ofRow(
                text,
                new Numbers(text),
                element -> accesses.load(places.inGlobal(element.tensor()), 0),
                places::computed)
            .ofElement(
                element -> accesses.load(places.inGlobal(element.tensor()).at(text, index, 1), 0));
    ElementType computed = value.computeType();
    String number = code.stored(value, computed, ElementType.FLOAT64);
    accesses.store(places.inGlobal(Forward.Y).at(text, index, 1), number);
    text.put("ret");
    GlobalMemory memory = new GlobalMemory();
    ByteBuffer out = ByteBuffer.allocate(COUNT * Double.BYTES).order(ByteOrder.nativeOrder());
    Arguments arguments =
        new Arguments(parameters)
            .rows(Forward.X, memory.allocate("x", bytes(x, in), true), 0, 0, 0)
            .rows(Backward.DY, memory.allocate("y", bytes(y, in), true), 0, 0, 0)
            .rows(Forward.Y, memory.allocateUnwritten("out", out.array()), 0, 0, 0);
    PtxProgram program = PtxProgram.of(PtxKernel.module("value", parameters, false, 32, text));
    Work work = new Work(1L << 30);
    new Grid(program, memory, COUNT / 32, 32, 0, arguments.bytes(), false, work).run();
    double[] results = new double[COUNT];
    out.asDoubleBuffer().get(results);
    return results;
  }

  private static byte[] bytes(double[] numbers, ElementType type) {
    ByteBuffer bytes =
        ByteBuffer.allocate(numbers.length * type.bytes()).order(ByteOrder.nativeOrder());
    for (double number : numbers) {
      if (type == ElementType.FLOAT64) {
        bytes.putDouble(number);
      } else {
        bytes.putFloat((float) number);
      }
    }
    return bytes.array();
  }
}
