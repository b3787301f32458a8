package io.github.rmsnorm4j.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.github.rmsnorm4j.cuda.driver.DriverLibrary;
import io.github.rmsnorm4j.cuda.driver.DriverUnavailable;
import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The driver of a machine and its devices, or why there are none. Looking throws nothing. */
final class CudaSystem {
  /** The first with PTX 7.0, in which kernels are. */
  static final CudaVersion NEEDED_DRIVER = new CudaVersion(11, 0);

  /** The first whose threads of a warp run on their own, which kernels expect. */
  static final CudaVersion NEEDED_CAPABILITY = new CudaVersion(7, 0);

  // Of CUdevice_attribute.
  private static final int COMPUTE_CAPABILITY_MAJOR = 75;
  private static final int COMPUTE_CAPABILITY_MINOR = 76;

  private static final int NAME_BYTES = 256;

  /** By the name of the driver's library; a driver is looked for when it is first asked for. */
  private static final Map<String, CudaSystem> SYSTEMS = new ConcurrentHashMap<>();

  private final DriverLibrary library;
  private final List<CudaDeviceInfo> devices;
  private final String missing;

  private CudaSystem(DriverLibrary library, List<CudaDeviceInfo> devices, String missing) {
    this.library = library;
    this.devices = devices;
    this.missing = missing;
  }

  static CudaSystem ofMachine() {
    return SYSTEMS.computeIfAbsent(DriverLibrary.name(), CudaSystem::look);
  }

  /** What is there with this driver's library. */
  static CudaSystem look(String library) {
    try {
      DriverLibrary loaded = DriverLibrary.load(library, NEEDED_DRIVER);
      List<CudaDeviceInfo> devices =
          IntStream.range(0, (int) loaded.ask(EntryPoint.DEVICE_GET_COUNT))
              .mapToObj(index -> describe(loaded, index))
              .toList();
      return new CudaSystem(loaded, devices, whyNone(devices));
    } catch (DriverUnavailable | CudaException e) {
      return new CudaSystem(null, List.of(), e.getMessage());
    }
  }

  private static CudaDeviceInfo describe(DriverLibrary library, int index) {
    int device = (int) library.ask(EntryPoint.DEVICE_GET, index);
    CudaVersion capability =
        new CudaVersion(
            (int) library.ask(EntryPoint.DEVICE_GET_ATTRIBUTE, COMPUTE_CAPABILITY_MAJOR, device),
            (int) library.ask(EntryPoint.DEVICE_GET_ATTRIBUTE, COMPUTE_CAPABILITY_MINOR, device));
    String name = name(library, device);
    String missing =
        "device %s (%s) has compute capability %s, it must have %s or newer"
            .formatted(index, name, capability, NEEDED_CAPABILITY);
    return new CudaDeviceInfo(
        index,
        name,
        capability,
        library.ask(EntryPoint.DEVICE_TOTAL_MEM, device),
        capability.compareTo(NEEDED_CAPABILITY) < 0 ? Optional.of(missing) : Optional.empty());
  }

  private static String name(DriverLibrary library, int device) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocate(NAME_BYTES);
      library.check(EntryPoint.DEVICE_GET_NAME, name, NAME_BYTES, device);
      name.set(JAVA_BYTE, NAME_BYTES - 1, (byte) 0);
      return name.getString(0).strip();
    }
  }

  private static String whyNone(List<CudaDeviceInfo> devices) {
    if (devices.isEmpty()) {
      return "the driver sees no device";
    }
    return devices.stream().allMatch(device -> device.missing().isPresent())
        ? devices.stream().map(d -> d.missing().get()).collect(Collectors.joining("; "))
        : null;
  }

  List<CudaDeviceInfo> devices() {
    return devices;
  }

  Optional<CudaVersion> driverVersion() {
    return Optional.ofNullable(library).map(DriverLibrary::version);
  }

  /** Why no device can be opened. */
  Optional<String> missing() {
    return Optional.ofNullable(missing);
  }

  /** The first device on which norms can run. */
  Optional<CudaDevice> open() {
    return devices.stream()
        .filter(device -> device.missing().isEmpty())
        .findFirst()
        .map(device -> new CudaDevice(library, device));
  }

  /** A device by its number. */
  Optional<CudaDevice> open(int index) {
    if (library == null || devices.isEmpty()) {
      return Optional.empty();
    }
    if (index < 0 || index >= devices.size()) {
      throw new IllegalArgumentException(
          "device is " + index + ", it may be 0 to " + (devices.size() - 1));
    }
    CudaDeviceInfo device = devices.get(index);
    return device.missing().isEmpty()
        ? Optional.of(new CudaDevice(library, device))
        : Optional.empty();
  }
}
