package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaDeviceInfo;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The option that says what runs the norms. */
public final class DeviceOption {
  /** For picocli. */
  public DeviceOption() {}

  /** Why a GPU takes no {@code --threads}. */
  public static final String OWN_THREADS = "a GPU has threads of its own";

  @Option(
      names = "--device",
      paramLabel = "DEVICE",
      converter = Choices.class,
      completionCandidates = Choices.class,
      description =
          "What runs the norms: cpu, cuda (the first NVIDIA GPU that can be used) or cuda:N (the one"
              + " with number N, from 0 on; rmsnorm doctor lists them). Both give the same bits"
              + " (default: cpu).")
  private String name = "cpu";

  /** Names of devices. */
  static final class Choices implements ITypeConverter<String>, Iterable<String> {
    @Override
    public String convert(String name) {
      if (!name.matches("cpu|cuda|cuda:[0-9]{1,9}")) {
        throw new TypeConversionException(
            "expected cpu, cuda or cuda:N, with N from 0 on, but was '" + name + "'");
      }
      return name;
    }

    @Override
    public Iterator<String> iterator() {
      return List.of("cpu", "cuda").iterator();
    }
  }

  public boolean isCuda() {
    return !name.equals("cpu");
  }

  /**
   * Refuses an option that was given and does nothing on a GPU.
   *
   * @param value null where it was not given
   */
  public void requireCpu(String option, Object value, String why) {
    if (isCuda() && value != null) {
      throw new WrongUseException(
          "%s is %s, --device is %s: %s".formatted(option, value, name, why));
    }
  }

  /**
   * Opens the GPU that was asked for.
   *
   * @throws IOException if there is none that can be used
   * @throws WrongUseException if there are GPUs, but not with that number
   */
  public CudaDevice open() throws IOException {
    List<CudaDeviceInfo> devices = CudaDevice.devices();
    if (!name.contains(":") || devices.isEmpty()) {
      return CudaDevice.open().orElseThrow(() -> none(CudaDevice.missing().orElseThrow()));
    }
    int index = Integer.parseInt(name.substring(name.indexOf(':') + 1));
    if (index >= devices.size()) {
      throw new WrongUseException(
          "--device is %s, it may be cuda:0%s"
              .formatted(name, devices.size() == 1 ? "" : " to cuda:" + (devices.size() - 1)));
    }
    return CudaDevice.open(index)
        .orElseThrow(() -> none(devices.get(index).missing().orElseThrow()));
  }

  private IOException none(String why) {
    return new IOException("--device is %s, which cannot be used: %s".formatted(name, why));
  }
}
