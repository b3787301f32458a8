package io.github.rmsnorm4j.cuda.check;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BitsCheckTest {
  private static final List<NormCall> CALLS = NormCalls.all();
  private static final List<QuantizedCall> QUANTIZED = QuantizedCalls.all();

  private static final boolean LONG = Boolean.getBoolean("tests.all");

  private static final List<Backend> BACKENDS =
      LONG ? List.of(Backend.best(), Backend.scalar()) : List.of(Backend.best());

  @Test
  void everyCallHasANameOfItsOwn() {
    assertThat(Stream.concat(CALLS.stream(), QUANTIZED.stream()).map(Object::toString))
        .doesNotHaveDuplicates();
  }

  /** A changed digest is a changed bit, so the file is changed by hand, after a look at why. */
  @Test
  void theKeptDigestsAreThoseOfTheCpu() throws IOException {
    for (Backend backend : BACKENDS) {
      Path now = Path.of("target/digests.txt");
      Files.createDirectories(now.getParent());
      Files.writeString(
          now,
          Stream.concat(
                  CALLS.stream().map(call -> CpuCall.run(call, backend).digest() + " " + call),
                  QUANTIZED.stream().map(call -> call.onCpu(backend).digest() + " " + call))
              .collect(Collectors.joining("\n", "", "\n")));
      assertThat(now)
          .as("%s: if bits are meant to change, keep cuda/check/%s", backend, now)
          .hasSameTextualContentAs(
              Path.of("src/main/resources/io/github/rmsnorm4j/cuda/check/digests.txt"));
    }
  }

  /** Some of the calls; the image's test makes all of them. */
  @Test
  void theInterpreterHasTheKeptDigests() {
    assertThat(some(CALLS)).flatExtracting(NormCall::traits).contains(Trait.values());
    try (CudaDevice device = StubbedDevice.open()) {
      BitsCheck check = new BitsCheck(device, StubbedDevice.QUIET);
      assertThat(check.run(some(CALLS), some(QUANTIZED)).differences()).isEmpty();
    }
  }

  private static <T> List<T> some(List<T> calls) {
    int step = LONG ? 3 : 17;
    return IntStream.range(0, calls.size())
        .filter(i -> i % step == 0)
        .mapToObj(calls::get)
        .toList();
  }

  private static DeviceResults.Bits check(CudaDevice device, List<NormCall> calls) {
    return new BitsCheck(device, StubbedDevice.QUIET).run(calls, List.of());
  }

  @Test
  void aKernelThatCannotBeLoadedIsNamedAndTheOtherCallsAreChecked() {
    NormCall first = NormCall.of(NormSpec.RMSNORM, ElementType.FLOAT64, 3, 96, Trait.APART);
    NormCall second = NormCall.of(NormSpec.RMSNORM, ElementType.FLOAT32, 3, 96, Trait.APART);
    try (CudaDevice device = StubbedDevice.open()) {
      StubbedDevice.driver().fail(EntryPoint.MODULE_LOAD_DATA_EX, 0, 218);
      DeviceResults.Bits bits = check(device, List.of(first, second));
      assertThat(bits.differences())
          .singleElement()
          .satisfies(one -> assertThat(one.call()).isEqualTo(first.toString()))
          .satisfies(one -> assertThat(one.what()).contains("CUDA_ERROR_INVALID_PTX"));
    }
  }

  /**
   * A kernel that does nothing, one that changes a guard, and a digest that is not the kept one.
   */
  @Test
  void aWrongByteIsNamed() {
    NormCall call = NormCall.of(NormSpec.RMSNORM, ElementType.FLOAT64, 3, 96, Trait.APART);
    try (CudaDevice device = StubbedDevice.open()) {
      StubbedDevice.driver().onLaunch(launch -> 0);
      assertThat(check(device, List.of(call)).differences())
          .singleElement()
          .satisfies(one -> assertThat(one.call()).isEqualTo(call.toString()))
          .satisfies(one -> assertThat(one.what()).startsWith("y: row 0, element 0 is "));
      StubbedDevice.interpretAnd(memory -> memory.set(JAVA_BYTE, memory.byteSize() - 1, (byte) 1));
      assertThat(check(device, List.of(call)).differences())
          .singleElement()
          .satisfies(one -> assertThat(one.what()).endsWith("from the first row on has changed"));
    } finally {
      StubbedDevice.interpret();
    }
    NormCall unknown = NormCall.of(NormSpec.LLAMA, ElementType.FLOAT16, 2, 5);
    try (CudaDevice device = StubbedDevice.open()) {
      assertThat(check(device, List.of(unknown)).differences())
          .singleElement()
          .satisfies(one -> assertThat(one.what()).endsWith("the kept one is null"));
    }
  }
}
