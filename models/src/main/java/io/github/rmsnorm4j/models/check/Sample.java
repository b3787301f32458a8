package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Rows of X and Y side by side, without gaps, with the parameters of the norm and its residual. */
public final class Sample {
  final Rows x;
  final Rows residual;

  /** What came out; of codes and scales their numbers. */
  final Rows y;

  /** What came out as codes and scales, or null. */
  final QuantizedRows codes;

  final Rows gain;
  final Rows bias;

  /** Where each row is in the file. */
  final long[] numbers;

  /** What several norms need, made once. */
  private final Map<Object, Object> made = new HashMap<>();

  private Sample(
      Rows x, Rows residual, Rows y, QuantizedRows codes, Rows gain, Rows bias, long[] numbers) {
    this.x = x;
    this.residual = residual;
    this.y = y;
    this.codes = codes;
    this.gain = gain;
    this.bias = bias;
    this.numbers = numbers;
  }

  /**
   * {@return rows to compare}
   *
   * @param x what went in
   * @param residual what was added to it, or null
   * @param y what came out
   * @param gain the gain as stored, or null; as wide as a row
   * @param bias the bias, or null
   * @param numbers the number of each row, to name it
   * @throws IllegalArgumentException if the width is 1, or a parameter has another width or is not
   *     finite
   */
  public static Sample of(Rows x, Rows residual, Rows y, Rows gain, Rows bias, long[] numbers) {
    if (x.width() < 2) {
      throw new IllegalArgumentException(
          "the width is %s, it must be 2 or more: a row of one element tells nothing"
              .formatted(x.width()));
    }
    requireParameter("gain", gain, x.width());
    requireParameter("bias", bias, x.width());
    return new Sample(x, residual, y, null, gain, bias, numbers);
  }

  /**
   * {@return rows of which codes and scales came out}
   *
   * @param x what went in
   * @param residual what was added to it, or null
   * @param y what came out
   * @param gain the gain as stored, or null; as wide as a row
   * @param bias the bias, or null
   * @param numbers the number of each row, to name it
   * @throws IllegalArgumentException as for rows that came out as numbers
   */
  public static Sample of(
      Rows x, Rows residual, QuantizedRows y, Rows gain, Rows bias, long[] numbers) {
    Rows values = memory(ElementType.FLOAT32, y.rows(), y.width());
    y.dequantize(values);
    Sample sample = of(x, residual, values, gain, bias, numbers);
    return new Sample(x, residual, values, y, sample.gain, sample.bias, numbers);
  }

  private static void requireParameter(String name, Rows values, int width) {
    if (values != null && values.width() != width) {
      throw new IllegalArgumentException(
          "the %s has %s elements, it must have one for each of the %s of a row"
              .formatted(name, values.width(), width));
    }
    if (values != null && !elements(values).allMatch(Double::isFinite)) {
      throw new IllegalArgumentException("the " + name + " holds NaN or infinity");
    }
  }

  /**
   * Checks that the rows can tell anything.
   *
   * @throws IllegalArgumentException if they cannot
   */
  void requireTelling() {
    if (elements(x).noneMatch(value -> Double.isFinite(value) && value != 0)) {
      throw new IllegalArgumentException(
          "no row can be used: every element of X is 0 or not finite");
    }
    double first = y.type().get(y.segment(), 0);
    if (elements(y).allMatch(value -> value == first || Double.compare(value, first) == 0)) {
      throw new IllegalArgumentException(
          codes == null
              ? "every element of Y is %s, that tells nothing".formatted(first)
              : "every code of Y is 0, that tells nothing");
    }
  }

  int width() {
    return x.width();
  }

  int rows() {
    return (int) x.rows();
  }

  /** Rows of this sample that are spread over it. */
  Sample few(int count) {
    return pick(
        LongStream.of(spread(rows(), Math.min(count, rows())))
            .mapToInt(Math::toIntExact)
            .toArray());
  }

  /**
   * {@return rows that are spread over all, one of each of {@code count} equal parts, in their
   * order} Their distances differ, so that an error at a regular distance has its share of them.
   * Equal arguments give equal rows.
   *
   * @param rows the number of all rows
   * @param count how many are taken, at most {@code rows}
   */
  public static long[] spread(long rows, int count) {
    SplittableRandom random = new SplittableRandom(count);
    long[] spread = new long[count];
    for (int i = 0; i < count; i++) {
      spread[i] = random.nextLong(part(rows, i, count), part(rows, i + 1, count));
    }
    return spread;
  }

  /** Where a part begins; the product of both may be above a long. */
  private static long part(long rows, int i, int count) {
    return rows / count * i + rows % count * i / count;
  }

  /** Some of the rows; this sample if these are all. */
  Sample pick(int[] rows) {
    return rows.length == rows()
        ? this
        : new Sample(
            pick(x, rows),
            pick(residual, rows),
            pick(y, rows),
            pickCodes(rows),
            gain,
            bias,
            IntStream.of(rows).mapToLong(row -> numbers[row]).toArray());
  }

  private static Rows pick(Rows of, int[] rows) {
    return of == null
        ? null
        : Rows.of(
            pick(of.segment(), rows, (long) of.width() * of.type().bytes()),
            of.type(),
            rows.length,
            of.width());
  }

