package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.norm.Payoff;
import org.jspecify.annotations.Nullable;

/**
 * A normalisation of rows: {@link RmsNorm}, {@link LayerNorm} or {@link L2Norm}, with its width,
 * epsilon, gain and bias.
 *
 * <p><b>Threads.</b> A norm is immutable and may be used by any number of threads at once. A call
 * spreads its rows over up to {@link NormBuilder#threads(int)} threads, the caller among them, and
 * returns when all rows are written. An interrupt does not stop it and is still set when it
 * returns.
 *
 * <p><b>The same bits everywhere.</b> The result of a row depends on the row, the choices of the
 * norm, the gain, the bias and a given statistic alone. It does not depend on threads, on other
 * rows, on the place of the row in memory, or on the {@link Backend}. A NaN is a NaN everywhere;
 * its sign and payload in float32 and float64 are not specified.
 *
 * <p><b>Types.</b> Arithmetic is float32, or float64 if the input is float64. Row statistics are
 * always float64. The type of the output may differ from that of the input: a narrower output is
 * rounded once, a wider output holds the same value. Gain and bias are rounded to the compute type.
 *
 * <p><b>Samples.</b> Gain and bias of {@link #withParameters} have one row, or both a row for each
 * of S samples. Then x has the rows of each sample one after the other, as many of each: row i
 * takes row {@code i * S / rows} of gain and bias. With gain offset 1 that is the modulated norm of
 * diffusion transformers, {@code norm(x) * (1 + s) + t}, rounded once. A norm of groups takes one
 * row only.
 *
 * <p><b>Aliasing.</b> If x and y are the same rows of the same memory, the norm works in place.
 * Otherwise no row of y may share memory with a row of x, and none with the caller's gain or bias.
 * Rows that interleave without sharing memory are allowed.
 *
 * <p><b>Gates.</b> A norm with a {@link Gate} reads a second row z. It has the calls with z alone,
 * {@link #applyGated} and {@link #backwardGated}; all others throw an {@link
 * IllegalArgumentException}.
 *
 * <p><b>Errors.</b> A call checks its arguments before it writes. A null argument is a {@link
 * NullPointerException} unless it may be null; shapes, types or overlaps that do not fit are an
 * {@link IllegalArgumentException}. Memory that is closed is an {@link IllegalStateException}, and
 * memory confined to another thread a {@link WrongThreadException}. Rows in a mapped file that
 * somebody makes shorter during the call end it with an {@link InternalError}; the JVM keeps
 * running.
 *
 * <p><b>Values.</b> NaN and infinity propagate as the formula gives them; nothing is clamped. The
 * statistic of a finite float32 row never overflows or underflows, whatever the scale of the row.
 * docs/numerics.md of the project defines every result to the bit.
 */
public abstract sealed class Norm permits RmsNorm, LayerNorm, L2Norm {
  private final int width;
  private final NormSpec spec;

  /** How many groups a row has, and elements of each; most norms have one group. */
  final int groups;

  final int groupWidth;

  final @Nullable Parameter gain;
  final @Nullable Parameter bias;

  /** Those of the caller, which calls have instead; null for the norm's own. */
  final @Nullable Rows givenGain;

  final @Nullable Rows givenBias;

  /** The norm of which this is a view with gain or bias of the caller; null of a norm as built. */
  private final @Nullable Norm source;

  final int threads;
  private final boolean safe;

  /** Null for the best, which takes time to find. */
  private final @Nullable Backend backend;

  /** Null for the default. */
  private final @Nullable Quantizer quantizer;

  /** The elements of the statistic of a row. */
  final int part;

  /** Null if this norm has none, as with gain or bias of the caller. */
  final @Nullable NormFirstTier first;

  /** Null before the first call of a back end, and in views, which have those of their source. */
  volatile @Nullable BackEndParts backEndParts;

