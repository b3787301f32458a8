package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import org.junit.jupiter.api.Test;

class CudaStreamTest extends TwoStubDevices {
  @Test
  void aStreamIsGivenBackOnce() {
    CudaStream stream = device.stream();
    assertThat(stream.device()).isSameAs(device);
    long handle = stream.handle();
    stream.synchronize();
    stub.calls();
    stream.close();
    stream.close();
    assertThat(stub.calls(EntryPoint.STREAM_DESTROY))
        .containsExactly("cuStreamDestroy_v2(0x%x)".formatted(handle));
    assertThatThrownBy(stream::synchronize)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the stream on device 0 (Stub GPU A) is closed");
    assertThatThrownBy(stream::handle).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aStreamOfAnotherLibraryIsWrappedAndStaysAsItIs() {
    try (CudaStream theirs = device.stream()) {
      CudaStream wrapped = device.wrapStream(theirs.handle());
      wrapped.synchronize();
      assertThat(wrapped.handle()).isEqualTo(theirs.handle());
      wrapped.close();
      theirs.synchronize();
    }
    device.defaultStream().synchronize();
    assertThat(device.defaultStream().handle()).isZero();
  }

  @Test
  void aWrongHandleIsNamed() {
    try (CudaStream theirs = other.stream()) {
      long handle = theirs.handle();
      assertThatThrownBy(() -> device.wrapStream(handle))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "handle 0x%x is a stream of another context, it must be one of device 0 (Stub GPU A)"
                  .formatted(handle));
    }
    assertThatThrownBy(() -> device.wrapStream(0x1234))
        .isInstanceOf(CudaException.class)
        .hasMessage(
            "cuStreamGetCtx: CUDA_ERROR_INVALID_HANDLE (400), meaning of 400, for the handle 0x1234,"
                + " on device 0 (Stub GPU A)");
  }
}
