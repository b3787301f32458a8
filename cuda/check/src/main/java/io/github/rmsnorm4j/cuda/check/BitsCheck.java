package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaException;
import io.github.rmsnorm4j.cuda.CudaStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Calls of every kind of kernel: their bytes on a device are those of the CPU, and their digests
 * are the kept ones.
 */
final class BitsCheck {
  private final Map<String, String> kept = KeptDigests.read();
  private final CudaDevice device;
  private final Progress progress;

  BitsCheck(CudaDevice device, Progress progress) {
    this.device = device;
    this.progress = progress;
  }

  /** A call by its name, and the two ways to make it. */
  private record Call(String name, Supplier<CallRows> onCpu, Supplier<CallRows> there) {}

  /** Makes all calls. */
  DeviceResults.Bits run(List<NormCall> norms, List<QuantizedCall> quantized) {
    List<DeviceResults.Difference> differences = new ArrayList<>();
    try (CudaStream stream = device.stream()) {
      List<Call> calls = new ArrayList<>();
      norms.forEach(call -> calls.add(call(call, stream)));
      quantized.forEach(call -> calls.add(call(call, stream)));
      for (int i = 0; i < calls.size(); i++) {
        Call call = calls.get(i);
        progress.step("bits", i + 1, calls.size(), call.name());
        String difference = difference(call);
        if (difference != null) {
          differences.add(new DeviceResults.Difference(call.name(), difference));
        }
      }
    }
    return new DeviceResults.Bits(norms.size() + quantized.size(), differences);
  }

  private Call call(NormCall call, CudaStream stream) {
    return new Call(
        call.toString(),
        () -> CpuCall.run(call, Backend.best()),
        () -> DeviceCall.run(device, stream, call));
  }

  private Call call(QuantizedCall call, CudaStream stream) {
    return new Call(
        call.toString(), () -> call.onCpu(Backend.best()), () -> call.onDevice(device, stream));
  }

  /** Null if there is none. */
  private String difference(Call call) {
    CallRows there;
    try {
      there = call.there().get();
    } catch (CudaException e) {
      // A kernel that cannot be loaded, say: the other calls are still worth checking.
      if (e.isContextLost()) {
        throw e;
      }
      return e.getMessage();
    }
    String difference = there.difference(call.onCpu().get());
    if (difference != null) {
      return difference;
    }
    String digest = kept.get(call.name());
    return there.digest().equals(digest)
        ? null
        : "the digest is %s, the kept one is %s".formatted(there.digest(), digest);
  }
}