  Norm(NormBuilder<?> builder) {
    width = builder.width;
    spec = builder.spec;
    spec.requireFormula(builder.bias != null);
    groups = spec.groups().count(width);
    groupWidth = width / groups;
    givenGain = null;
    givenBias = null;
    source = null;
    gain = builder.gain == null ? null : builder.gain.plus(spec.gainOffset());
    bias = builder.bias;
    requireLength(gain, "gain");
    requireLength(bias, "bias");
    if (gain != null && bias != null && gain.length() != bias.length()) {
      NormArguments.requireSameParameters(gain.length(), bias.length(), false);
    }
    threads = builder.threads;
    backend = builder.backend;
    safe = builder.safe;
    quantizer = builder.quantizer;
    part = spec.part().elements(groupWidth);
    first = backend == null || backend.startsPlain() ? firstTier(null) : null;
  }

  /** A view of a norm, with gain and bias of the caller; null for what the norm has. */
  Norm(Norm norm, @Nullable Rows gain, @Nullable Rows bias) {
    width = norm.width;
    spec = norm.spec;
    groups = norm.groups;
    groupWidth = norm.groupWidth;
    this.gain = norm.gain;
    this.bias = norm.bias;
    givenGain = gain == null ? norm.givenGain : gain;
    givenBias = bias == null ? norm.givenBias : bias;
    source = norm.source();
    threads = norm.threads;
    backend = norm.backend;
    safe = norm.safe;
    quantizer = norm.quantizer;
    part = norm.part;
    first = null;
  }

  abstract Norm view(@Nullable Rows gain, @Nullable Rows bias);

  /** The norm of which this is a view, or this norm itself. */
  final Norm source() {
    return source == null ? this : source;
  }

  /** The usual length needs no class that checks others. */
  private void requireLength(@Nullable Parameter parameter, String name) {
    if (parameter != null && parameter.length() != width) {
      NormArguments.requireParameter(parameter, width, groupWidth, name);
    }
  }

  /** The first tier; null if the norm has none. */
  final @Nullable NormFirstTier firstTier(@Nullable Payoff payoff) {
    int ofGain = gain == null ? 0 : gain.length();
    int ofBias = bias == null ? 0 : bias.length();
    ElementType type = gain == null ? null : gain.type();
    return FirstTier.isFit(spec, width, ofGain, type, ofBias)
        ? new NormFirstTier(this, payoff)
        : null;
  }

  /** Two threads may make them at once; the last ones stay. */
  final BackEndParts backEndParts() {
    if (source != null) {
      return source.backEndParts();
    }
    BackEndParts parts = backEndParts;
    if (parts == null) {
      parts = new BackEndParts(spec, groupWidth, part, backend(), safe);
      backEndParts = parts;
    }
    return parts;
  }

  /** The choices for rows of a type. */
  NormChoices choices(ElementType rows) {
    return backEndParts().choices(rows);
  }

  /**
   * {@return a builder of an L2 norm without gain and bias: {@link NormSpec#L2}, {@code x /
   * max(length, 1e-12)}}
   *
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1
   */
  public static L2Norm.Builder l2(int width) {
    return L2Norm.builder(width);
  }

  /** {@return the width of the rows, in elements} */
  public final int width() {
    return width;
  }

  /**
   * {@return the choices that decide the formula; {@link NormSpec#builder} begins an equal norm}
   */
  public final NormSpec spec() {
    return spec;
  }

  /**
   * {@return the number of learned numbers that calls of the norm read: the elements of its gain
   * and of its bias}
   */
  public final long parameterCount() {
    return (long) GainAndBias.length(givenGain, gain) + GainAndBias.length(givenBias, bias);
  }

  /** {@return the rule by which output becomes codes and scales, where a call wants these} */
  public final Quantizer quantizer() {
    return quantizer == null ? Quantizer.DEFAULTS : quantizer;
  }

  /** {@return the backend, which the kernels run on} */
  public final Backend backend() {
    return backend == null ? Backend.best() : backend;
  }

