package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.internal.device.NormParts;
import java.lang.foreign.Arena;

/**
 * A norm on a device. It makes the choices of the {@link Norm} that it was made from, has a copy of
 * its gain and bias in the memory of the device, and gives the same bits.
 *
 * <pre>{@code
 * CudaNorm norm = device.norm(RmsNorm.builder(4096).gain(gain).build(), arena).on(stream);
 * norm.apply(x, y);
 * }</pre>
 *
 * <p><b>Streams.</b> A call starts kernels on the {@linkplain #stream stream} of the norm and
 * returns. {@link CudaDevice#norm} makes norms on the {@linkplain CudaDevice#defaultStream default
 * stream}, which copies without a stream wait for; {@link #on} is the same norm on another one.
 *
 * <p><b>Memory.</b> Rows of a call must stay allocated, and those that are read must not change,
 * until the stream has done the work. The copy of gain and bias lives as long as the arena, and
 * calls are refused after that. Where one call needs memory that an earlier one writes, both must
 * be on one stream, or one must wait for the other.
 *
 * <p><b>Types, shapes and aliasing</b> are those of {@link Norm}: for example, y may be x, and the
 * type of y is its own. Rows and their groups together are at most 2^31 - 1 in a call.
 *
 * <p><b>Exceptions.</b> A call checks all arguments before it starts anything. It throws
 *
 * <ul>
 *   <li>{@link NullPointerException} if an argument is null that may not be;
 *   <li>{@link IllegalArgumentException} if shapes or types do not fit, memory overlaps or is of
 *       another device, saved is of another norm or has room for fewer rows, the norm cannot go
 *       back from what is to be kept, or it has a gate and the call has no z, or the reverse;
 *   <li>{@link IllegalStateException} if an arena, the stream or the device is closed;
 *   <li>{@link WrongThreadException} if an arena is confined to another thread;
 *   <li>{@link CudaException} if the driver refuses a kernel, too little memory is free, or work
 *       before this failed. If a kernel fails, a later call on the device or {@link
 *       CudaStream#synchronize} throws it and names the kernel and its call, such as {@code
 *       RmsNorm.apply(128 x 4096 float32)}.
 * </ul>
 *
 * <p><b>Threads.</b> A norm on a device is immutable. Any number of threads may use it if the arena
 * lets them. The first call of a kind compiles its kernels, which can take a second; the driver
 * keeps compiled kernels in a cache on disk.
 */
public final class CudaNorm {
  private final CudaDevice device;
  private final Norm norm;
  private final NormParts parts;
  private final DeviceParameters parameters;
  private final CudaStream stream;
  private final StreamMemory between;
  private final NormCalls calls;

  CudaNorm(CudaDevice device, Norm norm, Arena arena) {
    this.device = device;
    this.norm = norm;
    this.parts = NormParts.of(norm);
    this.parameters = DeviceParameters.of(device, parts, arena);
    this.stream = device.defaultStream();
    this.between = new StreamMemory(device, arena);
    this.calls = new NormCalls(this);
  }

  private CudaNorm(CudaNorm other, DeviceParameters parameters, CudaStream stream) {
    this.device = other.device;
    this.norm = other.norm;
    this.parts = other.parts;
    this.parameters = parameters;
    this.stream = stream;
    this.between = other.between;
    this.calls = new NormCalls(this);
  }

  /**
   * {@return this norm on a stream} All calls of the norm that is returned go to that stream. It
   * shares all else with this norm, gain and bias included, and costs no call of the driver. A
   * backward pass may be on another stream than its forward pass if it has waited for that.
   *
   * @param stream does the work; calls are refused once it is closed
   * @throws NullPointerException if it is null
   * @throws IllegalArgumentException if it is of another device
   */
  public CudaNorm on(CudaStream stream) {
    CudaDevice other = require(stream, "stream").device();
    if (!device.isSameAs(other)) {
      throw new IllegalArgumentException("stream is of " + other + ", the norm is on " + device);
    }
    return new CudaNorm(this, parameters, stream);
  }

