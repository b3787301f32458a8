package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.backend.NormColumns;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.Staging;
import io.github.rmsnorm4j.internal.device.NormParts;
import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Formula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.norm.FloatingPointGuard;
import io.github.rmsnorm4j.internal.norm.Payoff;
import io.github.rmsnorm4j.internal.norm.QuantizedRunner;
import io.github.rmsnorm4j.internal.norm.Runner;
import io.github.rmsnorm4j.internal.norm.SharedSums;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;
import io.github.rmsnorm4j.internal.quantized.CodeRule;
import io.github.rmsnorm4j.internal.quantized.QuantizedChunks;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A normalisation of rows: {@link RmsNorm}, {@link LayerNorm} or {@link L2Norm}, with its width,
 * epsilon, gain and bias.
 *
 * <p><b>Threads.</b> A norm is immutable and may be used by any number of threads at once. A call
 * spreads its rows over up to {@link Builder#threads(int)} threads, the caller among them, and
 * returns when all rows are written. An interrupt does not stop it and is still set when it
 * returns.
 *
 * <p><b>The same bits everywhere.</b> The result of a row depends on the row, the choices of the
 * norm, the gain and the bias alone. It does not depend on threads, on other rows, on the place of
 * the row in memory, or on the {@link Backend}. A NaN is a NaN everywhere; its sign and payload in
 * float32 and float64 are not specified.
 *
 * <p><b>Types.</b> Arithmetic is float32, or float64 if the input is float64. Row statistics are
 * always float64. The type of the output may differ from that of the input: a narrower output is
 * rounded once, a wider output holds the same value. Gain and bias are rounded to the compute type.
 *
 * <p><b>Samples.</b> Gain and bias of a call have one row, or both a row for each of S samples.
 * Then x has the rows of each sample one after the other, as many of each: row i takes row {@code i
 * * S / rows} of gain and bias. With gain offset 1 that is the modulated norm of diffusion
 * transformers, {@code norm(x) * (1 + s) + t}, rounded once. What a call gives replaces the norm's
 * own, and what it lacks stays. So a norm with a bias takes gains of several samples only together
 * with a bias. A norm of groups takes one row only.
 *
 * <p><b>Aliasing.</b> If x and y are the same rows of the same memory, the norm works in place.
 * Otherwise no row of y may share memory with a row of x, with the gain or with the bias. Rows that
 * interleave without sharing memory are allowed.
 *
 * <p><b>Gates.</b> A norm with a {@link Gate} reads a second row z. It has the calls with z alone,
 * {@link #applyGated} and {@link #backwardGated}; all others throw an {@link
 * IllegalArgumentException}.
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

  private final @Nullable Parameter gain;
  private final @Nullable Parameter bias;
  final int threads;
  private final boolean safe;

  /** Null for the best, which takes time to find. */
  private final @Nullable Backend backend;

  /** Null for the default. */
  private final @Nullable Quantizer quantizer;

  /** The elements of the statistic of a row. */
  private final int part;

  /** Says which columns it has of another norm; null of a norm of whole rows. */
  private final @Nullable String ofColumns;

  /** Null if this norm has none. */
  final @Nullable First first;

  /** Null before the first call of a back end. */
  volatile @Nullable BackEndParts backEndParts;

  Norm(Builder<?> builder) {
    width = builder.width;
    spec = builder.spec;
    spec.requireFormula(builder.bias != null);
    groups = spec.groups().count(width);
    groupWidth = width / groups;
    // A gain of some columns of another norm has its offset.
    gain =
        builder.gain == null || builder.rowWidth > 0
            ? builder.gain
            : builder.gain.plus(spec.gainOffset());
    bias = builder.bias;
    requireLength(gain, "gain");
    requireLength(bias, "bias");
    parameterLength(null, null);
    threads = builder.threads;
    backend = builder.backend;
    safe = builder.safe;
    quantizer = builder.quantizer;
    ofColumns = builder.columns;
    part = builder.rowWidth > 0 ? builder.rowWidth : spec.part().elements(groupWidth);
    boolean startsPlain = ofColumns == null && (backend == null || backend.startsPlain());
    first = startsPlain ? firstTier(null) : null;
  }

  /** The usual length needs no class that checks others. */
  private void requireLength(@Nullable Parameter parameter, String name) {
    if (parameter != null && parameter.length() != width) {
      NormArguments.requireParameter(parameter, width, groupWidth, name);
    }
  }

  /** The first tier; null if the norm has none. */
  final @Nullable First firstTier(@Nullable Payoff payoff) {
    return FirstTier.isFit(spec, width, length(null, gain), gainType(null), length(null, bias))
        ? new First(this, payoff)
        : null;
  }

  /**
   * The type of the field, too: to verify a field of the superclass, the JVM would load both
   * classes for a norm that has no first tier.
   */
  static final class First extends FirstTier {
    private final Norm norm;

    /** Counts elements for itself, unless that is null. */
    First(Norm norm, @Nullable Payoff payoff) {
      super(
          norm.spec,
          norm.width,
          norm.gain == null ? null : norm.gain.floats(),
          norm.bias == null ? null : norm.bias.floats(),
          norm.threads,
          payoff);
      this.norm = norm;
    }

    @Override
    protected Backend backend() {
      return norm.backend();
    }

    @Override
    protected boolean makeKernels(boolean ofNative, boolean adds) {
      Payoff.forward(norm.spec.kind()).end();
      return new Rehearsal(norm.width, ofNative, adds).run(norm::computeByKernels);
    }
  }

  /** NormParts finds it by its name, because programs without a GPU do not need it. */
  static final class Parts implements Function<Object, NormParts> {
    static {
      NormParts.readBy(new Parts());
    }

    @Override
    public NormParts apply(Object norm) {
      Norm of = (Norm) norm;
      return new NormParts(
          of.choices(ElementType.FLOAT64),
          of.choices(ElementType.FLOAT32),
          of.groups,
          column(of.gain),
          column(of.bias),
          of.quantizer().rule(),
          of.quantizer().roundsOutput(),
          new NormRowChecks(of));
    }

    private static NormParts.@Nullable Column column(@Nullable Parameter parameter) {
      return parameter == null
          ? null
          : new NormParts.Column(
              parameter.type(),
              (double[]) parameter.values(true),
              (float[]) parameter.values(false));
    }
  }

  /** Two threads may make them at once; the last ones stay. */
  final BackEndParts backEndParts() {
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
   * {@return what one owner of some columns has of this norm, where the elements of each row have
   * several owners} All owners together give each row the bits that this norm gives it.
   *
   * @param from the first column, a multiple of 1,024
   * @param to the end of the columns: a multiple of 1,024, or the width
   * @throws IllegalArgumentException if the columns are no such range, or the norm is partial, has
   *     groups or a gate
   */
  public final NormShard shard(int from, int to) {
    return new NormShard(this, from, to);
  }

  /** A norm of some columns, with their gain and bias, whose statistic is that of whole rows. */
  final Norm ofColumns(int from, int to) {
    Builder<?> builder = spec.withGroups(RowGroups.WHOLE).builder(to - from);
    builder.gain = gain == null ? null : gain.range(from, to);
    builder.bias = bias == null ? null : bias.range(from, to);
    builder.threads = threads;
    builder.safe = safe;
    builder.backend = backend;
    builder.rowWidth = width;
    builder.columns = "columns " + from + " to " + (to - 1) + " of " + this;
    return builder.build();
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
   * {@return the number of learned numbers that the norm holds: the elements of its gain and of its
   * bias}
   */
  public final long parameterCount() {
    return (gain == null ? 0L : gain.length()) + (bias == null ? 0L : bias.length());
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
   * Normalises whole float32 arrays with a gain of this call, instead of the norm's own.
   *
   * @param x the rows
   * @param gain one factor per element of a row, or so many for each sample
   * @param y where the result goes; x itself for in place
   * @throws IllegalArgumentException if lengths do not fit, or the gain is y
   */
  public final void apply(float[] x, float[] gain, float[] y) {
    if (first == null || !first.apply(x, gain, y)) {
      NormArguments.requireSameLength(x, y);
      apply(Rows.of(x, width), parameter(gain, "gain"), Rows.of(y, width));
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
      apply(
          NormArguments.rows(x, xOffset, rows, width, "x"),
          NormArguments.rows(gain, gainOffset, 1, width, "gain"),
          NormArguments.rows(y, yOffset, rows, width, "y"));
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
    NormArguments.requireNoGate(spec.gate(), "applyGated");
    NormArguments.requireRows(x, y, width);
    int useful = Runner.useful(2.0 * Float.BYTES * width * x.length, threads);
    RowScheduler.run(x.length, useful, (from, to) -> apply(x, y, (int) from, (int) to));
  }

  private void apply(float[][] x, float[][] y, int from, int to) {
    for (int i = from; i < to; i++) {
      apply(x[i], y[i]);
    }
  }

  /**
   * Normalises whole float32 arrays with a gain and a bias of this call, instead of the norm's own.
   *
   * @param x the rows
   * @param gain one factor per element of a row, or so many for each sample
   * @param bias as many terms
   * @param y where the result goes; x itself for in place
   * @throws IllegalArgumentException if lengths do not fit, or the gain or the bias is y
   */
  public final void apply(float[] x, float[] gain, float[] bias, float[] y) {
    NormArguments.requireSameLength(x, y);
    apply(Rows.of(x, width), parameter(gain, "gain"), parameter(bias, "bias"), Rows.of(y, width));
  }

  /**
   * Normalises whole float32 arrays and keeps what {@link #backward(float[], Saved, float[],
   * ParameterGradients)} needs. The arrays are rows x width.
   *
   * @param x the rows; where the input is kept they must not change until the backward pass is done
   * @param y where the result goes; not x itself if the input is kept
   * @param saved takes what is kept
   * @throws NullPointerException if an argument is null
   * @throws IllegalArgumentException if an array is not whole rows, the arrays have different
   *     lengths, saved has room for fewer rows, y is x and the input is kept, or the norm cannot go
   *     back from what is kept
   */
  public final void apply(float[] x, float[] y, Saved saved) {
    apply(rows(x, "x"), rows(y, "y"), saved);
  }

  /**
   * Adds x to the residual, and normalises the sum, in one pass over whole float32 arrays: {@code
   * residual += x; y = norm(residual)}. The arrays are rows x width. All types are float32 here, so
   * every {@link Builder#residualRounding(ResidualRounding)} gives the same bits.
   *
   * @param x the rows that are added
   * @param residual takes the sum; an array of its own
   * @param y where the normalised sum goes; x itself for in place
   * @throws NullPointerException if an argument is null
   * @throws IllegalArgumentException if an array is not whole rows, the arrays have different
   *     lengths, or the residual is x or y
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

  /**
   * Adds x to the residual, normalises the sum, and keeps what {@link #backward(float[], Saved,
   * float[], ParameterGradients)} needs. The kept input is the residual with the sum in it.
   *
   * @param x the rows that are added
   * @param residual takes the sum; an array of its own, which must not change until the backward
   *     pass is done if the input is kept
   * @param y where the normalised sum goes; x itself for in place
   * @param saved takes what is kept
   * @throws NullPointerException if an argument is null
   * @throws IllegalArgumentException as for {@link #addAndApply(float[], float[], float[])} and
   *     {@link #apply(float[], float[], Saved)}
   */
  public final void addAndApply(float[] x, float[] residual, float[] y, Saved saved) {
    addAndApply(rows(x, "x"), rows(residual, "residual"), rows(y, "y"), saved);
  }

  /**
   * Normalises whole float64 arrays: any number of rows of the norm's width.
   *
   * @param x the rows
   * @param y where the result goes; x itself for in place
   * @throws IllegalArgumentException if the lengths differ or are not a multiple of the width
   */
  public final void apply(double[] x, double[] y) {
    NormArguments.requireSameLength(x, y);
    apply(Rows.of(x, width), Rows.of(y, width));
  }

  /**
   * Normalises part of a float64 array.
   *
   * @param x holds the rows
   * @param xOffset index of the first element of the first row
   * @param y where the result goes
   * @param yOffset index of the first element written
   * @param rows number of rows
   * @throws IndexOutOfBoundsException if the rows reach past an array
   * @throws IllegalArgumentException if rows of x and y overlap and are not the same
   */
  public final void apply(double[] x, int xOffset, double[] y, int yOffset, int rows) {
    apply(
        NormArguments.rows(x, xOffset, rows, width, "x"),
        NormArguments.rows(y, yOffset, rows, width, "y"));
  }

  /**
   * Normalises whole float64 arrays with a gain of this call, instead of the norm's own.
   *
   * @param x the rows
   * @param gain one factor per element of a row, or so many for each sample
   * @param y where the result goes; x itself for in place
   * @throws IllegalArgumentException if lengths do not fit, or the gain is y
   */
  public final void apply(double[] x, double[] gain, double[] y) {
    NormArguments.requireSameLength(x, y);
    int length = NormArguments.requireParameter(gain, width, groupWidth, "gain");
    apply(Rows.of(x, width), Rows.of(gain, length), Rows.of(y, width));
  }

  /**
   * Normalises rows of any memory and type. Rows in a mapped file that somebody makes shorter
   * during the call end it with an {@link InternalError}; the JVM keeps running.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes: as many rows of the same width, in a type of its own
   * @throws IllegalArgumentException if the shapes differ, y is read-only, or rows of x and y
   *     overlap and are not the same
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void apply(Rows x, Rows y) {
    run(x, null, null, null, y, null, null);
  }

  /**
   * Normalises rows with a gain of this call, instead of the norm's own.
   *
   * @param x the rows, of the norm's width
   * @param gain one row of the norm's width, or one for each sample, of any type
   * @param y where the result goes
   * @throws IllegalArgumentException if the shapes do not fit, y is read-only, or y overlaps the
   *     gain or, other than in place, x
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void apply(Rows x, Rows gain, Rows y) {
    run(x, null, NormArguments.requireNonNull(gain, "gain"), null, y, null, null);
  }

  /**
   * Normalises rows with a gain and a bias of this call, instead of the norm's own.
   *
   * @param x the rows, of the norm's width
   * @param gain one row of the norm's width, or one for each sample, of any type
   * @param bias as many rows of the norm's width, of any type
   * @param y where the result goes
   * @throws IllegalArgumentException if the shapes do not fit, y is read-only, or y overlaps the
   *     gain, the bias or, other than in place, x
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void apply(Rows x, Rows gain, Rows bias, Rows y) {
    run(
        x,
        null,
        NormArguments.requireNonNull(gain, "gain"),
        NormArguments.requireNonNull(bias, "bias"),
        y,
        null,
        null);
  }

  /**
   * Adds x to the residual, and normalises the sum, in one pass: {@code residual += x; y =
   * norm(residual)}. {@link Builder#residualRounding(ResidualRounding)} says when the sum is
   * rounded to the type of the residual.
   *
   * @param x the rows that are added, of the norm's width
   * @param residual takes the sum; as many rows as x. Its type may differ from that of x, but if
   *     either is float64, both must be
   * @param y where the normalised sum goes; x itself for in place
   * @throws IllegalArgumentException if the shapes or types do not fit, y or the residual is
   *     read-only, the residual overlaps x or y, or y overlaps x other than in place
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void addAndApply(Rows x, Rows residual, Rows y) {
    run(x, NormArguments.requireNonNull(residual, "residual"), null, null, y, null, null);
  }

  /**
   * Normalises rows and keeps what {@link #backward} needs.
   *
   * @param x the rows, of the norm's width
   * @param gain one row, or one for each sample, instead of the norm's own gain; or null
   * @param bias as many rows instead of the norm's own bias, or null
   * @param y where the result goes; not x itself if the input is kept
   * @param saved takes what is kept
   * @throws IllegalArgumentException if the shapes do not fit, memory overlaps illegally, or the
   *     norm cannot go back from what is to be kept
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void apply(Rows x, @Nullable Rows gain, @Nullable Rows bias, Rows y, Saved saved) {
    train(x, null, null, gain, bias, y, saved);
  }

  /**
   * Normalises rows and keeps what {@link #backward} needs.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes; not x itself if the input is kept
   * @param saved takes what is kept
   * @throws IllegalArgumentException as for {@link #apply(Rows, Rows, Rows, Rows, Saved)}
   */
  public final void apply(Rows x, Rows y, Saved saved) {
    train(x, null, null, null, null, y, saved);
  }

  /**
   * Adds x to the residual, normalises the sum, and keeps what {@link #backward} needs; the kept
   * input is the residual with the sum in it.
   *
   * @param x the rows that are added
   * @param residual takes the sum, and must keep it if the input is kept
   * @param y where the normalised sum goes
   * @param saved takes what is kept
   * @throws IllegalArgumentException as for {@link #addAndApply(Rows, Rows, Rows)} and {@link
   *     #apply(Rows, Rows, Rows, Rows, Saved)}
   */
  public final void addAndApply(Rows x, Rows residual, Rows y, Saved saved) {
    train(x, NormArguments.requireNonNull(residual, "residual"), null, null, null, y, saved);
  }

  /**
   * Adds x to the residual, normalises the sum with a gain and bias of this call, and keeps what
   * {@link #backward} needs.
   *
   * @param x the rows that are added
   * @param residual takes the sum, and must keep it if the input is kept
   * @param gain one row, or one for each sample, instead of the norm's own gain; or null
   * @param bias as many rows instead of the norm's own bias, or null
   * @param y where the normalised sum goes
   * @param saved takes what is kept
   * @throws IllegalArgumentException as for {@link #addAndApply(Rows, Rows, Rows)} and {@link
   *     #apply(Rows, Rows, Rows, Rows, Saved)}
   */
  public final void addAndApply(
      Rows x, Rows residual, @Nullable Rows gain, @Nullable Rows bias, Rows y, Saved saved) {
    train(x, NormArguments.requireNonNull(residual, "residual"), null, gain, bias, y, saved);
  }

  /**
   * Adds x to the residual, and normalises the sum with a gain and bias of this call.
   *
   * @param x the rows that are added
   * @param residual takes the sum
   * @param gain one row, or one for each sample, instead of the norm's own gain; or null
   * @param bias as many rows instead of the norm's own bias, or null
   * @param y where the normalised sum goes; x itself for in place
   * @throws IllegalArgumentException as for {@link #addAndApply(Rows, Rows, Rows)} and {@link
   *     #apply(Rows, Rows, Rows, Rows)}
   */
  public final void addAndApply(
      Rows x, Rows residual, @Nullable Rows gain, @Nullable Rows bias, Rows y) {
    run(x, NormArguments.requireNonNull(residual, "residual"), gain, bias, y, null, null);
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
   * @throws NullPointerException if an argument is null
   * @throws IllegalArgumentException as for {@link #addAndApply(Rows, Rows, Rows)}, if the widths
   *     differ, or if either norm has a gate
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void applyAndAdd(Rows x, Rows residual, Norm next, Rows y) {
    NormPair.of(this, null, null, next, null, null).apply(x, residual, y);
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
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void applyAndAdd(
      Rows x, Rows residual, Norm next, Rows y, Saved saved, Saved savedOfNext) {
    applyAndAdd(x, null, null, residual, next, null, null, y, saved, savedOfNext);
  }

  /**
   * Does what {@link #applyAndAdd(Rows, Rows, Norm, Rows, Saved, Saved)} does, with a gain and bias
   * of this call for either norm.
   *
   * @param x the rows, which must not change until the backward pass is done
   * @param gain one row, or one for each sample, instead of this norm's own gain; or null
   * @param bias as many rows instead of this norm's own bias, or null
   * @param residual takes the sum, and must keep it if the input of the next norm is kept
   * @param next the norm of the sum, of the same width
   * @param gainOfNext one row, or one for each sample, instead of the next norm's own gain; or null
   * @param biasOfNext as many rows instead of the next norm's own bias, or null
   * @param y where the normalised sum goes; not x itself
   * @param saved takes what is kept of this norm; not with {@link Keep#OUTPUT}
   * @param savedOfNext takes what is kept of the next norm
   * @throws IllegalArgumentException as for {@link #applyAndAdd(Rows, Rows, Norm, Rows, Saved,
   *     Saved)} and {@link #apply(Rows, Rows, Rows, Rows, Saved)}
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void applyAndAdd(
      Rows x,
      @Nullable Rows gain,
      @Nullable Rows bias,
      Rows residual,
      Norm next,
      @Nullable Rows gainOfNext,
      @Nullable Rows biasOfNext,
      Rows y,
      Saved saved,
      Saved savedOfNext) {
    NormPair.of(this, gain, bias, next, gainOfNext, biasOfNext)
        .apply(x, residual, y, saved, savedOfNext);
  }

  /**
   * Normalises rows and quantises the result, which itself is not stored: {@code q =
   * quantise(norm(x))}. {@link Builder#quantizer} says by which rule. The codes are those of the
   * result in float32, unless the rule rounds it to the type of x. The result of float64 rows is
   * rounded to float32.
   *
   * @param x the rows, of the norm's width
   * @param q where the codes and scales go: as many rows of the same width
   * @throws IllegalArgumentException if the norm has a gate, the shapes do not fit, codes or scales
   *     are read-only, or they overlap each other or x
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void apply(Rows x, QuantizedRows q) {
    quantize(x, null, null, null, q);
  }

  /**
   * Normalises rows, and quantises the result that is stored in y. The bytes of q are those of
   * {@code apply(x, y)} and then {@link Quantizer#quantize(Rows, QuantizedRows)}.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes; x itself for in place
   * @param q where the codes and scales go: as many rows of the same width
   * @throws IllegalArgumentException as for {@link #apply(Rows, Rows)}, or if the norm has a gate,
   *     q does not have the shape of x, codes or scales are read-only, or they overlap each other
   *     or rows of the call
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void apply(Rows x, Rows y, QuantizedRows q) {
    quantize(x, null, null, NormArguments.requireNonNull(y, "y"), q);
  }

  /**
   * Adds x to the residual, normalises the sum, and quantises the result, which itself is not
   * stored: {@code residual += x; q = quantise(norm(residual))}.
   *
   * @param x the rows that are added, of the norm's width
   * @param residual takes the sum, as in {@link #addAndApply(Rows, Rows, Rows)}
   * @param q where the codes and scales go: as many rows of the same width
   * @throws IllegalArgumentException if the norm has a gate, the shapes or types do not fit,
   *     something to be written is read-only, or codes, scales, residual and x overlap each other
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void addAndApply(Rows x, Rows residual, QuantizedRows q) {
    quantize(x, NormArguments.requireNonNull(residual, "residual"), null, null, q);
  }

  /**
   * Adds x to the residual, normalises the sum, and quantises the result that is stored in y.
   *
   * @param x the rows that are added, of the norm's width
   * @param residual takes the sum, as in {@link #addAndApply(Rows, Rows, Rows)}
   * @param y where the normalised sum goes; x itself for in place
   * @param q where the codes and scales go: as many rows of the same width
   * @throws IllegalArgumentException if the norm has a gate, or as for {@link #addAndApply(Rows,
   *     Rows, Rows)} and {@link #apply(Rows, Rows, QuantizedRows)}
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void addAndApply(Rows x, Rows residual, Rows y, QuantizedRows q) {
    NormArguments.requireNonNull(residual, "residual");
    quantize(x, residual, null, NormArguments.requireNonNull(y, "y"), q);
  }

  /** Checks a call whose output becomes codes; y is null where it is not stored. */
  final void checkQuantized(
      Rows x, @Nullable Rows residual, @Nullable Rows z, @Nullable Rows y, QuantizedRows q) {
    if (y == null) {
      if (z != null) {
        NormArguments.checkGate(spec.gate(), width, x, z);
      }
      NormArguments.checkQuantized(width, x, residual);
    } else if (z != null) {
      checkGated(x, z, null, null, y);
    } else {
      check(x, residual, null, null, y, null, null);
    }
    QuantizedArguments.check(width, x, residual, q);
    QuantizedArguments.requireApart(y, q, "y");
    QuantizedArguments.requireApart(z, q, "z");
    if (z == null) {
      NormArguments.requireNoGate(spec.gate(), residual);
    }
  }

  private void quantize(
      Rows x, @Nullable Rows residual, @Nullable Rows z, @Nullable Rows y, QuantizedRows q) {
    checkQuantized(x, residual, z, y, q);
    if (x.rows() > 0) {
      computeCodes(x, residual, z, y, q);
    }
  }

  private void computeCodes(
      Rows x, @Nullable Rows residual, @Nullable Rows z, @Nullable Rows y, QuantizedRows q) {
    if (!FirstTier.isInJavasState()
        && FloatingPointGuard.runs(
            CallMemory.isOfAnyThread(x, residual, z, y) && QuantizedArguments.isOfAnyThread(q),
            () -> computeCodes(x, residual, z, y, q))) {
      return;
    }
    CodeRule rule = quantizer().rule();
    if (first != null && y == null && first.quantize(x, residual, q.memory(), rule)) {
      return;
    }
    boolean rounds = quantizer().roundsOutput() && x.type() != ElementType.FLOAT64;
    ElementType type = rounds ? x.type() : ElementType.FLOAT32;
    BackEndParts parts = backEndParts();
    int bits = parts.plans.machineBits(x.rows() * width, q.memory(), rule);
    RowMemory output =
        y == null ? QuantizedChunks.any(type, q.memory(), rule, bits) : parts.memory.of(y, groups);
    try (Call call = forwardCall(x, residual, z, null, null, output, null, null, null, null)) {
      boolean shared = CallMemory.isShared(call.rows()) && QuantizedArguments.isOfAnyThread(q);
      QuantizedRunner.run(
          call,
          parts.plans,
          x.rows(),
          groups,
          shared ? threads : 1,
          y == null ? null : parts.memory.of(y, 1),
          q.memory(),
          rule,
          bits);
    } finally {
      Reference.reachabilityFence(x);
      Reference.reachabilityFence(residual);
      Reference.reachabilityFence(z);
      Reference.reachabilityFence(y);
    }
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
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void applyGated(Rows x, Rows z, Rows y) {
    applyGated(x, z, null, null, y);
  }

  /**
   * Normalises rows with a gate, with a gain and bias of this call.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param gain one row, or one for each sample, instead of the norm's own gain; or null
   * @param bias as many rows instead of the norm's own bias, or null
   * @param y where the result goes; x or z itself for in place
   * @throws IllegalArgumentException as for {@link #applyGated(Rows, Rows, Rows)} and {@link
   *     #apply(Rows, Rows, Rows, Rows)}
   */
  public final void applyGated(Rows x, Rows z, @Nullable Rows gain, @Nullable Rows bias, Rows y) {
    checkGated(x, z, gain, bias, y);
    compute(x, null, z, gain, bias, y, null, null);
  }

  /**
   * Normalises rows with a gate, as {@link #applyGated(Rows, Rows, Rows)} does, and quantises the
   * result, which itself is not stored. {@link #apply(Rows, QuantizedRows)} says how.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param q where the codes and scales go: as many rows of the same width
   * @throws IllegalArgumentException if the norm has no gate, the shapes or types do not fit, codes
   *     or scales are read-only, or they overlap each other, x or z
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void applyGated(Rows x, Rows z, QuantizedRows q) {
    quantize(x, null, NormArguments.requireNonNull(z, "z"), null, q);
  }

  /**
   * Normalises rows with a gate, and quantises the result that is stored in y.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param y where the result goes; x or z itself for in place
   * @param q where the codes and scales go: as many rows of the same width
   * @throws IllegalArgumentException as for {@link #applyGated(Rows, Rows, Rows)} and {@link
   *     #applyGated(Rows, Rows, QuantizedRows)}, or if codes or scales overlap y
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void applyGated(Rows x, Rows z, Rows y, QuantizedRows q) {
    NormArguments.requireNonNull(z, "z");
    quantize(x, null, z, NormArguments.requireNonNull(y, "y"), q);
  }

  /**
   * Normalises whole float32 arrays with a gate, as {@link #applyGated(Rows, Rows, Rows)} does. The
   * arrays are rows x width.
   *
   * @param x the rows
   * @param z the gate
   * @param y where the result goes; x or z itself for in place
   * @throws IllegalArgumentException if the norm has no gate, an array is not whole rows, or the
   *     arrays have different lengths
   */
  public final void applyGated(float[] x, float[] z, float[] y) {
    applyGated(rows(x, "x"), rows(z, "z"), rows(y, "y"));
  }

  final void checkGated(Rows x, Rows z, @Nullable Rows gain, @Nullable Rows bias, Rows y) {
    NormArguments.checkGate(spec.gate(), width, x, NormArguments.requireNonNull(z, "z"));
    check(x, null, gain, bias, y, null, null);
    NormArguments.requireSameOrDisjoint(y, z, "y", "z");
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
    applyGated(x, z, null, null, y, saved);
  }

  /**
   * Normalises rows with a gate, with a gain and bias of this call, and keeps what {@link
   * #backwardGated} needs: x, z, gain and bias, which must not change until the backward pass is
   * done.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param gain one row, or one for each sample, instead of the norm's own gain; or null
   * @param bias as many rows instead of the norm's own bias, or null
   * @param y where the result goes; neither x nor z itself
   * @param saved takes what is kept; not with {@link Keep#OUTPUT}
   * @throws IllegalArgumentException as for {@link #applyGated(Rows, Rows, Rows, Saved)} and {@link
   *     #apply(Rows, Rows, Rows, Rows, Saved)}
   */
  public final void applyGated(
      Rows x, Rows z, @Nullable Rows gain, @Nullable Rows bias, Rows y, Saved saved) {
    checkGated(x, z, gain, bias, y);
    requireKeptOfGate(NormArguments.requireNonNull(saved, "saved").keep(), z, y);
    train(x, null, z, gain, bias, y, saved);
  }

  /** A backward pass with a gate needs x and z. */
  static void requireKeptOfGate(Keep keep, Rows z, Rows y) {
    if (keep == Keep.OUTPUT) {
      throw new IllegalArgumentException(
          "saved keeps the output, with a gate it must keep the input or nothing");
    }
    NormArguments.requireDistinct(z, y, "z", false);
  }

  /**
   * Normalises whole float32 arrays with a gate and keeps what {@link #backwardGated} needs, as
   * {@link #applyGated(Rows, Rows, Rows, Saved)} does. The arrays are rows x width.
   *
   * @param x the rows
   * @param z the gate
   * @param y where the result goes; neither x nor z itself
   * @param saved takes what is kept
   * @throws IllegalArgumentException as for {@link #applyGated(Rows, Rows, Rows, Saved)}
   */
  public final void applyGated(float[] x, float[] z, float[] y, Saved saved) {
    applyGated(rows(x, "x"), rows(z, "z"), rows(y, "y"), saved);
  }

  private Rows parameter(float[] values, String name) {
    return Rows.of(values, NormArguments.requireParameter(values, width, groupWidth, name));
  }

  private void train(
      Rows x,
      @Nullable Rows residual,
      @Nullable Rows z,
      @Nullable Rows gain,
      @Nullable Rows bias,
      Rows y,
      Saved saved) {
    if (z == null) {
      NormArguments.requireNoGate(spec.gate(), residual);
    }
    requireTraining(x, residual, z, gain, bias, y, saved, "saved");
    saved.begin(this, groups, spec.isCentred());
    compute(x, residual, z, gain, bias, y, saved.mean(), saved.rstd());
    boolean output = saved.keep() == Keep.OUTPUT;
    saved.end(output ? y : residual == null ? x : residual, z, gain, bias);
  }

  /**
   * Checks a forward pass with something to keep.
   *
   * @param other more rows of the call, checked elsewhere; null without them
   * @param name the argument that saved is
   */
  final void requireTraining(
      Rows x,
      @Nullable Rows residual,
      @Nullable Rows other,
      @Nullable Rows gain,
      @Nullable Rows bias,
      Rows y,
      Saved saved,
      String name) {
    NormArguments.requireNonNull(saved, name);
    saved.requireRoom(NormArguments.requireNonNull(x, "x").rows(), groups, name);
    double[] mean = spec.isCentred() ? saved.mean() : null;
    check(x, residual, gain, bias, y, mean, saved.rstd());
    if (other != null) {
      NormArguments.requireApart(other, mean, "mean");
      NormArguments.requireApart(other, saved.rstd(), "rstd");
    }
    requireKept(saved.keep(), x, residual, y, other == null);
    if (saved.keep() == Keep.OUTPUT) {
      requireNoZeros(gain, x.type() == ElementType.FLOAT64);
    }
  }

  /**
   * Refuses to keep what no backward pass can begin from.
   *
   * @param either whether the output may be kept instead of the input
   */
  final void requireKept(Keep keep, Rows x, @Nullable Rows residual, Rows y, boolean either) {
    if (keep == Keep.OUTPUT) {
      NormArguments.requireArithmetic(y, x, "y");
      requireWholeRow();
    } else if (residual == null) {
      NormArguments.requireDistinct(x, y, "x", either);
    }
  }

  /** The output must determine the normalised row: all of it must be normalised. */
  private void requireWholeRow() {
    if (part < groupWidth) {
      throw new IllegalArgumentException(
          "part is " + part + ", to go back from the output it must be the width");
    }
  }

  /** The output must determine the normalised row: by a gain that can be divided by. */
  final void requireNoZeros(@Nullable Rows ofCall, boolean float64) {
    if (!FirstTier.isInJavasState()
        && FloatingPointGuard.runs(
            CallMemory.isOfAnyThread(ofCall), () -> requireNoZeros(ofCall, float64))) {
      return;
    }
    Staging staging = Staging.take();
    try {
      Object values = gain(ofCall, float64, staging);
      if (values == null) {
        return;
      }
      int n = length(ofCall, gain);
      for (int i = 0; i < n; i++) {
        if (float64 ? isZero(((double[]) values)[i]) : isZero(((float[]) values)[i])) {
          boolean ofSamples = ofCall != null && ofCall.rows() > 1;
          String row = ofSamples ? " of row " + i / width : "";
          throw new IllegalArgumentException(
              ("element " + (ofSamples ? i % width : i) + row + " of the gain is 0,")
                  + " to go back from the output none may be: keep the input");
        }
      }
    } finally {
      staging.giveBack();
    }
  }

  /** By its bits: where subnormal numbers are taken as zeros, they compare as such. */
  private static boolean isZero(double value) {
    return Double.doubleToRawLongBits(value) << 1 == 0;
  }

  private static boolean isZero(float value) {
    return Float.floatToRawIntBits(value) << 1 == 0;
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
   * share no memory with what is kept, or with the gain and bias of the call, and it must not
   * overlap dy or dresidual in part. Elements between rows are not written.
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
   * @throws IllegalStateException if there was no forward pass, or a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void backward(
      Rows dy, Saved saved, Rows dx, @Nullable ParameterGradients gradients) {
    runBackward(dy, saved, null, dx, null, gradients, null);
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
    NormArguments.requireNonNull(dresidual, "dresidual");
    runBackward(dy, saved, dresidual, dx, null, gradients, null);
  }

  /**
   * The backward pass of whole float32 arrays: from the gradient of the output to the gradient of
   * the input, and of gain and bias. {@link #backward(Rows, Saved, Rows, ParameterGradients)} has
   * the formulas, and what NaN, infinity and aliasing give. The arrays are rows x width, with as
   * many rows as the forward pass had.
   *
   * @param dy the gradient of the output
   * @param saved of the forward pass, which may have been one of arrays or of {@link Rows}
   * @param dx where the gradient of the input goes; dy itself for in place. After {@code
   *     addAndApply} it is the gradient of x and of the old residual
   * @param gradients where the gradients of gain and bias go, or null if they are not wanted
   * @throws NullPointerException if dy, saved or dx is null
   * @throws IllegalArgumentException if an array is not whole rows, or of another number of rows
   *     than the forward pass had, the forward pass was of float64 rows, or dx is an array that the
   *     forward pass kept
   * @throws IllegalStateException if there was no forward pass
   */
  public final void backward(
      float[] dy, Saved saved, float[] dx, @Nullable ParameterGradients gradients) {
    backward(rows(dy, "dy"), saved, rows(dx, "dx"), gradients);
  }

  /**
   * The backward pass of whole float32 arrays whose residual goes on to where another gradient
   * comes from: {@code dx = gradient of the norm + dresidual}.
   *
   * @param dy the gradient of the output
   * @param saved of the forward pass
   * @param dresidual the gradient of the residual with the sum in it; dx may be the same array
   * @param dx where the gradient of x and of the old residual goes
   * @param gradients where the gradients of gain and bias go, or null if they are not wanted
   * @throws NullPointerException if an argument other than gradients is null
   * @throws IllegalArgumentException as for {@link #backward(float[], Saved, float[],
   *     ParameterGradients)}
   * @throws IllegalStateException if there was no forward pass
   */
  public final void backward(
      float[] dy,
      Saved saved,
      float[] dresidual,
      float[] dx,
      @Nullable ParameterGradients gradients) {
    backward(rows(dy, "dy"), saved, rows(dresidual, "dresidual"), rows(dx, "dx"), gradients);
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
   * @throws IllegalStateException if there was no forward pass, or a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public final void backwardGated(
      Rows dy, Saved saved, Rows dx, Rows dz, @Nullable ParameterGradients gradients) {
    NormArguments.requireGate(spec.gate());
    Rows kept = NormArguments.requireNonNull(saved, "saved").kept(this);
    Rows z = NormArguments.requireNonNull(saved.z(), "z of saved");
    BackwardArguments.checkBackwardOfGate(width, dy, kept, z, dx, dz);
    runBackward(dy, saved, null, dx, dz, gradients, null);
  }

  /**
   * The backward pass of whole float32 arrays with a gate, as {@link #backwardGated(Rows, Saved,
   * Rows, Rows, ParameterGradients)} does it. The arrays are rows x width.
   *
   * @param dy the gradient of the output
   * @param saved what {@link #applyGated(float[], float[], float[], Saved)} kept
   * @param dx where the gradient of x goes
   * @param dz where the gradient of z goes
   * @param gradients where the gradients of gain and bias go, or null if they are not wanted
   * @throws IllegalArgumentException as for {@link #backwardGated(Rows, Saved, Rows, Rows,
   *     ParameterGradients)}, or if an array is not whole rows
   * @throws IllegalStateException if there was no forward pass
   */
  public final void backwardGated(
      float[] dy, Saved saved, float[] dx, float[] dz, @Nullable ParameterGradients gradients) {
    backwardGated(rows(dy, "dy"), saved, rows(dx, "dx"), rows(dz, "dz"), gradients);
  }

  private Rows rows(float[] array, String name) {
    NormArguments.requireWholeRows(NormArguments.requireNonNull(array, name).length, width, name);
    return Rows.of(array, width);
  }

  /**
   * A backward pass.
   *
   * @param dresidual null without one
   * @param dz null without a gate
   * @param given null without gradients of gain and bias
   * @param shared sums rows that have several owners; null for whole rows
   */
  final void runBackward(
      Rows dy,
      Saved saved,
      @Nullable Rows dresidual,
      Rows dx,
      @Nullable Rows dz,
      @Nullable ParameterGradients given,
      @Nullable SharedSums shared) {
    if (dz == null) {
      NormArguments.requireNoGate(spec.gate(), "backwardGated");
    }
    ParameterGradients gradients = given == null ? ParameterGradients.NONE : given;
    Rows kept = NormArguments.requireNonNull(saved, "saved").kept(this);
    BackwardArguments.checkBackward(width, dy, kept, dresidual, dx);
    int parameters = parameterLength(saved.gain(), saved.bias());
    @Nullable Rows[] rows = new Rows[(dz == null ? Backward.DX : Backward.DZ).place() + 1];
    rows[Forward.X.place()] = kept;
    rows[Forward.RESIDUAL.place()] = dresidual;
    rows[Backward.DY.place()] = dy;
    rows[Backward.DX.place()] = dx;
    if (dz != null) {
      rows[Forward.Z.place()] = saved.z();
      rows[Backward.DZ.place()] = dz;
    }
    BackwardArguments.checkGradients(gradients, parameters, width, groupWidth, saved, rows);
    BackwardArguments.checkStays(saved, dx, "dx");
    if (dz != null) {
      BackwardArguments.checkStays(saved, dz, "dz");
    }
    computeBackward(rows, saved, gradients, parameters, shared);
  }

  /** Relies on the checks. */
  private void computeBackward(
      @Nullable Rows[] rows,
      Saved saved,
      ParameterGradients gradients,
      int parameters,
      @Nullable SharedSums shared) {
    if (!FirstTier.isInJavasState()
        && FloatingPointGuard.runs(
            // An exchange of sums is called by the caller's thread.
            shared == null
                && CallMemory.isOfAnyThread(rows)
                && CallMemory.isOfAnyThread(saved.gain(), saved.bias()),
            () -> computeBackward(rows, saved, gradients, parameters, shared))) {
      return;
    }
    boolean float64 = saved.kept(this).type() == ElementType.FLOAT64;
    Staging gains = Staging.take();
    Staging biases = Staging.take();
    try {
      Object gain = gain(saved.gain(), float64, gains);
      boolean biased = saved.keep() == Keep.OUTPUT || spec.gate().isAfter();
      Object bias = biased ? bias(saved.bias(), float64, biases) : null;
      int most = Math.max(parameters, gradients.length());
      int parts = most <= groupWidth ? 1 : most / groupWidth;
      boolean held = saved.gain() == null && saved.bias() == null;
      NormColumns ofNorm = held ? backEndParts().columns(float64) : null;
      Object[] columns = {gain, bias};
      BackwardRun.run(this, rows, saved, gradients, columns, ofNorm, parts, shared);
    } finally {
      gains.giveBack();
      biases.giveBack();
      Reference.reachabilityFence(rows);
      Reference.reachabilityFence(saved);
    }
  }

  /** A forward call that keeps nothing for a backward pass. */
  final void run(
      Rows x,
      @Nullable Rows residual,
      @Nullable Rows gain,
      @Nullable Rows bias,
      Rows y,
      double @Nullable [] mean,
      double @Nullable [] rstd) {
    NormArguments.requireNoGate(spec.gate(), residual);
    check(x, residual, gain, bias, y, mean, rstd);
    NormArguments.requireRoom(mean, x.rows(), groups, meanName());
    NormArguments.requireRoom(rstd, x.rows(), groups, "rstd");
    boolean asBuilt = gain == null && bias == null && mean == null && rstd == null;
    boolean isFirst = asBuilt && FirstTier.isInJavasState();
    if (first == null || !isFirst || !FirstTier.isFit(x, residual, y)) {
      compute(x, residual, null, gain, bias, y, mean, rstd);
    } else if (!first.apply(x, residual, y) && !computeByKernels(x, residual, y)) {
      first.applyAll(x, residual, y);
    }
  }

  private String meanName() {
    return spec.isOfLength() ? "length" : "mean";
  }

  final void check(
      Rows x,
      @Nullable Rows residual,
      @Nullable Rows gain,
      @Nullable Rows bias,
      Rows y,
      double @Nullable [] mean,
      double @Nullable [] rstd) {
    NormArguments.check(width, groupWidth, x, residual, gain, bias, y, mean, meanName(), rstd);
    spec.requireFormula(bias != null);
    parameterLength(gain, bias);
  }

  /** False, and nothing is written, if plain Java would do it. */
  private boolean computeByKernels(Rows x, @Nullable Rows residual, Rows y) {
    BackEndParts parts = backEndParts();
    RowMemory output = parts.memory.of(y, groups);
    try (Call call = forwardCall(x, residual, null, null, null, output, null, null, null, null)) {
      int most = CallMemory.isShared(call.rows()) ? threads : 1;
      return Runner.runKernels(call, parts.plans, x.rows() * groups, most);
    } finally {
      Reference.reachabilityFence(x);
      Reference.reachabilityFence(residual);
      Reference.reachabilityFence(y);
    }
  }

  /** Every forward call ends here. It relies on the checks. */
  private void compute(
      Rows x,
      @Nullable Rows residual,
      @Nullable Rows z,
      @Nullable Rows gain,
      @Nullable Rows bias,
      Rows y,
      double @Nullable [] mean,
      double @Nullable [] rstd) {
    if (x.rows() == 0) {
      return;
    }
    if (!FirstTier.isInJavasState()
        && FloatingPointGuard.runs(
            CallMemory.isOfAnyThread(x, residual, z, gain, bias, y),
            () -> compute(x, residual, z, gain, bias, y, mean, rstd))) {
      return;
    }
    Staging gains = gain == null ? null : Staging.take();
    Staging biases = bias == null ? null : Staging.take();
    BackEndParts parts = backEndParts();
    RowMemory output = parts.memory.of(y, groups);
    try (Call call = forwardCall(x, residual, z, gain, bias, output, mean, rstd, gains, biases)) {
      Runner.run(
          call, parts.plans, x.rows() * groups, CallMemory.isShared(call.rows()) ? threads : 1);
    } finally {
      if (gains != null) {
        gains.giveBack();
      }
      if (biases != null) {
        biases.giveBack();
      }
      // Kernels hold addresses, which keep nothing alive.
      Reference.reachabilityFence(x);
      Reference.reachabilityFence(residual);
      Reference.reachabilityFence(z);
      Reference.reachabilityFence(y);
    }
  }

  /**
   * A forward call of checked rows.
   *
   * @param output null where the output is not stored
   * @param gains what a gain of the call may be copied to; null without one
   * @param biases likewise of a bias
   */
  final Call forwardCall(
      Rows x,
      @Nullable Rows residual,
      @Nullable Rows z,
      @Nullable Rows gain,
      @Nullable Rows bias,
      @Nullable RowMemory output,
      double @Nullable [] mean,
      double @Nullable [] rstd,
      @Nullable Staging gains,
      @Nullable Staging biases) {
    boolean float64 = x.type() == ElementType.FLOAT64;
    int parts = Math.max(1, parameterLength(gain, bias) / groupWidth);
    Tensor last = parts > 1 ? Forward.BIAS_OF_GROUPS : z == null ? Forward.Y : Forward.Z;
    CallMemory memory = backEndParts().memory;
    @Nullable RowMemory[] rows = new RowMemory[1 + last.place()];
    rows[Forward.X.place()] = memory.of(x, groups);
    rows[Forward.RESIDUAL.place()] = residual == null ? null : memory.of(residual, groups);
    rows[Forward.Y.place()] = output;
    if (z != null) {
      rows[Forward.Z.place()] = memory.of(z, groups);
    }
    @Nullable Object[] columns = {gain(gain, float64, gains), bias(bias, float64, biases)};
    boolean biased = columns[Forward.BIAS.place()] != null;
    Formula formula = backEndParts().forward(x.type(), gainType(gain), biased);
    NormColumns ofNorm = gain == null && bias == null ? backEndParts().columns(float64) : null;
    if (parts > 1) {
      moveToRows(rows, columns, ofNorm, parts, x);
    }
    NormChoices of = choices(x.type());
    return new Call(of, formula, rows, columns, ofNorm, mean, rstd, null);
  }

  /** Takes gain and bias of groups or of samples from the columns, as rows beside those of x. */
  final void moveToRows(
      @Nullable RowMemory[] rows,
      @Nullable Object[] columns,
      @Nullable NormColumns ofNorm,
      int parts,
      Rows x) {
    rows[Forward.GAIN_OF_GROUPS.place()] = ofParts(parts, Forward.GAIN, columns, ofNorm, x);
    rows[Forward.BIAS_OF_GROUPS.place()] = ofParts(parts, Forward.BIAS, columns, ofNorm, x);
  }

  private @Nullable RowMemory ofParts(
      int parts, Tensor column, @Nullable Object[] columns, @Nullable NormColumns ofNorm, Rows x) {
    Object values = columns[column.place()];
    if (values == null) {
      return null;
    }
    columns[column.place()] = null;
    // If rows are in native memory, an array would make each call of machine code a critical one.
    MemorySegment there =
        ofNorm != null && backEndParts().memory.of(x, groups).access() == RowMemory.Access.NATIVE
            ? ofNorm.of(column, values, width)
            : null;
    return CallMemory.ofParameter(values, there, groupWidth, parts, x.rows(), groups > 1);
  }

  /**
   * The elements of gain and bias, those of the call or else those of the norm: of a row, of a
   * group if all groups share them, or of the rows of all samples; 0 if there are none.
   */
  final int parameterLength(@Nullable Rows gainOfCall, @Nullable Rows biasOfCall) {
    int ofGain = length(gainOfCall, gain);
    int ofBias = length(biasOfCall, bias);
    boolean isHeld = biasOfCall == null && gainOfCall != null;
    if (ofGain > 0 && ofBias > 0 && ofGain != ofBias) {
      NormArguments.requireSameParameters(ofGain, ofBias, isHeld);
    }
    return Math.max(ofGain, ofBias);
  }

  private static int length(@Nullable Rows ofCall, @Nullable Parameter ofNorm) {
    return ofCall != null ? elements(ofCall) : ofNorm == null ? 0 : ofNorm.length();
  }

  private static int elements(Rows parameter) {
    return (int) parameter.rows() * parameter.width();
  }

  private @Nullable Object gain(@Nullable Rows ofCall, boolean float64, @Nullable Staging staging) {
    if (ofCall == null) {
      return gain == null ? null : gain.values(float64);
    }
    Staging into = NormArguments.requireNonNull(staging, "staging");
    Object values = Parameter.values(ofCall, float64, into);
    double offset = spec.gainOffset();
    return offset == 0 ? values : Parameter.plus(values, offset, elements(ofCall), into);
  }

  private @Nullable ElementType gainType(@Nullable Rows ofCall) {
    return ofCall != null ? ofCall.type() : gain == null ? null : gain.type();
  }

  private @Nullable Object bias(@Nullable Rows ofCall, boolean float64, @Nullable Staging staging) {
    if (ofCall != null) {
      return Parameter.values(ofCall, float64, NormArguments.requireNonNull(staging, "staging"));
    }
    return bias == null ? null : bias.values(float64);
  }

  /** For example {@code RmsNorm(4096, llama(eps=1e-5), gain)}. */
  @Override
  public String toString() {
    if (ofColumns != null) {
      return ofColumns;
    }
    return getClass().getSimpleName()
        + "("
        + width
        + ", "
        + spec
        + (gain == null ? "" : ", gain")
        + (bias == null ? ")" : ", bias)");
  }

  /**
   * Collects the choices of a norm. A builder is not for use by several threads at once; the norm
   * that it builds is.
   *
   * @param <B> the builder's own type
   */
  public abstract static sealed class Builder<B extends Builder<B>>
      permits RmsNorm.Builder, LayerNorm.Builder, L2Norm.Builder {
    private final int width;

    /** Elements of a row of which the norm has some columns, and which; 0 and null if all. */
    private int rowWidth;

    private @Nullable String columns;

    private NormSpec spec;
    private @Nullable Parameter gain;
    private @Nullable Parameter bias;
    private int threads = Runtime.getRuntime().availableProcessors();
    private boolean safe;
    private @Nullable Backend backend;
    private @Nullable Quantizer quantizer;

    Builder(NormSpec spec, NormSpec.Kind kind, int width) {
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

    abstract B self();

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
     * The epsilon. It is added to the mean square, or to the variance, inside the root, unless
     * {@link #epsilonPlacement} says otherwise.
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
     * How many groups a row has. Each has a statistic of its own: the norm is that of rows of
     * {@code width / count} elements. Gain and bias have an element for each element of a row, or
     * for each element of a group if all groups share them.
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
     * <p>Machine code reads gain and bias from native memory. All norms of a process together keep
     * 32 MiB of such copies; the calls of norms beyond that copy gain and bias each time.
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
     * The learned factor of each element of a row.
     *
     * @param gain as many elements as a row, or as a group; copied, and rounded to float32 for
     *     float32 arithmetic
     * @return this
     * @throws IllegalArgumentException if the length does not divide the width
     */
    public B gain(double[] gain) {
      this.gain = Parameter.of(NormArguments.requireArray(gain, width, spec.groups(), "gain"));
      return self();
    }

    /**
     * The learned factor of each element of a row.
     *
     * @param gain one row of the width of the norm or of a group, of any type; copied
     * @return this
     * @throws IllegalArgumentException if it is not one row, or its width does not divide the
     *     norm's
     * @throws IllegalStateException if its segment is closed
     * @throws WrongThreadException if its segment is confined to another thread
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
     * The learned term added to each element of a row.
     *
     * @param bias as many elements as a row, or as a group; copied, and rounded to float32 for
     *     float32 arithmetic
     * @return this
     * @throws IllegalArgumentException if the length does not divide the width
     */
    public B bias(double[] bias) {
      this.bias = Parameter.of(NormArguments.requireArray(bias, width, spec.groups(), "bias"));
      return self();
    }

    /**
     * The learned term added to each element of a row.
     *
     * @param bias one row of the width of the norm or of a group, of any type; copied
     * @return this
     * @throws IllegalArgumentException if it is not one row, or its width does not divide the
     *     norm's
     * @throws IllegalStateException if its segment is closed
     * @throws WrongThreadException if its segment is confined to another thread
     */
    public B bias(Rows bias) {
      this.bias = oneRow(bias, "bias");
      return self();
    }

    /**
     * The largest number of threads of a call, including the caller's. A call uses fewer threads if
     * each would have less than about a MiB to read and write. The default is the number of
     * processors. The other threads are daemon threads of the library, which all norms share. After
     * a call they stay awake for 50 microseconds, so that the next call need not wake them.
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
     * Copies rows in native memory through a small buffer, with calls that check every access. Then
     * a segment that another thread closes during a call gives an exception. Without {@code safe()}
     * it can end the JVM. The copies take time: the rows "safe()" of docs/performance.md show how
     * much.
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
}