  /**
   * {@return this norm with a gain and a bias of the caller's memory, instead of the norm's own}
   * Each call reads them there. Nothing is copied, so a call sees what was written since the last
   * one: an optimizer updates the gain in place, and a modulated norm has a gain and a bias for
   * each sample.
   *
   * <pre>{@code
   * Norm modulated = norm.withParameters(scale, shift);   // samples x width each
   * modulated.apply(x, y, saved);
   * modulated.backward(dy, saved, dx, ParameterGradients.assigned(dscale, dshift));
   * }</pre>
   *
   * <p>The norm that is returned is one small object. It shares the kernels of this norm, which
   * need not be compiled again, and {@link Saved} objects: a backward pass has the gain and bias of
   * its forward call, whichever of these norms it is called on. The {@linkplain
   * NormBuilder#gainOffset gain offset} is added to the caller's gain, too. What is null stays as
   * it is in this norm. So a norm with a bias takes a gain of several samples only together with a
   * bias.
   *
   * <p>They must not change during a call, or between a forward call and its backward call. No call
   * may write over them. Calls check whether their memory is closed or confined to another thread.
   *
   * @param gain one row of the norm's width or of that of a group, or a row for each sample, of any
   *     type; null for what this norm has
   * @param bias as many rows; null for what this norm has
   * @throws IllegalArgumentException if they do not fit the norm or each other, or the norm takes
   *     no bias
   */
  public final Norm withParameters(@Nullable Rows gain, @Nullable Rows bias) {
    if (gain == null && bias == null) {
      return this;
    }
    Norm view = view(gain, bias);
    ForwardArguments.checkShapes(this, view.givenGain, view.givenBias);
    return view;
  }

  /**
   * Normalises whole float32 arrays: any number of rows of the norm's width.
   *
   * @param x the rows
   * @param y where the result goes; x itself for in place
   * @throws IllegalArgumentException if the lengths differ or are not a multiple of the width
   */
  public final void apply(float[] x, float[] y) {
    if (first == null || !first.apply(x, y)) {
      NormArguments.requireSameLength(x, y);
      apply(Rows.of(x, width), Rows.of(y, width));
    }
  }

  /**
   * Normalises part of a float32 array.
   *
   * @param x holds the rows
   * @param xOffset index of the first element of the first row
   * @param y where the result goes
   * @param yOffset index of the first element written
   * @param rows number of rows
   * @throws IndexOutOfBoundsException if the rows reach past an array
   * @throws IllegalArgumentException if rows of x and y overlap and are not the same
   */
  public final void apply(float[] x, int xOffset, float[] y, int yOffset, int rows) {
    if (first == null || !first.apply(x, xOffset, y, yOffset, rows)) {
      apply(
          NormArguments.rows(x, xOffset, rows, width, "x"),
          NormArguments.rows(y, yOffset, rows, width, "y"));
    }
  }

  /**
   * Normalises part of a float32 array with a gain of this call, instead of the norm's own: for an
   * engine whose weights are one array.
   *
   * @param x holds the rows
   * @param xOffset index of the first element of the first row
   * @param gain holds one factor per element of a row
   * @param gainOffset index of the first factor
   * @param y where the result goes
   * @param yOffset index of the first element written
   * @param rows number of rows
   * @throws IndexOutOfBoundsException if the rows or the factors reach past an array
   * @throws IllegalArgumentException if rows of x and y overlap and are not the same, or the gain
   *     overlaps rows of y
   */
  public final void apply(
      float[] x, int xOffset, float[] gain, int gainOffset, float[] y, int yOffset, int rows) {
    if (first == null || !first.apply(x, xOffset, gain, gainOffset, y, yOffset, rows)) {
      Rows xs = NormArguments.rows(x, xOffset, rows, width, "x");
      Rows gains = NormArguments.rows(gain, gainOffset, 1, width, "gain");
      Rows ys = NormArguments.rows(y, yOffset, rows, width, "y");
      new ForwardCall(this, xs, ys).with(gains, null).run();
    }
  }

  /**
   * Normalises rows that are arrays of their own.
   *
   * @param x the rows, each of the norm's width
   * @param y where the result goes: as many arrays, each of its own or, for in place, that of the
   *     same row of x
   * @throws IllegalArgumentException if a length does not fit, or an array of y is another row of x
   *     or y
   */
  public final void apply(float[][] x, float[][] y) {
    SeparateRows.apply(this, x, y);
  }

