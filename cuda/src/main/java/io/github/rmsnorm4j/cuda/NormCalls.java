package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.cuda.driver.Kernel;
import io.github.rmsnorm4j.cuda.driver.Stream;
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

  NormCalls(CudaNorm norm) {
    this.norm = norm;
    this.parameters = norm.parameters();
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
      String call, CudaRows x, CudaRows residual, CudaRows z, CudaRows y, CudaSaved saved) {
    requireReady();
    CallRows rows = rows(x, residual, z, y);
    check(rows, saved);
    start(call, x, List.of(new ForwardPass(norm, rows, saved, null)));
  }

  /** A forward call that gives numbers of rows to the caller. */
  void forward(String call, CudaRows x, CudaRows y, CudaStatistics statistics) {
    requireReady();
    CallRows rows = rows(x, null, null, y);
    check(rows, null);
    statistics.check(norm, x.rows(), rows);
    start(call, x, List.of(new ForwardPass(norm, rows, null, statistics)));
  }

  private CallRows rows(CudaRows x, CudaRows residual, CudaRows z, CudaRows y) {
    return withoutOutput(x, residual, z).with(Forward.Y, "y", y);
  }

  private CallRows withoutOutput(CudaRows x, CudaRows residual, CudaRows z) {
    CallRows rows =
        new CallRows(norm)
            .with(Forward.X, "x", x)
            .withOptional(Forward.RESIDUAL, "residual", residual)
            .withOptional(Forward.Z, "z", z);
    parameters.addTo(rows);
    return rows;
  }

  private void check(CallRows rows, CudaSaved saved) {
    norm.parts().checks().forward(rows, parameters.forChecks(), keep(saved));
    requireRoom("saved", saved, rows);
  }

  private static Keep keep(CudaSaved saved) {
    return saved == null ? null : saved.keep();
  }

  private void requireRoom(String name, CudaSaved saved, CallRows rows) {
    long count = rows.get(Forward.X).rows();
    requireCount(count);
    if (saved != null) {
      saved.requireRoom(name, norm, count, rows);
    }
  }

  /**
   * A forward call of two norms around the addition to a residual. The output of the first one is
   * in y until the second one overwrites it.
   *
   * @param next the norm of the sum; its stream does not matter
   * @param saved null where nothing is kept of this norm
   * @param savedOfNext null where nothing is kept of the next norm
   */
  void pair(
      String call,
      CudaRows x,
      CudaRows residual,
      CudaNorm next,
      CudaRows y,
      CudaSaved saved,
      CudaSaved savedOfNext) {
    requireReady();
    requireOn(next);
    next.parameters().requireAccess(next);
    CallRows rows = rows(x, residual, null, y);
    next.parameters().addTo(rows);
    norm.parts()
        .checks()
        .forwardPair(
            rows,
            parameters.forChecks(),
            next.parts().checks(),
            next.parameters().forChecks(),
            keep(saved),
            keep(savedOfNext));
    if (x.type() != y.type()) {
      throw new IllegalArgumentException(
          "y is %s, x is %s: for applyAndAdd on a device they must be the same"
              .formatted(y.type(), x.type()));
    }
    requireRoom("saved", saved, rows);
    next.calls().requireRoom("savedOfNext", savedOfNext, rows);
    CallRows ofNext = next.calls().rows(y, residual, null, y);
    ForwardPass first = new ForwardPass(norm, rows(x, null, null, y), saved, null);
    ForwardPass second = new ForwardPass(next, ofNext, savedOfNext, null);
    start(call, x, List.of(first, second));
  }

  private void requireOn(CudaNorm next) {
    if (!norm.device().isSameAs(CudaNorm.require(next, "next").device())) {
      throw new IllegalArgumentException(
          "next is on " + next.device() + ", the norm is on " + norm.device());
    }
  }

  /** Starts the passes of a call, one after the other. */
  private void start(String call, CudaRows x, List<ForwardPass> passes) {
    List<KernelCall> launches = passes.stream().flatMap(p -> p.launches().stream()).toList();
    passes.forEach(ForwardPass::begin);
    launch(launches, description(call, x));
    passes.forEach(ForwardPass::end);
    keepUntilStarted(passes);
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
      String call, CudaRows x, CudaRows residual, CudaRows z, CudaRows y, CudaQuantizedRows q) {
    requireReady();
    CallRows rows = withoutOutput(x, residual, z).withOptional(Forward.Y, "y", y);
    CallRows.requireOn(norm.device(), CudaNorm.require(q, "q").codes(), "q");
    CodeMemory memory =
        norm.parts().checks().quantized(rows, parameters.forChecks(), q.forChecks());
    q.requireAccess();
    requireCount(x.rows());
    NormParts parts = norm.parts();
    ElementType output = y == null ? parts.unstored(x.type()) : y.type();
    DeviceCodes codes = new DeviceCodes(memory, parts.rule(), output);
    Map<Tensor, DeviceRows> onDevice = rows.onDevice();
    if (y == null && x.rows() > 0 && !codes.fitGroups(norm.parts().groups())) {
      long bytes = x.rows() * x.width() * Float.BYTES;
      long address = norm.between().atLeast(bytes, norm.stream()).address();
      onDevice.put(Forward.Y, new DeviceRows(address, output, x.rows(), x.width(), x.width()));
    }
    DeviceColumn gain = parameters.gain(x.type());
    DeviceColumn bias = parameters.bias(x.type());
    ForwardCalls calls = new ForwardCalls(parts, sharedBytes(), onDevice, gain, bias, 0, 0, codes);
    launch(calls.launches(), description(call, x));
    keepUntilStarted(List.of(new ForwardPass(norm, rows, null, null)));
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
      CudaGradients gradients) {
    requireReady();
    CudaRows kept = CudaNorm.require(saved, "saved").kept(norm);
    CallRows rows =
        new CallRows(norm)
            .with(Forward.X, "what was kept", kept)
            .withOptional(Forward.Z, "z", saved.z())
            .with(Backward.DY, "dy", dy)
            .withOptional(Forward.RESIDUAL, "dresidual", dresidual)
            .with(Backward.DX, "dx", dx)
            .withOptional(Backward.DZ, "dz", dz);
    parameters.addTo(rows);
    norm.parts().checks().backward(rows, parameters.forChecks());
    saved.requireApart(rows);
    CudaGradients wanted = gradients == null ? CudaGradients.NONE : gradients;
    wanted.check(norm, saved, kept.type(), rows);
    BackwardCalls calls =
        new BackwardCalls(
            norm.parts(),
            sharedBytes(),
            saved.keep(),
            rows.onDevice(),
            parameters.gain(kept.type()),
            parameters.bias(kept.type()),
            saved.meanAddress(),
            saved.rstdAddress(),
            wanted.onDevice(norm.parts().choices(kept.type()).width()));
    long tables = saved.tables(calls.tableBytes());
    launch(calls.withTables(tables).launches(), description(call, dy));
    keepUntilStarted(List.of(rows, saved, wanted));
  }

  private int sharedBytes() {
    return norm.device().context().sharedBytes();
  }

  /** Checks what is the same for all calls. */
  private void requireReady() {
    norm.stream().handle();
    parameters.requireAccess(norm);
  }

  private void requireCount(long rows) {
    int most = Integer.MAX_VALUE / norm.parts().groups();
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
  private void launch(List<KernelCall> calls, Supplier<String> description) {
    List<Kernel> kernels = calls.stream().map(call -> kernel(call.kernel())).toList();
    Stream stream = norm.stream().internal();
    for (int i = 0; i < kernels.size(); i++) {
      KernelCall call = calls.get(i);
      kernels.get(i).launch(call.shape(), stream, call.parameters(), description);
    }
  }

  private Kernel kernel(PtxKernel kernel) {
    return norm.device().context().module(kernel.text()).kernel(kernel.name());
  }

  /** Launches have addresses, which keep no memory. Memory that is freed later waits for them. */
  private void keepUntilStarted(Object used) {
    Reference.reachabilityFence(used);
    Reference.reachabilityFence(norm);
  }
}
