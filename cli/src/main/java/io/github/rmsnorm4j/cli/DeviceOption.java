package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaDeviceInfo;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
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
  private Choice choice = new Choice("cpu");

  /**
   * A device by its name.
   *
   * @param name {@code cpu}, {@code cuda} or {@code cuda:N}
   */
  record Choice(String name) {
    public boolean isCuda() {
      return !name.equals("cpu");
    }

    /** The number of the GPU; empty for the first one that can be used. */
    Optional<Integer> number() {
      return name.contains(":")
          ? Optional.of(Integer.valueOf(name.substring(name.indexOf(':') + 1)))
          : Optional.empty();
    }
  }

  /** Names of devices. */
  static final class Choices implements ITypeConverter<Choice>, Iterable<String> {
    @Override
    public Choice convert(String name) {
      if (!name.matches("cpu|cuda|cuda:[0-9]{1,9}")) {
        throw new TypeConversionException(
            "expected cpu, cuda or cuda:N, with N from 0 on, but was '" + name + "'");
      }
      return new Choice(name);
    }

    @Override
    public Iterator<String> iterator() {
      return List.of("cpu", "cuda").iterator();
    }
  }

  public boolean isCuda() {
    return choice.isCuda();
  }

  /**
   * Refuses an option that was given and does nothing on a GPU.
   *
   * @param value null where it was not given
   */
  public void requireCpu(String option, Object value, String why) {
    if (isCuda() && value != null) {
      throw new WrongUseException(
          "%s is %s, --device is %s: %s".formatted(option, value, choice.name(), why));
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
    Optional<Integer> number = choice.number();
    if (number.isEmpty() || devices.isEmpty()) {
      return CudaDevice.open().orElseThrow(() -> none(CudaDevice.missing().orElseThrow()));
    }
    int index = number.get();
    if (index >= devices.size()) {
      throw new WrongUseException(
          "--device is %s, it may be cuda:0%s"
              .formatted(
                  choice.name(), devices.size() == 1 ? "" : " to cuda:" + (devices.size() - 1)));
    }
    return CudaDevice.open(index)
        .orElseThrow(() -> none(devices.get(index).missing().orElseThrow()));
  }

  private IOException none(String why) {
    return new IOException(
        "--device is %s, which cannot be used: %s".formatted(choice.name(), why));
  }
}