  /**
   * Adds x to the residual, and normalises the sum, in one pass over whole float32 arrays: {@code
   * residual += x; y = norm(residual)}. All types are float32 here, so every {@link
   * NormBuilder#residualRounding(ResidualRounding)} gives the same bits.
   *
   * @param x the rows that are added
   * @param residual takes the sum; an array of its own
   * @param y where the normalised sum goes; x itself for in place
   * @throws IllegalArgumentException if an array is not whole rows, the lengths differ, or the
   *     residual is x or y
   */
  public final void addAndApply(float[] x, float[] residual, float[] y) {
    if (first == null || !first.addAndApply(x, residual, y)) {
      addAndApply(rows(x, "x"), rows(residual, "residual"), rows(y, "y"));
    }
  }

  /**
   * Adds x to the residual, and normalises the sum, in parts of float32 arrays.
   *
   * @param x holds the rows that are added
   * @param xOffset index of the first element of the first row
   * @param residual takes the sum
   * @param residualOffset index of the first element of the sum
   * @param y where the normalised sum goes; the rows of x for in place
   * @param yOffset index of the first element written
   * @param rows number of rows
   * @throws IndexOutOfBoundsException if the rows reach past an array
   * @throws IllegalArgumentException if rows of the residual overlap those of x or y, or rows of x
   *     and y overlap and are not the same
   */
  public final void addAndApply(
      float[] x,
      int xOffset,
      float[] residual,
      int residualOffset,
      float[] y,
      int yOffset,
      int rows) {
    if (first == null
        || !first.addAndApply(x, xOffset, residual, residualOffset, y, yOffset, rows)) {
      addAndApply(
          NormArguments.rows(x, xOffset, rows, width, "x"),
          NormArguments.rows(residual, residualOffset, rows, width, "residual"),
          NormArguments.rows(y, yOffset, rows, width, "y"));
    }
  }

  private Rows rows(float[] array, String name) {
    NormArguments.requireWholeRows(NormArguments.requireNonNull(array, name).length, width, name);
    return Rows.of(array, width);
  }

  /**
   * Normalises rows of any memory and type.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes: as many rows of the same width, in a type of its own
   * @throws IllegalArgumentException if the shapes differ, y is read-only, or rows of x and y
   *     overlap and are not the same
   */
  public final void apply(Rows x, Rows y) {
    if (first == null || !first.serves(x, null, y)) {
      new ForwardCall(this, x, y).run();
    }
  }

  /**
   * Normalises rows and keeps what {@link #backward} needs.
   *
   * @param x the rows, which must not change until the backward pass is done if they are kept
   * @param y where the result goes; not x itself if the input is kept
   * @param saved takes what is kept
   * @throws IllegalArgumentException as for {@link #apply(Rows, Rows)}, if saved has room for fewer
   *     rows, y is x and the input is kept, or the norm cannot go back from what is to be kept
   */
  public final void apply(Rows x, Rows y, Saved saved) {
    new ForwardCall(this, x, y).keep(saved);
  }

