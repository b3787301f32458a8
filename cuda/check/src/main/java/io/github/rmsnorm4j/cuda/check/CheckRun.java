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
public final class CheckRun {
  /** A system property: the commit that this was built from. */
  public static final String COMMIT = "rmsnorm4j.commit";

  private static final int ROUNDS = 25;
  private static final int QUICK_ROUNDS = 5;

  private final CudaDevice device;
  private final Progress progress;
  private final List<String> facts = new ArrayList<>(NvidiaSmi.lines("before"));
  private Bits bits;
  private List<DeviceResults.Error> errors = List.of();
  private List<Timed> times = List.of();
  private String untimed;
  private String torch;

  /**
   * Begins.
   *
   * @param device what is checked
   * @param progress is told of each step
   */
  public CheckRun(CudaDevice device, Progress progress) {
    this.device = device;
    this.progress = progress;
  }

  /** Compares the bytes of calls of every kind of kernel. */
  void bits() {
    bits = new BitsCheck(device, progress).run(NormCalls.all(), QuantizedCalls.all());
  }

  /** Compares calls of real sizes with a definition. */
  void errors(boolean small) {
    errors = new ErrorCheck(device, progress).run(ErrorCheck.sizes(small));
  }

  /**
   * Times contests, beside PyTorch where that is there; nothing where times of the device are not
   * to be believed.
   *
   * @param contests what is timed
   * @param quick whether rounds are few
   */
  public void times(List<Contest> contests, boolean quick) {
    try (Torch beside = Torch.start(device.info().index())) {
      Timings timings = new Timings(device, quick ? QUICK_ROUNDS : ROUNDS, beside, progress);
      untimed = timings.doubt();
      times = untimed == null ? timings.run(contests) : List.of();
      torch = beside.text();
    }
  }

  /** {@return all that was found} */
  public DeviceResults results() {
    facts.addAll(NvidiaSmi.lines("after"));
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
            List.copyOf(facts)),
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