  private QuantizedRows pickCodes(int[] rows) {
    if (codes == null) {
      return null;
    }
    MemorySegment bytes = pick(codes.codes(), rows, codes.type().rowBytes(width()));
    long scales = codes.type().scales(width()) * (long) Float.BYTES;
    return codes.scales() == null
        ? QuantizedRows.of(bytes, codes.type(), rows.length, width())
        : QuantizedRows.of(
            bytes, pick(codes.scales(), rows, scales), codes.type(), rows.length, width());
  }

  /** Codes and scales of the type and shape of Y. */
  QuantizedRows emptyCodes() {
    long scales = codes.type().scales(width()) * rows() * (long) Float.BYTES;
    MemorySegment bytes = memory(codes.codes().byteSize());
    return codes.scales() == null
        ? QuantizedRows.of(bytes, codes.type(), rows(), width())
        : QuantizedRows.of(bytes, memory(scales), codes.type(), rows(), width());
  }

  /** What the norm is given besides X. */
  List<String> given() {
    List<String> given = new ArrayList<>();
    if (gain != null) {
      given.add("gain");
    }
    if (bias != null) {
      given.add("bias");
    }
    if (residual != null) {
      given.add("residual");
    }
    return given;
  }

  private static MemorySegment pick(MemorySegment of, int[] rows, long bytes) {
    MemorySegment picked = memory(rows.length * bytes);
    for (int i = 0; i < rows.length; i++) {
      MemorySegment.copy(of, rows[i] * bytes, picked, i * bytes, bytes);
    }
    return picked;
  }

  /** The same rows without a gain, or without a bias. */
  Sample without(boolean noGain, boolean noBias) {
    return new Sample(x, residual, y, codes, noGain ? null : gain, noBias ? null : bias, numbers);
  }

  /** Whether every row of Y is that of X, rounded to the type of Y. */
  boolean isUnchanged() {
    return codes == null
        && residual == null
        && IntStream.range(0, rows() * width())
            .allMatch(
                i -> y.type().round(x.type().get(x.segment(), i)) == y.type().get(y.segment(), i));
  }

  /** What the rows may have been when the norm saw them: as stored, or rounded first. */
  Set<ElementType> inputs() {
    Set<ElementType> inputs = new LinkedHashSet<>(List.of(x.type()));
    outputs().stream().filter(type -> type.bytes() < x.type().bytes()).forEach(inputs::add);
    if (codes == null) {
      inputs.addAll(narrower(x));
    }
    return inputs;
  }

  /** What the output may have been rounded to. */
  Set<ElementType> outputs() {
    Set<ElementType> outputs = new LinkedHashSet<>(List.of(y.type()));
    if (codes == null) {
      outputs.addAll(narrower(y));
    }
    return outputs;
  }

  /** Narrower types that hold every number. */
  @SuppressWarnings("unchecked")
  private List<ElementType> narrower(Rows rows) {
    return once(
        List.of("narrower", rows),
        () ->
            Stream.of(ElementType.BFLOAT16, ElementType.FLOAT16, ElementType.FLOAT32)
                .filter(type -> type.bytes() < rows.type().bytes())
                .filter(type -> elements(rows).allMatch(v -> isHeld(v, type)))
                .toList());
  }

  private static boolean isHeld(double value, ElementType type) {
    return Double.isNaN(value) || type.round(value) == value;
  }

  /** Whether X, as stored, holds numbers of a type alone. */
  boolean holds(ElementType type) {
    return type.bytes() >= x.type().bytes() || narrower(x).contains(type);
  }

  /** The narrowest type that holds the residual. */
  ElementType residualType() {
    List<ElementType> narrower = narrower(residual);
    return narrower.isEmpty() ? residual.type() : narrower.getFirst();
  }

  /** X or Y in another type. */
  Rows as(Rows rows, ElementType type) {
    return rows.type() == type ? rows : once(List.of(rows, type), () -> converted(rows, type));
  }

  private static Rows converted(Rows rows, ElementType type) {
    Rows converted = memory(type, rows.rows(), rows.width());
    for (long i = 0; i < rows.rows() * rows.width(); i++) {
      type.set(converted.segment(), i, rows.type().get(rows.segment(), i));
    }
    return converted;
  }

  /** X of a type plus the residual, in the type of the sum. */
  Rows sum(ElementType input, ElementType type) {
    return once(
        List.of("sum", input, type),
        () -> {
          Rows sum = converted(residual, type);
          Rows scratch = memory(type, x.rows(), width());
          NormSpec.RMSNORM
              .builder(width())
              .threads(1)
              .backend(Backend.scalar())
              .build()
              .addAndApply(as(x, input), sum, scratch);
          return sum;
        });
  }

  /** The places of the elements of Y among the numbers of a type. */
  long[] ordinals(ElementType type) {
    return once(List.of("ordinals", type), () -> Ordinals.of(as(y, type)));
  }

  @SuppressWarnings("unchecked")
  private <T> T once(Object key, Supplier<T> make) {
    Object known = made.get(key);
    if (known == null) {
      known = make.get();
      made.put(key, known);
    }
    return (T) known;
  }

  static Rows memory(ElementType type, long rows, int width) {
    return Rows.of(memory(rows * width * type.bytes()), type, rows, width);
  }

  private static MemorySegment memory(long bytes) {
    return MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]);
  }

  /** The elements of rows without gaps. */
  static DoubleStream elements(Rows rows) {
    return LongStream.range(0, rows.rows() * rows.width())
        .mapToDouble(i -> rows.type().get(rows.segment(), i));
  }
}