  /**
   * Computes the statistic of rows, and no output: mean and rstd as {@link #apply(Rows, Rows)}
   * normalises with. These are the numbers that {@link Saved} keeps. In float32 arithmetic rstd is
   * a float32 value, or a float64 value if the row is out of the range of float32.
   *
   * <p>For an engine that puts the norm behind a product: {@code y = (W (g * x)) * rstd}, where g *
   * x is made while x is read.
   *
   * @param x the rows, of the norm's width
   * @param into takes rstd, and of LayerNorm the mean, of each row or of each group of a row
   * @throws IllegalArgumentException if the shapes do not fit, an array is too short or shares
   *     memory with x, a mean is missing or not wanted, or the norm has a gate
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void statistics(Rows x, RowStatistics into) {
    StatisticRun.statistics(this, x, into);
  }

  /**
   * Sums rows of which other owners have more columns, as in tensor parallelism: the squares of the
   * elements, and of LayerNorm the elements, too. The sums of all owners, added, are those of whole
   * rows up to rounding. {@link #statistics(double[], long, RowStatistics)} takes them.
   *
   * <p>A sum is a float64. A row of float64 elements whose squares, or whose sum, leave the range
   * of float64 has an infinite sum.
   *
   * @param x the rows, of the norm's width: the columns of one owner
   * @param sums takes the sum of squares of each row, or of each group of a row; of LayerNorm first
   *     the sums of all rows, then the sums of squares of all rows. It has exactly as many
   *     elements. For LayerNorm the call makes an array with an element for each row
   * @throws IllegalArgumentException if the shapes do not fit, sums shares memory with x, or the
   *     norm is partial or has a gate
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void sums(Rows x, double[] sums) {
    StatisticRun.sums(this, x, sums);
  }

  /**
   * Computes the statistic of rows from their sums. Numbers are float64. {@link #apply(Rows,
   * RowStatistics, Rows)} rounds rstd to float32 for float32 arithmetic.
   *
   * <p>The last bits of the result depend on how the columns were split. The variance of LayerNorm
   * is {@code S2 / n - (S1 / n)^2}. Its relative error grows with {@code 1 + mean^2 / variance}: at
   * 2^20 it is about 2^-24. docs/numerics.md has the bound. An infinite sum of squares gives an
   * rstd of 0, or NaN with an infinite sum.
   *
   * @param sums as {@link #sums} has them, added over all owners
   * @param columns the number of elements of a whole row, or of a whole group: those of all owners
   * @param into takes rstd, and of LayerNorm the mean, of each row or of each group of a row
   * @throws IllegalArgumentException if lengths do not fit, columns is less than the elements that
   *     this norm sums, a mean is missing or not wanted, an array is passed twice, epsilon is that
   *     of the type of the rows, or the norm is partial or has a gate
   */
  public final void statistics(double[] sums, long columns, RowStatistics into) {
    StatisticRun.statistics(this, sums, columns, into);
  }

  /**
   * Normalises rows with a given statistic: {@code y = (x - mean) * rstd * gain + bias}, rounded
   * where the norm rounds. Gain and bias are those of the norm.
   *
   * <p>With the numbers of {@link #statistics(Rows, RowStatistics)} the result is that of {@link
   * #apply(Rows, Rows)}, bit for bit, except in two cases. A cast order that divides by the root
   * takes 1 / rstd for the root. And float64 rows that {@code apply} scales stay as they are; see
   * docs/numerics.md.
   *
   * @param x the rows, of the norm's width
   * @param given rstd, and of LayerNorm the mean, of each row or of each group of a row. Float32
   *     arithmetic rounds rstd to float32, unless it is out of its range
   * @param y where the result goes; x itself for in place
   * @throws IllegalArgumentException if the shapes do not fit, a mean is missing or not wanted, an
   *     array is too short, y is read-only, memory overlaps illegally, or the norm has a gate
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void apply(Rows x, RowStatistics given, Rows y) {
    StatisticRun.apply(this, x, given, y);
  }

  /**
   * Normalises rows, and quantises the result: {@code q = quantise(norm(x))}. {@link
   * NormBuilder#quantizer} says by which rule. With y the bytes of q are those of {@code apply(x,
   * y)} and then {@link Quantizer#quantize(Rows, QuantizedRows)}. Without y they are those of the
   * result in float32, unless the rule rounds it to the type of x; the result of float64 rows is
   * rounded to float32.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes, x itself for in place; null if it is not to be stored
   * @param q where the codes and scales go: as many rows of the same width
   * @throws IllegalArgumentException as for {@link #apply(Rows, Rows)}, or if q does not have the
   *     shape of x, codes or scales are read-only, or they overlap each other or other memory of
   *     the call
   */
  public final void apply(Rows x, @Nullable Rows y, QuantizedRows q) {
    new ForwardCall(this, x, y).quantize(q);
  }

  /**
   * Adds x to the residual, and normalises the sum, in one pass: {@code residual += x; y =
   * norm(residual)}. {@link NormBuilder#residualRounding(ResidualRounding)} says when the sum is
   * rounded to the type of the residual.
   *
   * @param x the rows that are added, of the norm's width
   * @param residual takes the sum; as many rows as x. Its type may differ from that of x, but if
   *     either is float64, both must be
   * @param y where the normalised sum goes; x itself for in place
   * @throws IllegalArgumentException if the shapes or types do not fit, y or the residual is
   *     read-only, the residual overlaps x, y, or the caller's gain or bias, or y overlaps x other
   *     than in place
   */
  public final void addAndApply(Rows x, Rows residual, Rows y) {
    NormArguments.requireNonNull(residual, "residual");
    if (first == null || !first.serves(x, residual, y)) {
      new ForwardCall(this, x, y).adding(residual).run();
    }
  }

