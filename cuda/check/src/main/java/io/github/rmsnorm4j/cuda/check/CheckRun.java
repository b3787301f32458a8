package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaDeviceInfo;
import io.github.rmsnorm4j.cuda.CudaVersion;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Bits;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Timed;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/** The parts of a check, one after the other. */
final class CheckRun {
  /** The build of the image says which commit it is of. */
  private static final String COMMIT = "rmsnorm4j.commit";

  private static final int ROUNDS = 25;
  private static final int QUICK_ROUNDS = 5;

  private final CudaDevice device;
  private final CheckOptions options;
  private final Progress progress;

  CheckRun(CudaDevice device, CheckOptions options, Progress progress) {
    this.device = device;
    this.options = options;
    this.progress = progress;
  }

  DeviceResults run() {
    List<String> facts = new ArrayList<>(NvidiaSmi.lines("before"));
    Bits bits = options.wants("bits") ? new BitsCheck(device, progress).run(NormCalls.all()) : null;
    List<DeviceResults.Error> errors =
        options.wants("errors")
            ? new ErrorCheck(device, progress).run(ErrorCheck.sizes(options.small()))
            : List.of();
    List<Timed> times = List.of();
    String untimed = null;
    String torchText = null;
    if (options.wants("times") && !options.small()) {
      try (Torch torch = Torch.start(device.info().index())) {
        int rounds = options.quick() ? QUICK_ROUNDS : ROUNDS;
        Timings timings = new Timings(device, rounds, torch, progress);
        untimed = timings.doubt();
        times = untimed == null ? timings.run(Contest.all(options.quick())) : List.of();
        torchText = torch.text();
      }
    }
    facts.addAll(NvidiaSmi.lines("after"));
    return results(facts, bits, errors, times, untimed, torchText);
  }

  private DeviceResults results(
      List<String> facts,
      Bits bits,
      List<DeviceResults.Error> errors,
      List<Timed> times,
      String untimed,
      String torch) {
    CudaDeviceInfo info = device.info();
    return new DeviceResults(
        LocalDate.now().toString(),
        version(),
        Runtime.version().toString(),
        new DeviceResults.Device(
            info.name(),
            info.computeCapability().toString(),
            info.memoryBytes(),
            CudaDevice.driverVersion().map(CudaVersion::toString).orElse("unknown"),
            facts),
        bits,
        errors,
        times,
        untimed,
        torch);
  }

  private static String version() {
    try (InputStream in = CheckRun.class.getResourceAsStream("version.txt")) {
      String version = new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
      String commit = System.getProperty(COMMIT, "");
      return commit.isEmpty() ? version : version + " (commit " + commit + ")";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
