package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.internal.device.NormParts;
import io.github.rmsnorm4j.internal.device.RowChecks;
import java.lang.foreign.Arena;

/**
 * A norm on a device. It makes the choices of the {@link Norm} that it was made from, has a copy of
 * its gain and bias in the memory of the device, and gives the same bits. {@link CudaDevice#norm}
 * makes it.
 *
 * <pre>{@code
 * CudaNorm norm = device.norm(RmsNorm.builder(4096).gain(gain).build(), arena);
 * norm.apply(x, y, stream);
 * }</pre>
 *
 * <p><b>Streams.</b> A call starts kernels on a stream and returns. It checks all arguments before
 * it starts anything. A call without a stream uses the {@linkplain CudaDevice#defaultStream default
 * stream}: it waits for the work that was started before on all streams of the device that {@link
 * CudaDevice#stream} made, and they wait for it; copies without a stream wait for it, too. If a
 * kernel fails, a later call on the device or {@link CudaStream#synchronize} throws a {@link
 * CudaException}, which names the kernel and the call that started it, such as {@code
 * RmsNorm.apply(128 x 4096 float32)}.
 *
 * <p><b>Memory.</b> Rows of a call must stay allocated, and those that are read must not change,
 * until the stream has done the work. The copy of gain and bias lives as long as the arena, and
 * calls are refused after that. Where one call needs memory that an earlier one writes, both must
 * be on one stream, or one must wait for the other.
 *
 * <p><b>Types, shapes and aliasing</b> are those of {@link Norm}: for example, y may be x, and the
 * type of y is its own. Rows and their groups together are at most 2^31 - 1 in a call.
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
  private final CudaStream defaultStream;
  private final StreamMemory between;
  private final NormCalls calls;

  CudaNorm(CudaDevice device, Norm norm, Arena arena) {
    this.device = device;
    this.norm = norm;
    this.parts = NormParts.of(norm);
    this.parameters = DeviceParameters.of(device, parts, arena);
    this.defaultStream = device.defaultStream();
    this.between = new StreamMemory(device, arena);
    this.calls = new NormCalls(this);
  }

  private CudaNorm(CudaNorm other, DeviceParameters parameters) {
    this.device = other.device;
    this.norm = other.norm;
    this.parts = other.parts;
    this.parameters = parameters;
    this.defaultStream = other.defaultStream;
    this.between = other.between;
    this.calls = new NormCalls(this);
  }

  /**
   * {@return this norm with a gain and a bias that the caller has in the memory of the device,
   * instead of the norm's own} All calls of the norm that is returned read them there, each time.
   * Nothing is copied, so a later call sees what was written there meanwhile: an optimizer updates
   * the gain in place, and a modulated norm has a gain and a bias for each sample of a batch.
   *
   * <pre>{@code
   * CudaNorm modulated = norm.withParameters(scale, shift); // samples x 4096 each
   * modulated.apply(x, y, saved, stream);
   * modulated.backward(dy, saved, dx, CudaGradients.assigned(dscale, dshift), stream);
   * }</pre>
   *
   * <p>{@link Norm} says what they mean: one row, or both a row for each sample of x. They may be
   * of any type; kernels round them to the compute type, and add the {@linkplain
   * Norm.Builder#gainOffset offset} of the norm to the gain. Where the output is kept, nobody looks
   * whether a gain in the memory of the device has zeros: then gradients are NaN or infinite.
   *
   * <p>Gain and bias must not change until a stream has done the calls before, backward calls
   * included. A forward and its backward pass go through the same object. Making one costs no call
   * of the driver.
   *
   * @param gain one row of the norm's width or of that of a group, or a row for each sample; null
   *     for what this norm has
   * @param bias as many rows; null for what this norm has
   * @throws IllegalArgumentException if they do not fit the norm or each other, or are of another
   *     device, or the norm takes no bias
   */
  public CudaNorm withParameters(CudaRows gain, CudaRows bias) {
    requireOn(gain, "gain");
    requireOn(bias, "bias");
    DeviceParameters given = parameters.with(gain, bias);
    checks().parameters(given.forChecks());
    return new CudaNorm(this, given);
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

  int groups() {
    return parts.groups();
  }

  RowChecks checks() {
    return parts.checks();
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
   * Normalises rows on the default stream; otherwise as {@link #apply(CudaRows, CudaRows,
   * CudaStream)}.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes; x itself for in place
   */
  public void apply(CudaRows x, CudaRows y) {
    apply(x, y, defaultStream);
  }

  /**
   * Normalises rows: {@link Norm#apply(io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.Rows)}.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes: as many rows of the same width, in a type of its own; x itself
   *     for in place
   * @param stream does the work
   * @throws NullPointerException if an argument is null
   * @throws IllegalArgumentException if the shapes differ, rows of x and y overlap and are not the
   *     same, the norm has a gate, or rows or stream are of another device
   * @throws IllegalStateException if an arena, the stream or the device is closed
   * @throws WrongThreadException if an arena is confined to another thread
   * @throws CudaException if the driver refuses a kernel, or work before this failed
   */
  public void apply(CudaRows x, CudaRows y, CudaStream stream) {
    calls.forward("apply", x, null, null, y, null, stream);
  }

  /**
   * Normalises rows on the default stream and keeps what a backward pass needs; otherwise as {@link
   * #apply(CudaRows, CudaRows, CudaSaved, CudaStream)}.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes; not x itself if the input is kept
   * @param saved takes what is kept
   */
  public void apply(CudaRows x, CudaRows y, CudaSaved saved) {
    apply(x, y, saved, defaultStream);
  }

  /**
   * Normalises rows and keeps what {@link #backward(CudaRows, CudaSaved, CudaRows, CudaGradients,
   * CudaStream)} needs.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes; not x itself if the input is kept
   * @param saved takes what is kept; {@link #saved} of this norm has made it
   * @param stream does the work
   * @throws IllegalArgumentException as for {@link #apply(CudaRows, CudaRows, CudaStream)}, or if
   *     saved is of another norm or has room for fewer rows, rows overlap its numbers, or the norm
   *     cannot go back from what is to be kept
   */
  public void apply(CudaRows x, CudaRows y, CudaSaved saved, CudaStream stream) {
    calls.forward("apply", x, null, null, y, require(saved, "saved"), stream);
  }

  /**
   * Normalises rows and gives the mean, rstd or length of each row.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes; x itself for in place
   * @param statistics takes the numbers, in memory of its own
   * @param stream does the work
   * @throws IllegalArgumentException as for {@link #apply(CudaRows, CudaRows, CudaStream)}, or if
   *     the numbers do not have the shape of the rows, are not of this kind of norm, or overlap
   *     rows of the call
   */
  public void apply(CudaRows x, CudaRows y, CudaStatistics statistics, CudaStream stream) {
    calls.forward("apply", x, y, require(statistics, "statistics"), stream);
  }

  /**
   * Adds x to the residual and normalises the sum, on the default stream; otherwise as {@link
   * #addAndApply(CudaRows, CudaRows, CudaRows, CudaStream)}.
   *
   * @param x the rows that are added
   * @param residual takes the sum
   * @param y where the normalised sum goes; x itself for in place
   */
  public void addAndApply(CudaRows x, CudaRows residual, CudaRows y) {
    addAndApply(x, residual, y, defaultStream);
  }

  /**
   * Adds x to the residual, and normalises the sum: {@code residual += x; y = norm(residual)}, as
   * {@link Norm#addAndApply(io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.Rows,
   * io.github.rmsnorm4j.Rows)} does.
   *
   * @param x the rows that are added
   * @param residual takes the sum; memory of its own. Its type may differ from that of x, but if
   *     either is float64, both must be
   * @param y where the normalised sum goes; x itself for in place
   * @param stream does the work
   * @throws IllegalArgumentException as for {@link #apply(CudaRows, CudaRows, CudaStream)}, or if
   *     the residual does not fit or overlaps x or y
   */
  public void addAndApply(CudaRows x, CudaRows residual, CudaRows y, CudaStream stream) {
    calls.forward("addAndApply", x, require(residual, "residual"), null, y, null, stream);
  }

  /**
   * Adds x to the residual, normalises the sum and keeps what a backward pass needs, on the default
   * stream.
   *
   * @param x the rows that are added
   * @param residual takes the sum, and must keep it if the input is kept
   * @param y where the normalised sum goes
   * @param saved takes what is kept
   */
  public void addAndApply(CudaRows x, CudaRows residual, CudaRows y, CudaSaved saved) {
    addAndApply(x, residual, y, saved, defaultStream);
  }

  /**
   * Adds x to the residual, normalises the sum and keeps what {@link #backward(CudaRows, CudaSaved,
   * CudaRows, CudaRows, CudaGradients, CudaStream)} needs; the kept input is the residual with the
   * sum in it.
   *
   * @param x the rows that are added
   * @param residual takes the sum, and must keep it if the input is kept
   * @param y where the normalised sum goes
   * @param saved takes what is kept
   * @param stream does the work
   * @throws IllegalArgumentException as for {@link #addAndApply(CudaRows, CudaRows, CudaRows,
   *     CudaStream)} and {@link #apply(CudaRows, CudaRows, CudaSaved, CudaStream)}
   */
  public void addAndApply(
      CudaRows x, CudaRows residual, CudaRows y, CudaSaved saved, CudaStream stream) {
    CudaRows sum = require(residual, "residual");
    calls.forward("addAndApply", x, sum, null, y, require(saved, "saved"), stream);
  }

  /**
   * Normalises rows, adds the result to the residual, and normalises the sum with another norm:
   * {@code residual += norm(x); y = next(residual)}, as {@link
   * Norm#applyAndAdd(io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.Rows, Norm,
   * io.github.rmsnorm4j.Rows)} does. It is two kernels; between them the output of the first norm
   * is in y.
   *
   * @param x the rows, of the norm's width
   * @param residual takes the sum, as in {@link #addAndApply(CudaRows, CudaRows, CudaRows,
   *     CudaStream)}
   * @param next the norm of the sum, of the same width on the same device; it may be this norm
   * @param y where the normalised sum goes, of the type of x; x itself for in place
   * @param stream does the work
   * @throws IllegalArgumentException as for {@link #addAndApply(CudaRows, CudaRows, CudaRows,
   *     CudaStream)}, or if the widths or devices of the norms or the types of x and y differ, or
   *     either norm has a gate
   */
  public void applyAndAdd(
      CudaRows x, CudaRows residual, CudaNorm next, CudaRows y, CudaStream stream) {
    calls.pair("applyAndAdd", x, require(residual, "residual"), next, y, null, null, stream);
  }

  /**
   * Does what {@link #applyAndAdd(CudaRows, CudaRows, CudaNorm, CudaRows, CudaStream)} does, and
   * keeps what the backward passes of both norms need. They are two calls:
   *
   * <pre>{@code
   * next.backward(dy, savedOfNext, dresidual, dh, gradientsOfNext, stream);
   * norm.backward(dh, saved, dx, gradients, stream);
   * }</pre>
   *
   * <p>dresidual is the gradient of the sum from where the residual goes on. dh is the gradient of
   * the old residual, too.
   *
   * @param x the rows, which must not change until the backward pass is done
   * @param residual takes the sum, and must keep it if the input of the next norm is kept
   * @param next the norm of the sum, of the same width on the same device
   * @param y where the normalised sum goes, of the type of x; not x itself
   * @param saved takes what is kept of this norm; not with {@link Keep#OUTPUT}
   * @param savedOfNext takes what is kept of the next norm
   * @param stream does the work
   * @throws IllegalArgumentException as for {@link #applyAndAdd(CudaRows, CudaRows, CudaNorm,
   *     CudaRows, CudaStream)} and {@link #apply(CudaRows, CudaRows, CudaSaved, CudaStream)}, or if
   *     saved keeps the output, or both are one object
   */
  public void applyAndAdd(
      CudaRows x,
      CudaRows residual,
      CudaNorm next,
      CudaRows y,
      CudaSaved saved,
      CudaSaved savedOfNext,
      CudaStream stream) {
    require(saved, "saved").requireOther(require(savedOfNext, "savedOfNext"));
    CudaRows sum = require(residual, "residual");
    calls.pair("applyAndAdd", x, sum, next, y, saved, savedOfNext, stream);
  }

  /**
   * Normalises rows with a gate on the default stream; otherwise as {@link #applyGated(CudaRows,
   * CudaRows, CudaRows, CudaStream)}.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param y where the result goes; x or z itself for in place
   */
  public void applyGated(CudaRows x, CudaRows z, CudaRows y) {
    applyGated(x, z, y, defaultStream);
  }

  /**
   * Normalises rows with a gate, as {@link Norm#applyGated(io.github.rmsnorm4j.Rows,
   * io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.Rows)} does.
   *
   * @param x the rows, of the norm's width
   * @param z the gate: as many rows of the same width. Its type may differ from that of x, but if
   *     either is float64, both must be
   * @param y where the result goes; x or z itself for in place
   * @param stream does the work
   * @throws IllegalArgumentException if the norm has no gate, or as for {@link #apply(CudaRows,
   *     CudaRows, CudaStream)}, with z as with x
   */
  public void applyGated(CudaRows x, CudaRows z, CudaRows y, CudaStream stream) {
    calls.forward("applyGated", x, null, require(z, "z"), y, null, stream);
  }

  /**
   * Normalises rows with a gate and keeps what a backward pass needs, on the default stream.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param y where the result goes; neither x nor z itself
   * @param saved takes what is kept; not with {@link Keep#OUTPUT}
   */
  public void applyGated(CudaRows x, CudaRows z, CudaRows y, CudaSaved saved) {
    applyGated(x, z, y, saved, defaultStream);
  }

  /**
   * Normalises rows with a gate and keeps what {@link #backwardGated(CudaRows, CudaSaved, CudaRows,
   * CudaRows, CudaGradients, CudaStream)} needs: x and z, which must not change until that is done.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param y where the result goes; neither x nor z itself
   * @param saved takes what is kept; not with {@link Keep#OUTPUT}
   * @param stream does the work
   * @throws IllegalArgumentException as for {@link #applyGated(CudaRows, CudaRows, CudaRows,
   *     CudaStream)} and {@link #apply(CudaRows, CudaRows, CudaSaved, CudaStream)}
   */
  public void applyGated(CudaRows x, CudaRows z, CudaRows y, CudaSaved saved, CudaStream stream) {
    calls.forward("applyGated", x, null, require(z, "z"), y, require(saved, "saved"), stream);
  }

  /**
   * Normalises rows and quantises the result on the default stream; otherwise as {@link
   * #apply(CudaRows, CudaQuantizedRows, CudaStream)}.
   *
   * @param x the rows, of the norm's width
   * @param q where the codes and scales go
   */
  public void apply(CudaRows x, CudaQuantizedRows q) {
    apply(x, q, defaultStream);
  }

  /**
   * Normalises rows and quantises the result, which itself is not stored, by the rule of the norm's
   * quantizer, as {@link Norm#apply(io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.QuantizedRows)}
   * does.
   *
   * <p>If a block has elements of several groups of the norm, the result goes through memory of the
   * device: 4 bytes for each element. The norm keeps it for later calls on the same stream, as long
   * as its arena is open.
   *
   * @param x the rows, of the norm's width
   * @param q where the codes and scales go: as many rows of the same width
   * @param stream does the work
   * @throws NullPointerException if an argument is null
   * @throws IllegalArgumentException if the norm has a gate, the shapes do not fit, codes or scales
   *     overlap each other or x, or rows or stream are of another device
   * @throws IllegalStateException if an arena, the stream or the device is closed
   * @throws WrongThreadException if an arena is confined to another thread
   * @throws CudaException if too little memory is free, the driver refuses a kernel, or work before
   *     this failed
   */
  public void apply(CudaRows x, CudaQuantizedRows q, CudaStream stream) {
    calls.quantized("apply", x, null, null, null, q, stream);
  }

  /**
   * Normalises rows, and quantises the result that is stored in y, on the default stream.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes; x itself for in place
   * @param q where the codes and scales go
   */
  public void apply(CudaRows x, CudaRows y, CudaQuantizedRows q) {
    apply(x, y, q, defaultStream);
  }

  /**
   * Normalises rows, and quantises the result that is stored in y, as {@link
   * Norm#apply(io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.Rows,
   * io.github.rmsnorm4j.QuantizedRows)} does.
   *
   * @param x the rows, of the norm's width
   * @param y where the result goes: as many rows of the same width, in a type of its own; x itself
   *     for in place
   * @param q where the codes and scales go: as many rows of the same width
   * @param stream does the work
   * @throws IllegalArgumentException as for {@link #apply(CudaRows, CudaRows, CudaStream)} and
   *     {@link #apply(CudaRows, CudaQuantizedRows, CudaStream)}, or if codes or scales overlap y
   */
  public void apply(CudaRows x, CudaRows y, CudaQuantizedRows q, CudaStream stream) {
    calls.quantized("apply", x, null, null, require(y, "y"), q, stream);
  }

  /**
   * Adds x to the residual, normalises the sum and quantises the result, on the default stream.
   *
   * @param x the rows that are added
   * @param residual takes the sum
   * @param q where the codes and scales go
   */
  public void addAndApply(CudaRows x, CudaRows residual, CudaQuantizedRows q) {
    addAndApply(x, residual, q, defaultStream);
  }

  /**
   * Adds x to the residual, normalises the sum and quantises the result, which itself is not
   * stored, as {@link Norm#addAndApply(io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.Rows,
   * io.github.rmsnorm4j.QuantizedRows)} does.
   *
   * @param x the rows that are added
   * @param residual takes the sum; memory of its own
   * @param q where the codes and scales go: as many rows of the same width
   * @param stream does the work
   * @throws IllegalArgumentException as for {@link #apply(CudaRows, CudaQuantizedRows,
   *     CudaStream)}, or if the residual does not fit or overlaps x, codes or scales
   */
  public void addAndApply(CudaRows x, CudaRows residual, CudaQuantizedRows q, CudaStream stream) {
    calls.quantized("addAndApply", x, require(residual, "residual"), null, null, q, stream);
  }

  /**
   * Adds x to the residual, normalises the sum, and quantises the result that is stored in y, on
   * the default stream.
   *
   * @param x the rows that are added
   * @param residual takes the sum
   * @param y where the normalised sum goes; x itself for in place
   * @param q where the codes and scales go
   */
  public void addAndApply(CudaRows x, CudaRows residual, CudaRows y, CudaQuantizedRows q) {
    addAndApply(x, residual, y, q, defaultStream);
  }

  /**
   * Adds x to the residual, normalises the sum, and quantises the result that is stored in y, as
   * {@link Norm#addAndApply(io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.Rows,
   * io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.QuantizedRows)} does.
   *
   * @param x the rows that are added
   * @param residual takes the sum; memory of its own
   * @param y where the normalised sum goes; x itself for in place
   * @param q where the codes and scales go: as many rows of the same width
   * @param stream does the work
   * @throws IllegalArgumentException as for {@link #addAndApply(CudaRows, CudaRows, CudaRows,
   *     CudaStream)} and {@link #apply(CudaRows, CudaRows, CudaQuantizedRows, CudaStream)}
   */
  public void addAndApply(
      CudaRows x, CudaRows residual, CudaRows y, CudaQuantizedRows q, CudaStream stream) {
    CudaRows sum = require(residual, "residual");
    calls.quantized("addAndApply", x, sum, null, require(y, "y"), q, stream);
  }

  /**
   * Normalises rows with a gate and quantises the result, on the default stream.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param q where the codes and scales go
   */
  public void applyGated(CudaRows x, CudaRows z, CudaQuantizedRows q) {
    applyGated(x, z, q, defaultStream);
  }

  /**
   * Normalises rows with a gate and quantises the result, which itself is not stored, as {@link
   * Norm#applyGated(io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.Rows,
   * io.github.rmsnorm4j.QuantizedRows)} does.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param q where the codes and scales go: as many rows of the same width
   * @param stream does the work
   * @throws IllegalArgumentException if the norm has no gate, or as for {@link #apply(CudaRows,
   *     CudaQuantizedRows, CudaStream)}, with z as with x
   */
  public void applyGated(CudaRows x, CudaRows z, CudaQuantizedRows q, CudaStream stream) {
    calls.quantized("applyGated", x, null, require(z, "z"), null, q, stream);
  }

  /**
   * Normalises rows with a gate, and quantises the result that is stored in y, on the default
   * stream.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param y where the result goes; x or z itself for in place
   * @param q where the codes and scales go
   */
  public void applyGated(CudaRows x, CudaRows z, CudaRows y, CudaQuantizedRows q) {
    applyGated(x, z, y, q, defaultStream);
  }

  /**
   * Normalises rows with a gate, and quantises the result that is stored in y, as {@link
   * Norm#applyGated(io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.Rows,
   * io.github.rmsnorm4j.QuantizedRows)} does.
   *
   * @param x the rows, of the norm's width
   * @param z the gate
   * @param y where the result goes; x or z itself for in place
   * @param q where the codes and scales go: as many rows of the same width
   * @param stream does the work
   * @throws IllegalArgumentException as for {@link #applyGated(CudaRows, CudaRows, CudaRows,
   *     CudaStream)} and {@link #apply(CudaRows, CudaRows, CudaQuantizedRows, CudaStream)}
   */
  public void applyGated(
      CudaRows x, CudaRows z, CudaRows y, CudaQuantizedRows q, CudaStream stream) {
    calls.quantized("applyGated", x, null, require(z, "z"), require(y, "y"), q, stream);
  }

  /**
   * The backward pass on the default stream; otherwise as {@link #backward(CudaRows, CudaSaved,
   * CudaRows, CudaGradients, CudaStream)}.
   *
   * @param dy the gradient of the output
   * @param saved what the forward pass kept
   * @param dx where the gradient of x goes; it may be dy
   * @param gradients where the gradients of gain and bias go, or null if they are not wanted
   */
  public void backward(CudaRows dy, CudaSaved saved, CudaRows dx, CudaGradients gradients) {
    backward(dy, saved, dx, gradients, defaultStream);
  }

  /**
   * The backward pass, with the formulas and bits of {@link Norm#backward(io.github.rmsnorm4j.Rows,
   * io.github.rmsnorm4j.Saved, io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.ParameterGradients)}.
   *
   * @param dy the gradient of the output, as many rows as the forward pass had
   * @param saved what the forward pass kept
   * @param dx where the gradient of x goes; it may be dy
   * @param gradients where the gradients of gain and bias go, or null if they are not wanted
   * @param stream does the work; that of the forward pass, or one that has waited for it
   * @throws NullPointerException if another argument than the gradients is null
   * @throws IllegalArgumentException if the shapes or types do not fit, dx overlaps what is kept
   *     or, other than in place, dy, a gradient overlaps other memory of the call, the norm has a
   *     gate, saved is of another norm, or rows or stream are of another device
   * @throws IllegalStateException if there was no forward pass, or an arena, the stream or the
   *     device is closed
   * @throws WrongThreadException if an arena is confined to another thread
   * @throws CudaException if too little memory is free for the sums over rows, the driver refuses a
   *     kernel, or work before this failed
   */
  public void backward(
      CudaRows dy, CudaSaved saved, CudaRows dx, CudaGradients gradients, CudaStream stream) {
    calls.backward("backward", dy, saved, null, dx, null, gradients, stream);
  }

  /**
   * The backward pass with the gradient from the skip connection, on the default stream.
   *
   * @param dy the gradient of the output
   * @param saved what the forward pass kept
   * @param dresidual the gradient of the residual with the sum in it; dx may be the same rows
   * @param dx where the gradient of x and of the old residual goes
   * @param gradients where the gradients of gain and bias go, or null if they are not wanted
   */
  public void backward(
      CudaRows dy, CudaSaved saved, CudaRows dresidual, CudaRows dx, CudaGradients gradients) {
    backward(dy, saved, dresidual, dx, gradients, defaultStream);
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
   * @param stream does the work
   * @throws IllegalArgumentException as for {@link #backward(CudaRows, CudaSaved, CudaRows,
   *     CudaGradients, CudaStream)}
   */
  public void backward(
      CudaRows dy,
      CudaSaved saved,
      CudaRows dresidual,
      CudaRows dx,
      CudaGradients gradients,
      CudaStream stream) {
    CudaRows added = require(dresidual, "dresidual");
    calls.backward("backward", dy, saved, added, dx, null, gradients, stream);
  }

  /**
   * The backward pass of a norm with a gate, on the default stream; otherwise as {@link
   * #backwardGated(CudaRows, CudaSaved, CudaRows, CudaRows, CudaGradients, CudaStream)}.
   *
   * @param dy the gradient of the output
   * @param saved what the forward pass kept
   * @param dx where the gradient of x goes
   * @param dz where the gradient of z goes
   * @param gradients where the gradients of gain and bias go, or null if they are not wanted
   */
  public void backwardGated(
      CudaRows dy, CudaSaved saved, CudaRows dx, CudaRows dz, CudaGradients gradients) {
    backwardGated(dy, saved, dx, dz, gradients, defaultStream);
  }

  /**
   * The backward pass of a norm with a gate, with the formulas and bits of {@link
   * Norm#backwardGated(io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.Saved,
   * io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.Rows, io.github.rmsnorm4j.ParameterGradients)}.
   *
   * @param dy the gradient of the output
   * @param saved what the forward pass kept
   * @param dx where the gradient of x goes; it may be dy
   * @param dz where the gradient of z goes; it may be dy if dx is not
   * @param gradients where the gradients of gain and bias go, or null if they are not wanted
   * @param stream does the work
   * @throws IllegalArgumentException if the norm has no gate, dx or dz overlap each other, x or z,
   *     or as for {@link #backward(CudaRows, CudaSaved, CudaRows, CudaGradients, CudaStream)}
   */
  public void backwardGated(
      CudaRows dy,
      CudaSaved saved,
      CudaRows dx,
      CudaRows dz,
      CudaGradients gradients,
      CudaStream stream) {
    calls.backward("backwardGated", dy, saved, null, dx, require(dz, "dz"), gradients, stream);
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