  /**
   * {@return this norm with a gain and a bias that the caller has in the memory of the device,
   * instead of the norm's own} All calls of the norm that is returned read them there, each time.
   * Nothing is copied, so a later call sees what was written there meanwhile: an optimizer updates
   * the gain in place, and a modulated norm has a gain and a bias for each sample of a batch.
   *
   * <pre>{@code
   * CudaNorm modulated = norm.withParameters(scale, shift); // samples x 4096 each
   * modulated.apply(x, y, saved);
   * modulated.backward(dy, saved, dx, CudaGradients.assigned(dscale, dshift));
   * }</pre>
   *
   * <p>{@link Norm} says what they mean: one row, or both a row for each sample of x. They may be
   * of any type; kernels round them to the compute type, and add the {@linkplain
   * NormBuilder#gainOffset offset} of the norm to the gain. Where the output is kept, nobody looks
   * whether a gain in the memory of the device has zeros: then gradients are NaN or infinite.
   *
   * <p>Gain and bias must not change until a stream has done the calls before, backward calls
   * included. A forward and its backward pass go through the same object, or one that {@link #on}
   * made of it. Making one costs no call of the driver.
   *
   * @param gain one row of the norm's width or of that of a group, or a row for each sample; null
   *     for what this norm has
   * @param bias as many rows; null for what this norm has
   * @throws IllegalArgumentException if they do not fit the norm or each other, or are of another
   *     device, or the norm takes no bias
   */
  public CudaNorm withParameters(CudaRows gain, CudaRows bias) {
    if (gain == null && bias == null) {
      return this;
    }
    requireOn(gain, "gain");
    requireOn(bias, "bias");
    DeviceParameters given = parameters.with(gain, bias);
    parts.checks().parameters(given.forChecks());
    return new CudaNorm(this, given, stream);
  }

  private void requireOn(CudaRows parameter, String name) {
    if (parameter != null) {
      CallRows.requireOn(device, parameter.memory(), name);
    }
  }

  /** {@return the device that it is on} */
  public CudaDevice device() {
    return device;
  }

  /** {@return the norm that it was made from} */
  public Norm norm() {
    return norm;
  }

  /** {@return the stream that its calls go to} */
  public CudaStream stream() {
    return stream;
  }

  NormParts parts() {
    return parts;
  }

  DeviceParameters parameters() {
    return parameters;
  }

  /** Memory for results between two kernels. */
  StreamMemory between() {
    return between;
  }

  NormCalls calls() {
    return calls;
  }

  /**
   * {@return an object that takes what forward passes of this norm keep for their backward passes}
   *
   * @param keep what is kept
   * @param rows the largest number of rows of a forward pass
   * @param arena frees its memory on the device when it is closed, after the work before is done
   * @throws IllegalArgumentException if rows is negative or too many
   * @throws IllegalStateException if the arena or the device is closed
   * @throws CudaException if not so much memory is free
   */
  public CudaSaved saved(Keep keep, int rows, Arena arena) {
    return new CudaSaved(this, keep, rows, arena);
  }

  /**
   * Normalises rows: {@link Norm#apply(Rows, Rows)}.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes: as many rows of the same width, in a type of its own; x itself
   *     for in place
   */
  public void apply(CudaRows x, CudaRows y) {
    calls.forward("apply", x, null, null, y, null);
  }

  /**
   * Normalises rows and keeps what {@link #backward(CudaRows, CudaSaved, CudaRows, CudaGradients)}
   * needs.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes; not x itself if the input is kept
   * @param saved takes what is kept; {@link #saved} of this norm has made it
   */
  public void apply(CudaRows x, CudaRows y, CudaSaved saved) {
    calls.forward("apply", x, null, null, y, require(saved, "saved"));
  }

  /**
   * Normalises rows and gives the mean, rstd or length of each row.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes; x itself for in place
   * @param statistics takes the numbers that this kind of norm has, in memory of its own
   */
  public void apply(CudaRows x, CudaRows y, CudaStatistics statistics) {
    calls.forward("apply", x, y, require(statistics, "statistics"));
  }

