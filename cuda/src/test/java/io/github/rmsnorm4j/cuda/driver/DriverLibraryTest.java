package io.github.rmsnorm4j.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.cuda.CudaException;
import io.github.rmsnorm4j.cuda.CudaVersion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class DriverLibraryTest {
  private static final CudaVersion NEEDED = new CudaVersion(11, 0);

  @Test
  void noLibraryIsNamed() {
    assertThatThrownBy(() -> DriverLibrary.load("libnothere.so.1", NEEDED))
        .isInstanceOf(DriverUnavailable.class)
        .hasMessage("libnothere.so.1 cannot be loaded: it comes with the driver of an NVIDIA GPU");
  }

  @Test
  void aLibraryOfSomethingElseIsNamed() {
    String library = StubDriver.fresh("-DWITHOUT_LAUNCH").library();
    assertThatThrownBy(() -> DriverLibrary.load(library, NEEDED))
        .isInstanceOf(DriverUnavailable.class)
        .hasMessage(library + " has no function cuLaunchKernel");
  }

  @Test
  void anOldDriverIsNamedWithWhatIsNeeded() throws DriverUnavailable {
    StubDriver stub = StubDriver.fresh("-DWITHOUT_LAUNCH");
    stub.driverVersion(10020);
    // The version is said first: an old driver also lacks functions.
    assertThatThrownBy(() -> DriverLibrary.load(stub.library(), NEEDED))
        .isInstanceOf(DriverUnavailable.class)
        .hasMessage(
            "the driver supports CUDA 10.2, it must support CUDA 11.0 or newer: install a newer"
                + " NVIDIA driver");
    StubDriver oldest = StubDriver.fresh();
    oldest.driverVersion(11000);
    assertThat(DriverLibrary.load(oldest.library(), NEEDED).version()).hasToString("11.0");
  }

  @Test
  void aDriverThatDoesNotStartIsNamed() {
    StubDriver stub = StubDriver.fresh();
    stub.fail(EntryPoint.INIT, 0, 803);
    assertThatThrownBy(() -> DriverLibrary.load(stub.library(), NEEDED))
        .isInstanceOf(DriverUnavailable.class)
        .hasMessage("cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803), meaning of 803");
    stub.fail(EntryPoint.DRIVER_GET_VERSION, 0, 999);
    assertThatThrownBy(() -> DriverLibrary.load(stub.library(), NEEDED))
        .hasMessage("cuDriverGetVersion of " + stub.library() + " failed with 999");
  }

  @Test
  void everyErrorOfEveryFunctionHasItsMessage() throws Exception {
    StubDriver stub = StubDriver.fresh();
    DriverLibrary library = DriverLibrary.load(stub.library(), NEEDED);
    Map<Integer, String> errors = errors();
    assertThat(errors).hasSizeGreaterThan(90).containsEntry(700, "ILLEGAL_ADDRESS");
    for (EntryPoint entry : EntryPoint.values()) {
      if (entry == EntryPoint.GET_ERROR_NAME || entry == EntryPoint.GET_ERROR_STRING) {
        continue; // these are asked for the message itself
      }
      Object[] arguments = nothing(entry);
      errors.forEach(
          (code, name) -> {
            stub.fail(entry, 0, code);
            assertThatThrownBy(() -> library.check(entry, arguments))
                .isInstanceOfSatisfying(
                    CudaException.class,
                    e -> {
                      assertThat(e.code()).isEqualTo(code);
                      assertThat(e.codeName()).isEqualTo("CUDA_ERROR_" + name);
                      assertThat(e.isContextLost()).isFalse();
                    })
                .hasMessage(
                    "%s: CUDA_ERROR_%s (%d), meaning of %d"
                        .formatted(entry.symbol(), name, code, code));
          });
    }
  }

  @Test
  void anErrorThatTheDriverDoesNotKnowHasItsNumber() throws DriverUnavailable {
    StubDriver stub = StubDriver.fresh();
    DriverLibrary library = DriverLibrary.load(stub.library(), NEEDED);
    stub.fail(EntryPoint.DEVICE_GET_COUNT, 0, 12345);
    assertThatThrownBy(() -> library.ask(EntryPoint.DEVICE_GET_COUNT))
        .hasMessage("cuDeviceGetCount: an error that the driver does not name (12345)");
  }

  private static Object[] nothing(EntryPoint entry) {
    return entry.type().argumentLayouts().stream()
        .map(
            type ->
                switch (type) {
                  case ValueLayout.OfInt _ -> (Object) 0;
                  case ValueLayout.OfLong _ -> (Object) 0L;
                  default -> MemorySegment.NULL;
                })
        .toArray();
  }

  /** The list of the stub. */
  private static Map<Integer, String> errors() throws IOException {
    Map<Integer, String> errors = new LinkedHashMap<>();
    Pattern.compile("X\\((\\d+), (\\w+)\\)")
        .matcher(Files.readString(Path.of("src", "test", "c", "errors.h")))
        .results()
        .forEach(found -> errors.put(Integer.parseInt(found.group(1)), found.group(2)));
    return errors;
  }
}
