package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.cuda.driver.Kernel;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.internal.device.NormParts;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import java.lang.ref.Reference;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The calls of a norm on a device: each is checked, and then its kernels are started. */
final class NormCalls {
  private final CudaNorm norm;
  private final DeviceParameters parameters;

  NormCalls(CudaNorm norm, DeviceParameters parameters) {
    this.norm = norm;
    this.parameters = parameters;
  }

  /**
   * A forward call.
   *
   * @param call the name of the method
   * @param residual null without one
   * @param z the rows of a gate; null without one
   * @param saved null where nothing is kept
   */
  void forward(
      String call,
      CudaRows x,
      CudaRows residual,
      CudaRows z,
      CudaRows y,
      CudaSaved saved,
      CudaStream stream) {
    requireReady(stream);
    CallRows rows =
        new CallRows(norm)
            .with(Forward.X, "x", x)
            .withOptional(Forward.RESIDUAL, "residual", residual)
            .withOptional(Forward.Z, "z", z)
            .with(Forward.Y, "y", y);
    norm.checks()
        .forward(
            rows.of(Forward.X),
            rows.of(Forward.RESIDUAL),
            rows.of(Forward.Z),
            rows.of(Forward.Y),
            saved == null ? null : saved.keep());
    requireCount(x.rows());
    if (saved != null) {
      saved.requireRoom(norm, x.rows(), rows);
    }
    ForwardCalls calls =
        new ForwardCalls(
            norm.parts(),
            rows.onDevice(),
            parameters.gain(x.type()),
            parameters.bias(x.type()),
            saved == null ? 0 : saved.meanAddress(),
            saved == null ? 0 : saved.rstdAddress(),
            null);
    List<KernelCall> launches = calls.launches();
    if (saved == null) {
      launch(launches, stream, description(call, x));
    } else {
      saved.begin();
      launch(launches, stream, description(call, x));
      boolean output = saved.keep() == Keep.OUTPUT;
      saved.end(output ? y : residual == null ? x : residual, z);
    }
    keepUntilStarted(rows, saved);
  }

  /**
   * A forward call whose output becomes codes.
   *
   * @param call the name of the method
   * @param residual null without one
   * @param z the rows of a gate; null without one
   * @param y null where the output is not stored
   */
  void quantized(
      String call,
      CudaRows x,
      CudaRows residual,
      CudaRows z,
      CudaRows y,
      CudaQuantizedRows q,
      CudaStream stream) {
    requireReady(stream);
    CallRows rows =
        new CallRows(norm)
            .with(Forward.X, "x", x)
            .withOptional(Forward.RESIDUAL, "residual", residual)
            .withOptional(Forward.Z, "z", z)
            .withOptional(Forward.Y, "y", y);
    CallRows.requireOn(norm.device(), CudaNorm.require(q, "q").codes(), "q");
    CodeMemory memory =
        norm.checks()
            .quantized(
                rows.of(Forward.X),
                rows.of(Forward.RESIDUAL),
                rows.of(Forward.Z),
                rows.of(Forward.Y),
                q.forChecks());
    requireCount(x.rows());
    NormParts parts = norm.parts();
    ElementType output = y == null ? parts.unstored(x.type()) : y.type();
    DeviceCodes codes = new DeviceCodes(memory, parts.rule(), output);
    Map<Tensor, DeviceRows> onDevice = rows.onDevice();
    if (y == null && x.rows() > 0 && !codes.fitGroups(norm.groups())) {
      long address = q.output().address();
      onDevice.put(Forward.Y, new DeviceRows(address, output, x.rows(), x.width(), x.width()));
    }
    DeviceColumn gain = parameters.gain(x.type());
    DeviceColumn bias = parameters.bias(x.type());
    ForwardCalls calls = new ForwardCalls(parts, onDevice, gain, bias, 0, 0, codes);
    launch(calls.launches(), stream, description(call, x));
    keepUntilStarted(rows, null);
    Reference.reachabilityFence(q);
  }

  /**
   * A backward call.
   *
   * @param call the name of the method
   * @param dresidual null without one
   * @param dz null without a gate
   * @param gradients null where none is wanted
   */
  void backward(
      String call,
      CudaRows dy,
      CudaSaved saved,
      CudaRows dresidual,
      CudaRows dx,
      CudaRows dz,
      CudaGradients gradients,
      CudaStream stream) {
    requireReady(stream);
    CudaRows kept = CudaNorm.require(saved, "saved").kept(norm);
    CallRows rows =
        new CallRows(norm)
            .with(Forward.X, "what was kept", kept)
            .withOptional(Forward.Z, "z", saved.z())
            .with(Backward.DY, "dy", dy)
            .withOptional(Forward.RESIDUAL, "dresidual", dresidual)
            .with(Backward.DX, "dx", dx)
            .withOptional(Backward.DZ, "dz", dz);
    norm.checks()
        .backward(
            rows.of(Backward.DY),
            rows.of(Forward.X),
            rows.of(Forward.Z),
            rows.of(Forward.RESIDUAL),
            rows.of(Backward.DX),
            rows.of(Backward.DZ));
    saved.requireApart(rows);
    CudaGradients wanted = gradients == null ? CudaGradients.NONE : gradients;
    wanted.check(norm, saved, kept.type(), rows);
    BackwardCalls calls =
        new BackwardCalls(
            norm.parts(),
            saved.keep(),
            rows.onDevice(),
            parameters.gain(kept.type()),
            parameters.bias(kept.type()),
            saved.meanAddress(),
            saved.rstdAddress(),
            wanted.onDevice());
    long tables = saved.tables(calls.tableBytes());
    launch(calls.withTables(tables).launches(), stream, description(call, dy));
    keepUntilStarted(rows, saved);
    Reference.reachabilityFence(wanted);
  }

  /** Checks what is the same for all calls. */
  private void requireReady(CudaStream stream) {
    CudaDevice other = CudaNorm.require(stream, "stream").device();
    if (!norm.device().isSameAs(other)) {
      throw new IllegalArgumentException(
          "stream is of " + other + ", the norm is on " + norm.device());
    }
    stream.handle();
    parameters.requireAccess(norm);
  }

  private void requireCount(long rows) {
    int most = Integer.MAX_VALUE / norm.groups();
    if (rows > most) {
      throw new IllegalArgumentException("x has " + rows + " rows, a call takes at most " + most);
    }
  }

  /** Kept for a message while kernels are at work, so it must not keep memory. */
  private Supplier<String> description(String call, CudaRows rows) {
    String type = norm.norm().getClass().getSimpleName();
    long count = rows.rows();
    int width = rows.width();
    ElementType elements = rows.type();
    return () -> "%s.%s(%s x %s %s)".formatted(type, call, count, width, elements);
  }

  /** All kernels are compiled before the first one is started. */
  private void launch(List<KernelCall> calls, CudaStream stream, Supplier<String> description) {
    List<Kernel> kernels = calls.stream().map(call -> kernel(call.kernel())).toList();
    for (int i = 0; i < kernels.size(); i++) {
      KernelCall call = calls.get(i);
      kernels.get(i).launch(call.shape(), stream.internal(), call.parameters(), description);
    }
  }

  private Kernel kernel(PtxKernel kernel) {
    return norm.device().context().module(kernel.text()).kernel(kernel.name());
  }

  /** Launches have addresses, which keep no memory. Memory that is freed later waits for them. */
  private void keepUntilStarted(CallRows rows, CudaSaved saved) {
    Reference.reachabilityFence(rows);
    Reference.reachabilityFence(saved);
    Reference.reachabilityFence(parameters);
  }
}
