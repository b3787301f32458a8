package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

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

  DeviceResults.Bits run(List<NormCall> calls) {
    List<DeviceResults.Difference> differences = new ArrayList<>();
    try (CudaStream stream = device.stream()) {
      for (int i = 0; i < calls.size(); i++) {
        progress.step("bits", i + 1, calls.size(), calls.get(i).toString());
        String difference = difference(calls.get(i), stream);
        if (difference != null) {
          differences.add(new DeviceResults.Difference(calls.get(i).toString(), difference));
        }
      }
    }
    return new DeviceResults.Bits(calls.size(), differences);
  }

  /** Null if there is none. */
  private String difference(NormCall call, CudaStream stream) {
    CallRows onCpu = CpuCall.run(call, Backend.best());
    CallRows there = DeviceCall.run(device, stream, call);
    String difference = there.difference(onCpu);
    if (difference != null) {
      return difference;
    }
    String digest = kept.get(call.toString());
    return there.digest().equals(digest)
        ? null
        : "the digest is %s, the kept one is %s".formatted(there.digest(), digest);
  }
}