  /**
   * Adds x to the residual, normalises the sum, and keeps what {@link #backward} needs; the kept
   * input is the residual with the sum in it.
   *
   * @param x the rows that are added
   * @param residual takes the sum, and must keep it until the backward pass is done if the input is
   *     kept
   * @param y where the normalised sum goes; x itself for in place
   * @param saved takes what is kept
   * @throws IllegalArgumentException as for {@link #addAndApply(Rows, Rows, Rows)} and {@link
   *     #apply(Rows, Rows, Saved)}
   */
  public final void addAndApply(Rows x, Rows residual, Rows y, Saved saved) {
    new ForwardCall(this, x, y).adding(residual).keep(saved);
  }

  /**
   * Adds x to the residual, normalises the sum, and quantises the result: {@code residual += x; q =
   * quantise(norm(residual))}.
   *
   * @param x the rows that are added, of the norm's width
   * @param residual takes the sum, as in {@link #addAndApply(Rows, Rows, Rows)}
   * @param y where the normalised sum goes, x itself for in place; null if it is not to be stored
   * @param q where the codes and scales go: as many rows of the same width
   * @throws IllegalArgumentException as for {@link #addAndApply(Rows, Rows, Rows)} and {@link
   *     #apply(Rows, Rows, QuantizedRows)}
   */
  public final void addAndApply(Rows x, Rows residual, @Nullable Rows y, QuantizedRows q) {
    new ForwardCall(this, x, y).adding(residual).quantize(q);
  }

  /**
   * Normalises rows, adds the result to the residual, and normalises the sum with another norm, in
   * one pass: {@code residual += norm(x); y = next(residual)}. Gemma 2 and 3 do so between the
   * blocks of a layer: the norm after one block, the addition, and the norm before the next block.
   * The bits are those of {@code apply(x, v)} with v of the type of x, and then {@code
   * next.addAndApply(v, residual, y)}. v is not stored.
   *
   * @param x the rows, of the norm's width
   * @param residual takes the sum; as many rows as x. Its type may differ from that of x, but if
   *     either is float64, both must be
   * @param next the norm of the sum, of the same width; it may be this norm. The call has as many
   *     threads as the norm with fewer
   * @param y where the normalised sum goes; x itself for in place
   * @throws IllegalArgumentException as for {@link #addAndApply(Rows, Rows, Rows)}, if the widths
   *     differ, or if either norm has a gate
   */
  public final void applyAndAdd(Rows x, Rows residual, Norm next, Rows y) {
    NormPair.of(this, x, residual, next, y).run();
  }

  /**
   * Does what {@link #applyAndAdd(Rows, Rows, Norm, Rows)} does, and keeps what the backward passes
   * of both norms need. They are two calls:
   *
   * <pre>{@code
   * next.backward(dy, savedOfNext, dresidual, dh, gradientsOfNext);
   * norm.backward(dh, saved, dx, gradients);
   * }</pre>
   *
   * <p>dresidual is the gradient of the sum from where the residual goes on. dh is the gradient of
   * the old residual, too.
   *
   * @param x the rows, which must not change until the backward pass is done
   * @param residual takes the sum, and must keep it if the input of the next norm is kept
   * @param next the norm of the sum, of the same width
   * @param y where the normalised sum goes; not x itself
   * @param saved takes what is kept of this norm; not with {@link Keep#OUTPUT}
   * @param savedOfNext takes what is kept of the next norm
   * @throws IllegalArgumentException as for {@link #applyAndAdd(Rows, Rows, Norm, Rows)} and {@link
   *     #addAndApply(Rows, Rows, Rows, Saved)}, if y is x, or saved keeps the output
   */
  public final void applyAndAdd(
      Rows x, Rows residual, Norm next, Rows y, Saved saved, Saved savedOfNext) {
    NormPair.of(this, x, residual, next, y).keep(saved, savedOfNext);
  }

