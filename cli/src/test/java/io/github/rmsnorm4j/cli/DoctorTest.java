package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaDeviceInfo;
import io.github.rmsnorm4j.cuda.CudaVersion;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DoctorTest {
  @Test
  void tellsWhatIsInUseAndWhy() {
    CommandResult result = CommandResult.of("doctor");
    assertThat(result.status()).isZero();
    assertThat(result.err()).isEmpty();
    assertThat(result.outLines()).allMatch(line -> line.length() < 80);
    assertThat(result.out().replaceAll("\\s+", " "))
        .contains(
            Runtime.version().toString(),
            System.getProperty("java.home"),
            System.getProperty("os.arch"),
            Runtime.getRuntime().availableProcessors() + " usable",
            "GiB",
            "Faster?",
            Backend.best().describe(),
            Backend.best().reason(),
            "GPU "
                + Doctor.gpuTexts(
                        CudaDevice.missing(), CudaDevice.driverVersion(), CudaDevice.devices())
                    .getFirst());
  }

  @Test
  void tellsWhichGpusAreUsableAndWhatIsMissing() {
    Optional<CudaVersion> driver = Optional.of(new CudaVersion(12, 4));
    CudaDeviceInfo usable =
        new CudaDeviceInfo(0, "NVIDIA H100", new CudaVersion(9, 0), 79L << 30, Optional.empty());
    CudaDeviceInfo old =
        new CudaDeviceInfo(
            1, "Tesla P4", new CudaVersion(6, 1), 15L << 30, Optional.of("device 1 is too old"));
    assertThat(Doctor.gpuTexts(Optional.empty(), driver, List.of(usable, old)))
        .containsExactly(
            "device 0 (NVIDIA H100), 79.0 GiB, compute capability 9.0",
            "not usable: device 1 is too old",
            "the driver supports CUDA 12.4");
    assertThat(Doctor.gpuTexts(Optional.of("no driver"), Optional.empty(), List.of()))
        .containsExactly("none: no driver");
  }
}
