package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cuda.driver.StubDriver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Tests with two devices of a stub, which has nothing left of them when they are closed. */
abstract class TwoStubDevices {
  StubDriver stub;
  CudaDevice device;
  CudaDevice other;

  /** A driver whose kernels do nothing. */
  StubDriver driver() {
    return StubDriver.fresh();
  }

  @BeforeEach
  final void openDevices() {
    stub = driver();
    stub.devices(2);
    CudaSystem system = CudaSystem.look(stub.library());
    device = system.open(0).orElseThrow();
    other = system.open(1).orElseThrow();
  }

  @AfterEach
  final void nothingLeaks() throws Throwable {
    if (stub != null) {
      stub.rethrow();
      device.close();
      other.close();
      assertThat(stub.leaks()).isEmpty();
    }
  }
}