  /**
   * Normalises rows with a gate, in the way that {@link NormSpec#gate} says: {@code y = (norm(x) *
   * g + b) * silu(z)}, the same with a sigmoid, or {@code y = norm(x * silu(z)) * g + b}.
   *
   * @param x the rows, of the norm's width
   * @param z the gate: as many rows of the same width. Its type may differ from that of x, but if
   *     either is float64, both must be
   * @param y where the result goes; x or z itself for in place
   * @throws IllegalArgumentException if the norm has no gate, the shapes or types do not fit, y is
   *     read-only, or rows of y overlap rows of x or z and are not the same
   */
  public final void applyGated(Rows x, Rows z, Rows y) {
    new ForwardCall(this, x, y).gated(z).run();
  }

  /**
   * Normalises rows with a gate and keeps what {@link #backwardGated} needs: x and z, which must
   * not change until the backward pass is done.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param y where the result goes; neither x nor z itself
   * @param saved takes what is kept; not with {@link Keep#OUTPUT}
   * @throws IllegalArgumentException as for {@link #applyGated(Rows, Rows, Rows)}, or if y is x or
   *     z, saved has room for fewer rows, or it keeps the output
   */
  public final void applyGated(Rows x, Rows z, Rows y, Saved saved) {
    new ForwardCall(this, x, y).gated(z).keep(saved);
  }

  /**
   * Normalises rows with a gate, and quantises the result as {@link #apply(Rows, Rows,
   * QuantizedRows)} does.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param y where the result goes, x or z itself for in place; null if it is not to be stored
   * @param q where the codes and scales go: as many rows of the same width
   * @throws IllegalArgumentException as for {@link #applyGated(Rows, Rows, Rows)} and {@link
   *     #apply(Rows, Rows, QuantizedRows)}
   */
  public final void applyGated(Rows x, Rows z, @Nullable Rows y, QuantizedRows q) {
    new ForwardCall(this, x, y).gated(z).quantize(q);
  }

  /**
   * The backward pass: computes the gradient of the input, and of gain and bias, from the gradient
   * of the output.
   *
   * <pre>h = dy * g,  xh = (x - mean) * rstd
   * dx = ( (h - mean(h)) - xh * mean(h * xh) ) * rstd            LayerNorm
   * dx = ( h - xh * sum(h * xh) / k ) * rstd                     RMSNorm
   * dx = ( h - xh * sum(h * xh) ) * rstd                         L2 norm
   * </pre>
   *
   * <p>In a partial norm only the first k elements have the term with xh. With epsilon {@link
   * EpsilonPlacement#OUTSIDE} the root q that term is {@code (q + eps) / q} times as large, and 0
   * for a row of zeros. For a row on the {@link EpsilonPlacement#FLOOR} it is 0. A cast in the
   * forward pass has gradient 1: the gradient is that of the formula without the cast. With {@link
   * CastOrder#NONE} a kept rstd is used as it is, rounded to the 16-bit type of the row. dx is
   * rounded once, to its type.
   *
   * <p><b>Values.</b> Every operation is in float32. It is in float64 for float64 rows, and for
   * float32 rows whose rstd is not a normal float32 number or whose mean is 2^103 or more. While
   * {@code h}, {@code h * xh}, its mean m, {@code xh * m} and {@code dy * xh} are normal numbers or
   * 0, dx is within a few roundings of its terms. If one of them is beyond float32, it is infinite,
   * and dx is infinite or NaN, although the exact dx may be small. If one is below 2^-126, it is
   * rounded to a multiple of 2^-149, and dx is off by that error times rstd. Nothing is flushed to
   * zero.
   *
   * <p>NaN and infinity propagate as the formula gives them. A NaN in x makes dx of the row and all
   * of dgain NaN, and so does a row of zeros (LayerNorm: of equal elements) with epsilon 0. A NaN
   * in dy makes dx of the row NaN, and its element of dgain and dbias. A NaN in dresidual makes
   * only its element of dx NaN. In a partial norm, and where epsilon is the root, fewer elements
   * are NaN: docs/numerics.md of the project lists every case. dx of other rows never changes. A
   * gain of 0 has a gradient like any other, except that {@link Keep#OUTPUT} refuses it. Without
   * rows the gradients of the parameters are 0: assigned, or not added.
   *
   * <p><b>Aliasing.</b> dx may be dy, dresidual, both, or the input if that is not kept. It must
   * share no memory with what is kept, or with the caller's gain and bias, and it must not overlap
   * dy or dresidual in part. Elements between rows are not written.
   *
   * <p><b>Memory.</b> After the first calls nothing is allocated that grows with rows or width.
   * Exception: the arrays for sums over rows, if they have more than 2^18 elements, or if those of
   * all threads take more than 64 MiB. The library keeps that much from call to call. On 8 threads
   * it is enough for gain and bias of 2^19 float32 rows of 2^16 elements, of 2^14 rows of 2^17, or
   * of 2^11 rows of 2^18.
   *
   * @param dy the gradient of the output, as many rows as the forward pass had, of the norm's width
   * @param saved what the forward pass kept
   * @param dx where the gradient of the input goes; dy itself for in place. After {@link
   *     #addAndApply(Rows, Rows, Rows, Saved)} it is the gradient of x and of the old residual
   * @param gradients where the gradients of gain and bias go, or null if they are not wanted
   * @throws IllegalArgumentException if the shapes or types do not fit, dx is read-only, or it
   *     overlaps what is kept or, other than in place, dy
   * @throws IllegalStateException if there was no forward pass
   */
  public final void backward(
      Rows dy, Saved saved, Rows dx, @Nullable ParameterGradients gradients) {
    new BackwardCall(this, saved, dy, dx).run(gradients);
  }