  /**
   * Normalises rows and quantises the result, by the rule of the norm's quantizer, as {@link
   * Norm#apply(Rows, Rows, QuantizedRows)} does.
   *
   * <p>If y is null and a block has elements of several groups of the norm, the result goes through
   * memory of the device: 4 bytes for each element. The norm keeps it for later calls on the same
   * stream, as long as its arena is open.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes, in a type of its own; x itself for in place; null if only codes
   *     and scales are wanted
   * @param q where the codes and scales go: as many rows of the same width, in memory of their own
   */
  public void apply(CudaRows x, CudaRows y, CudaQuantizedRows q) {
    calls.quantized("apply", x, null, null, y, q);
  }

  /**
   * Adds x to the residual, and normalises the sum: {@code residual += x; y = norm(residual)}, as
   * {@link Norm#addAndApply(Rows, Rows, Rows)} does.
   *
   * @param x the rows that are added
   * @param residual takes the sum; memory of its own. Its type may differ from that of x, but if
   *     either is float64, both must be
   * @param y where the normalised sum goes; x itself for in place
   */
  public void addAndApply(CudaRows x, CudaRows residual, CudaRows y) {
    calls.forward("addAndApply", x, require(residual, "residual"), null, y, null);
  }

  /**
   * Adds x to the residual, normalises the sum and keeps what {@link #backward(CudaRows, CudaSaved,
   * CudaRows, CudaRows, CudaGradients)} needs; the kept input is the residual with the sum in it.
   *
   * @param x the rows that are added
   * @param residual takes the sum, and must keep it if the input is kept
   * @param y where the normalised sum goes
   * @param saved takes what is kept
   */
  public void addAndApply(CudaRows x, CudaRows residual, CudaRows y, CudaSaved saved) {
    CudaRows sum = require(residual, "residual");
    calls.forward("addAndApply", x, sum, null, y, require(saved, "saved"));
  }

  /**
   * Adds x to the residual, normalises the sum and quantises the result, as {@link
   * Norm#addAndApply(Rows, Rows, Rows, QuantizedRows)} does.
   *
   * @param x the rows that are added
   * @param residual takes the sum; memory of its own
   * @param y where the normalised sum goes; x itself for in place; null if only codes and scales
   *     are wanted, as in {@link #apply(CudaRows, CudaRows, CudaQuantizedRows)}
   * @param q where the codes and scales go: as many rows of the same width
   */
  public void addAndApply(CudaRows x, CudaRows residual, CudaRows y, CudaQuantizedRows q) {
    calls.quantized("addAndApply", x, require(residual, "residual"), null, y, q);
  }

  /**
   * Normalises rows, adds the result to the residual, and normalises the sum with another norm:
   * {@code residual += norm(x); y = next(residual)}, as {@link Norm#applyAndAdd(Rows, Rows, Norm,
   * Rows)} does. It is two kernels, both on the stream of this norm; between them the output of the
   * first norm is in y.
   *
   * @param x the rows, of the norm's width
   * @param residual takes the sum, as in {@link #addAndApply(CudaRows, CudaRows, CudaRows)}
   * @param next the norm of the sum, without a gate, of the same width on the same device; it may
   *     be this norm. Its stream does not matter
   * @param y where the normalised sum goes, of the type of x; x itself for in place
   */
  public void applyAndAdd(CudaRows x, CudaRows residual, CudaNorm next, CudaRows y) {
    calls.pair("applyAndAdd", x, require(residual, "residual"), next, y, null, null);
  }

  /**
   * Does what {@link #applyAndAdd(CudaRows, CudaRows, CudaNorm, CudaRows)} does, and keeps what the
   * backward passes of both norms need. They are two calls:
   *
   * <pre>{@code
   * next.backward(dy, savedOfNext, dresidual, dh, gradientsOfNext);
   * norm.backward(dh, saved, dx, gradients);
   * }</pre>
   *
   * <p>dresidual is the gradient of the sum from where the residual goes on. dh is the gradient of
   * the old residual, too. The stream of next matters for the first of these calls alone.
   *
   * @param x the rows, which must not change until the backward pass is done
   * @param residual takes the sum, and must keep it if the input of the next norm is kept
   * @param next the norm of the sum, of the same width on the same device
   * @param y where the normalised sum goes, of the type of x; not x itself
   * @param saved takes what is kept of this norm; not with {@link Keep#OUTPUT}
   * @param savedOfNext takes what is kept of the next norm; not saved itself
   */
  public void applyAndAdd(
      CudaRows x,
      CudaRows residual,
      CudaNorm next,
      CudaRows y,
      CudaSaved saved,
      CudaSaved savedOfNext) {
    require(saved, "saved").requireOther(require(savedOfNext, "savedOfNext"));
    calls.pair("applyAndAdd", x, require(residual, "residual"), next, y, saved, savedOfNext);
  }

