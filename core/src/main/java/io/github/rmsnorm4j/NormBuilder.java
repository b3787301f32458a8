package io.github.rmsnorm4j;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Collects the choices of a norm. A builder is not for use by several threads at once; the norm
 * that it builds is.
 *
 * @param <B> the builder's own type
 */
public abstract sealed class NormBuilder<B extends NormBuilder<B>>
    permits RmsNorm.Builder, LayerNorm.Builder, L2Norm.Builder {
  final int width;

  NormSpec spec;
  @Nullable Parameter gain;
  @Nullable Parameter bias;
  int threads = Runtime.getRuntime().availableProcessors();
  boolean safe;
  @Nullable Backend backend;
  @Nullable Quantizer quantizer;

  NormBuilder(NormSpec spec, NormSpec.Kind kind, int width) {
    if (Objects.requireNonNull(spec, "spec is null").kind() != kind) {
      throw new IllegalArgumentException("spec is " + spec + ", it must be of kind " + kind);
    }
    if (width < 1) {
      throw new IllegalArgumentException("width is " + width + ", it must be at least 1");
    }
    spec.part().elements(width);
    spec.groups().count(width);
    this.width = width;
    this.spec = spec;
  }

  /** Each builder has itself as B. */
  @SuppressWarnings("unchecked")
  final B self() {
    return (B) this;
  }

  /**
   * {@return an immutable norm with the choices made so far}
   *
   * @throws IllegalArgumentException if two choices exclude each other, or gain or bias have
   *     neither the width of the norm nor that of a group
   */
  public abstract Norm build();

  final NormSpec spec() {
    return spec;
  }

  final B with(NormSpec spec) {
    this.spec = spec;
    return self();
  }

  final int width() {
    return width;
  }

  /**
   * The epsilon. It is added to the mean square, or to the variance, inside the root, unless {@link
   * #epsilonPlacement} says otherwise.
   *
   * @param epsilon finite and not negative; 0 is allowed, then a row of zeros becomes NaN
   * @return this
   * @throws IllegalArgumentException if it is negative, infinite or NaN
   */
  public B epsilon(double epsilon) {
    return with(spec.withEpsilon(epsilon));
  }

  /**
   * Where epsilon goes.
   *
   * @param placement {@link EpsilonPlacement#INSIDE} the root by default
   * @return this
   */
  public B epsilonPlacement(EpsilonPlacement placement) {
    return with(spec.withEpsilonPlacement(placement));
  }

  /**
   * What is added to every element of a gain, in the compute type: 1 for models that store {@code
   * gain - 1}, as Gemma does. Without a gain it has no effect.
   *
   * @param offset finite; 0 by default
   * @return this
   * @throws IllegalArgumentException if it is infinite or NaN
   */
  public B gainOffset(double offset) {
    return with(spec.withGainOffset(offset));
  }

  /**
   * When {@link Norm#addAndApply} rounds the sum of row and residual to the residual's type.
   *
   * @param rounding {@link ResidualRounding#FIRST} by default
   * @return this
   */
  public B residualRounding(ResidualRounding rounding) {
    return with(spec.withResidualRounding(rounding));
  }

  /**
   * Whether {@link Norm#applyGated} multiplies the norm, or its input, by the activation of a
   * second row.
   *
   * @param gate {@link Gate#NONE} by default
   * @return this
   * @throws IllegalArgumentException if this is a LayerNorm and the gate before it
   */
  public B gate(Gate gate) {
    return with(spec.withGate(gate));
  }

  /**
   * How many groups a row has. Each has a statistic of its own: the norm is that of rows of {@code
   * width / count} elements. Gain and bias have an element for each element of a row, or for each
   * element of a group if all groups share them.
   *
   * @param count of groups, 1 by default
   * @return this
   * @throws IllegalArgumentException if it does not divide the width, or the norm is partial
   */
  public B groupCount(int count) {
    return groups(RowGroups.ofCount(count));
  }

  /**
   * How many elements a group of a row has; see {@link #groupCount}. For a norm per head, rows of
   * all heads of a token have groups of the size of a head.
   *
   * @param size elements of a group, the width by default
   * @return this
   * @throws IllegalArgumentException if it does not divide the width, or the norm is partial
   */
  public B groupSize(int size) {
    return groups(RowGroups.ofSize(size));
  }

  private B groups(RowGroups groups) {
    groups.count(width);
    return with(spec.withGroups(groups));
  }

  /**
   * The learned factor of each element of a row. Without a gain there is no multiplication.
   *
   * <p>Machine code reads gain and bias from native memory. All norms of a process together keep 32
   * MiB of such copies; the calls of norms beyond that copy gain and bias each time.
   *
   * @param gain as many elements as a row, or as a group; copied
   * @return this
   * @throws IllegalArgumentException if the length does not divide the width
   */
  public B gain(float[] gain) {
    this.gain = parameter(gain, "gain");
    return self();
  }

  /**
   * The gain in float64. For float32 arithmetic it is rounded to float32.
   *
   * @param gain as many elements as a row, or as a group; copied
   * @return this
   * @throws IllegalArgumentException if the length does not divide the width
   */
  public B gain(double[] gain) {
    this.gain = Parameter.of(NormArguments.requireArray(gain, width, spec.groups(), "gain"));
    return self();
  }

  /**
   * The gain in any memory and type. {@link Norm#withParameters} takes one that is not copied.
   *
   * @param gain one row of the width of the norm or of a group; copied
   * @return this
   * @throws IllegalArgumentException if it is not one row, or its width does not divide the norm's
   */
  public B gain(Rows gain) {
    this.gain = oneRow(gain, "gain");
    return self();
  }

  /**
   * The learned term added to each element of a row. Without a bias there is no addition.
   *
   * @param bias as many elements as a row, or as a group; copied
   * @return this
   * @throws IllegalArgumentException if the length does not divide the width
   */
  public B bias(float[] bias) {
    this.bias = parameter(bias, "bias");
    return self();
  }

  /**
   * The bias in float64. For float32 arithmetic it is rounded to float32.
   *
   * @param bias as many elements as a row, or as a group; copied
   * @return this
   * @throws IllegalArgumentException if the length does not divide the width
   */
  public B bias(double[] bias) {
    this.bias = Parameter.of(NormArguments.requireArray(bias, width, spec.groups(), "bias"));
    return self();
  }

  /**
   * The bias in any memory and type. {@link Norm#withParameters} takes one that is not copied.
   *
   * @param bias one row of the width of the norm or of a group; copied
   * @return this
   * @throws IllegalArgumentException if it is not one row, or its width does not divide the norm's
   */
  public B bias(Rows bias) {
    this.bias = oneRow(bias, "bias");
    return self();
  }

  /**
   * The largest number of threads of a call, including the caller's. A call uses fewer threads if
   * each would have less than about a MiB to read and write. The default is the number of
   * processors. The other threads are daemon threads of the library, which all norms share. After a
   * call they stay awake for 50 microseconds, so that the next call need not wake them.
   *
   * @param threads 1 or more; 1 for programs that share out rows among their own threads
   * @return this
   * @throws IllegalArgumentException if it is below 1
   */
  public B threads(int threads) {
    if (threads < 1) {
      throw new IllegalArgumentException("threads is " + threads + ", it must be at least 1");
    }
    this.threads = threads;
    return self();
  }

  /**
   * Copies rows in native memory through a small buffer, with calls that check every access. Then a
   * segment that another thread closes during a call gives an exception. Without {@code safe()} it
   * can end the JVM. The copies take time.
   *
   * @return this
   */
  public B safe() {
    this.safe = true;
    return self();
  }

  /**
   * Chooses what the kernels run on. The result does not depend on it.
   *
   * @param backend the default is {@link Backend#best()}
   * @return this
   */
  public B backend(Backend backend) {
    this.backend = backend;
    return self();
  }

  /**
   * The rule by which calls with {@link QuantizedRows} quantise. A rule says nothing of the norm:
   * to get the codes of another system, also set the cast order and the rounding of the residual
   * that the rule names.
   *
   * @param quantizer {@link Quantizer#defaults()} by default
   * @return this
   */
  public B quantizer(Quantizer quantizer) {
    this.quantizer = NormArguments.requireNonNull(quantizer, "quantizer");
    return self();
  }

  /** The usual length needs no class that checks others. */
  private Parameter parameter(float[] values, String name) {
    if (values == null || values.length != width) {
      NormArguments.requireArray(values, width, spec.groups(), name);
    }
    return Parameter.of(values);
  }

  private Parameter oneRow(Rows parameter, String name) {
    if (NormArguments.requireNonNull(parameter, name).rows() != 1) {
      throw new IllegalArgumentException(
          name + " has " + parameter.rows() + " rows, it must be one row");
    }
    NormArguments.requireDivisor(parameter.width(), width, spec.groups(), name);
    NormArguments.requireAccess(parameter, name);
    return Parameter.of(parameter);
  }
}