  /**
   * The backward pass with the gradient from the skip connection: {@code dx = gradient of the norm
   * + dresidual}, added in the compute type.
   *
   * @param dy the gradient of the output
   * @param saved what the forward pass kept
   * @param dresidual the gradient of the residual with the sum in it; dx may be the same rows
   * @param dx where the gradient of x and of the old residual goes
   * @param gradients where the gradients of gain and bias go, or null if they are not wanted
   * @throws IllegalArgumentException as for {@link #backward(Rows, Saved, Rows,
   *     ParameterGradients)}
   */
  public final void backward(
      Rows dy, Saved saved, Rows dresidual, Rows dx, @Nullable ParameterGradients gradients) {
    new BackwardCall(this, saved, dy, dx).adding(dresidual).run(gradients);
  }

  /**
   * The backward pass of a norm with a gate. {@link NormSpec#gate} says which formula it has. With
   * {@code a = silu(z)}, or {@code sigmoid(z)}:
   *
   * <pre>after:  dx, dgain, dbias are those of the norm from dy * a,  dz = dy * (xh * g + b) * a'
   * before: du is dx of the norm from u = x * a,  dx = du * a,  dz = du * x * a'</pre>
   *
   * @param dy the gradient of the output, as many rows as the forward pass had
   * @param saved what {@link #applyGated(Rows, Rows, Rows, Saved)} kept
   * @param dx where the gradient of x goes; it may be dy
   * @param dz where the gradient of z goes; it may be dy if dx is not
   * @param gradients where the gradients of gain and bias go, or null if they are not wanted
   * @throws IllegalArgumentException if the norm has no gate, the shapes or types do not fit, dx or
   *     dz is read-only, or they overlap each other, what is kept or, other than in place, dy
   * @throws IllegalStateException if there was no forward pass
   */
  public final void backwardGated(
      Rows dy, Saved saved, Rows dx, Rows dz, @Nullable ParameterGradients gradients) {
    new BackwardCall(this, saved, dy, dx, dz).run(gradients);
  }

  /**
   * For example {@code RmsNorm(4096, llama(eps=1e-5), gain)}; a gain of the caller is a {@code
   * given gain}.
   */
  @Override
  public String toString() {
    return getClass().getSimpleName()
        + "("
        + width
        + ", "
        + spec
        + text(givenGain, gain, "gain")
        + text(givenBias, bias, "bias")
        + ")";
  }

  private static String text(@Nullable Rows given, @Nullable Parameter own, String name) {
    return given != null ? ", given " + name : own != null ? ", " + name : "";
  }
}