  /**
   * Normalises rows with a gate, as {@link Norm#applyGated(Rows, Rows, Rows)} does.
   *
   * @param x the rows, of the norm's width
   * @param z the gate: as many rows of the same width. Its type may differ from that of x, but if
   *     either is float64, both must be
   * @param y where the result goes; x or z itself for in place
   */
  public void applyGated(CudaRows x, CudaRows z, CudaRows y) {
    calls.forward("applyGated", x, null, require(z, "z"), y, null);
  }

  /**
   * Normalises rows with a gate and keeps what {@link #backwardGated} needs: x and z, which must
   * not change until that is done.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param y where the result goes; neither x nor z itself
   * @param saved takes what is kept; not with {@link Keep#OUTPUT}
   */
  public void applyGated(CudaRows x, CudaRows z, CudaRows y, CudaSaved saved) {
    calls.forward("applyGated", x, null, require(z, "z"), y, require(saved, "saved"));
  }

  /**
   * Normalises rows with a gate and quantises the result, as {@link Norm#applyGated(Rows, Rows,
   * Rows, QuantizedRows)} does.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param y where the result goes; x or z itself for in place; null if only codes and scales are
   *     wanted, as in {@link #apply(CudaRows, CudaRows, CudaQuantizedRows)}
   * @param q where the codes and scales go: as many rows of the same width
   */
  public void applyGated(CudaRows x, CudaRows z, CudaRows y, CudaQuantizedRows q) {
    calls.quantized("applyGated", x, null, require(z, "z"), y, q);
  }

  /**
   * The backward pass, with the formulas and bits of {@link Norm#backward(Rows, Saved, Rows,
   * ParameterGradients)}.
   *
   * @param dy the gradient of the output, as many rows as the forward pass had
   * @param saved what the forward pass kept
   * @param dx where the gradient of x goes; it may be dy, and must not overlap what is kept
   * @param gradients where the gradients of gain and bias go, or null if they are not wanted
   * @throws IllegalStateException also if there was no forward pass
   */
  public void backward(CudaRows dy, CudaSaved saved, CudaRows dx, CudaGradients gradients) {
    calls.backward("backward", dy, saved, null, dx, null, gradients);
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
   */
  public void backward(
      CudaRows dy, CudaSaved saved, CudaRows dresidual, CudaRows dx, CudaGradients gradients) {
    calls.backward("backward", dy, saved, require(dresidual, "dresidual"), dx, null, gradients);
  }

  /**
   * The backward pass of a norm with a gate, with the formulas and bits of {@link
   * Norm#backwardGated(Rows, Saved, Rows, Rows, ParameterGradients)}.
   *
   * @param dy the gradient of the output
   * @param saved what the forward pass kept; x and z must not overlap dx or dz
   * @param dx where the gradient of x goes; it may be dy
   * @param dz where the gradient of z goes; it may be dy if dx is not
   * @param gradients where the gradients of gain and bias go, or null if they are not wanted
   */
  public void backwardGated(
      CudaRows dy, CudaSaved saved, CudaRows dx, CudaRows dz, CudaGradients gradients) {
    calls.backward("backwardGated", dy, saved, null, dx, require(dz, "dz"), gradients);
  }

  static <T> T require(T value, String name) {
    if (value == null) {
      throw new NullPointerException(name + " is null");
    }
    return value;
  }

  /** For example {@code RmsNorm(4096, llama, gain) on device 0 (NVIDIA H100 80GB HBM3)}. */
  @Override
  public String toString() {
    return norm + " on " + device + parameters;
  }
}
