package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import java.util.Arrays;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A call of a norm, everything about it said. Its text is its name, and the seed of its numbers.
 *
 * @param spec the norm's choices
 * @param x the type of x
 * @param y the type of y and dy
 * @param other the type of a residual or a gate and of what belongs to them, and of a gain and a
 *     bias that come with the call
 * @param keep what a backward call goes back from
 */
record NormCall(
    NormSpec spec,
    ElementType x,
    ElementType y,
    ElementType other,
    int rows,
    int width,
    Keep keep,
    Set<Trait> traits) {
  private static final int SAMPLES = 3;

  /** A forward call of rows of one type. */
  static NormCall of(NormSpec spec, ElementType type, int rows, int width, Trait... traits) {
    return new NormCall(spec, type, type, type, rows, width, Keep.INPUT, Set.of(traits));
  }

  NormCall with(Trait... more) {
    Set<Trait> all = new TreeSet<>(traits);
    all.addAll(Arrays.asList(more));
    return new NormCall(spec, x, y, other, rows, width, keep, all);
  }

  NormCall with(NormSpec otherSpec) {
    return new NormCall(otherSpec, x, y, other, rows, width, keep, traits);
  }

  NormCall to(ElementType type) {
    return new NormCall(spec, x, type, other, rows, width, keep, traits);
  }

  NormCall beside(ElementType type) {
    return new NormCall(spec, x, y, type, rows, width, keep, traits);
  }

  NormCall from(Keep kept) {
    return new NormCall(spec, x, y, other, rows, width, kept, traits).with(Trait.BACKWARD);
  }

  boolean has(Trait trait) {
    return traits.contains(trait);
  }

  boolean isGated() {
    return spec.gate() != Gate.NONE;
  }

  /** Whether mean and rstd are looked at. */
  boolean keeps() {
    return has(Trait.KEPT) || has(Trait.BACKWARD);
  }

  int groups() {
    return spec.groups().count(width);
  }

  /** Elements of the gain, of the bias and of their gradients. */
  int parameters() {
    return has(Trait.OF_GROUP) ? width / groups() : width;
  }

  /** Whether gain and bias come with the call. */
  boolean hasOwnParameters() {
    return has(Trait.OF_CALL) || has(Trait.OF_SAMPLES);
  }

  /** Rows of the gain, of the bias and of their gradients. */
  int samples() {
    return has(Trait.OF_SAMPLES) ? SAMPLES : 1;
  }

  /** The type of the arithmetic. */
  ElementType arithmetic() {
    return x == ElementType.FLOAT64 ? x : ElementType.FLOAT32;
  }

  SplittableRandom random() {
    return new SplittableRandom(toString().hashCode());
  }

  /** The norm. */
  Norm norm(Backend backend) {
    SplittableRandom random = random();
    NormBuilder<?> builder = spec.builder(width).threads(1).backend(backend);
    if (has(Trait.GAIN) && !hasOwnParameters()) {
      builder.gain(numbers(random));
    }
    if (has(Trait.BIAS) && !hasOwnParameters()) {
      builder.bias(numbers(random));
    }
    return builder.build();
  }

  /** A gain or a bias, without elements near 0, which a backward call from the output needs. */
  double[] numbers(SplittableRandom random) {
    double[] numbers = new double[samples() * parameters()];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = (float) random.nextDouble(0.5, 2) * (random.nextBoolean() ? 1 : -1);
    }
    return numbers;
  }

  /** For example {@code llama, bfloat16 to float32, 3 x 96, gain, apart}. */
  @Override
  public String toString() {
    String types = x == y ? x.toString() : x + " to " + y;
    boolean hasOther = isGated() || has(Trait.RESIDUAL) || hasOwnParameters();
    String beside = hasOther ? " beside " + other : "";
    String back = has(Trait.BACKWARD) ? ", from " + keep : "";
    String more = traits.stream().sorted().map(trait -> ", " + trait).collect(Collectors.joining());
    return "%s, %s%s, %s x %s%s%s".formatted(spec, types, beside, rows, width, back, more);
  }
}
