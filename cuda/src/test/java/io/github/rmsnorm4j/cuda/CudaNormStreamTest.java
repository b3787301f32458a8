package io.github.rmsnorm4j.cuda;

import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** A norm on another stream differs in the stream alone. */
class CudaNormStreamTest extends RefusedCalls {
  private static final int ROWS = 4;

  private void assertLaunchesOn(CudaStream stream, int launches) {
    String handle = stream.handle() == 0 ? "(nil)" : "0x" + Long.toHexString(stream.handle());
    assertThat(stub.calls(EntryPoint.LAUNCH_KERNEL))
        .hasSize(launches)
        .allSatisfy(call -> assertThat(call).contains(", " + handle + ", (nil), "));
  }

  private CudaRows filled(int rows) {
    CudaRows filled = rows(FLOAT32, rows);
    filled.memory().copyFrom(arena.allocate(filled.memory().byteSize()));
    return filled;
  }

  @Test
  void callsGoToTheStreamOfTheNorm() {
    CudaNorm made = device.norm(RmsNorm.builder(WIDTH).build(), arena);
    CudaRows gain = filled(1);
    stub.calls();
    try (CudaStream another = device.stream()) {
      CudaNorm there = made.on(stream).on(another);
      assertThat(there).hasToString(made.toString());
      assertThat(there.norm()).isSameAs(made.norm());
      assertThat(there.device()).isSameAs(device);
      assertThat(there.stream()).isSameAs(another);
      there.apply(x, y);
      there.withParameters(gain, null).apply(x, y);
      made.withParameters(gain, null).on(another).apply(x, y);
      assertLaunchesOn(another, 3);
      assertThat(made.stream().handle()).isZero();
      made.apply(x, y);
      there.on(device.defaultStream()).apply(x, y);
      assertLaunchesOn(device.defaultStream(), 2);
      another.synchronize();
    }
  }

  @Test
  void theStreamOfTheNextNormDoesNotMatter() {
    CudaStream closed = device.stream();
    CudaNorm next = norm.on(closed);
    closed.close();
    CudaRows residual = filled(ROWS);
    stub.calls();
    norm.applyAndAdd(x, residual, next, y);
    assertLaunchesOn(stream, 2);
    stream.synchronize();
  }

  /** Work is done when something waits for it, so the second stream waits for the first one. */
  @Test
  void aBackwardPassOnAnotherStreamThanItsForwardPass() {
    stub.lazy();
    float[] gain = {1, -2, 3, -0.5f, 0.25f, 7, 1.5f, 1};
    float[] in = new float[ROWS * WIDTH];
    for (int i = 0; i < in.length; i++) {
      in[i] = i * 7 % 23 - 10.9f;
    }
    RmsNorm cpu = RmsNorm.builder(WIDTH).gain(gain).build();
    Saved saved = new Saved(Keep.INPUT, ROWS);
    float[] dx = new float[in.length];
    float[] dgain = new float[WIDTH];
    Rows ofCpu = Rows.of(in, WIDTH);
    cpu.apply(ofCpu, Rows.of(new float[in.length], WIDTH), saved);
    cpu.backward(ofCpu, saved, Rows.of(dx, WIDTH), ParameterGradients.assigned(dgain, null));

    x.memory().copyFrom(MemorySegment.ofArray(in));
    CudaNorm there = onStream(cpu);
    CudaRows gradient = rows(FLOAT32, ROWS);
    CudaRows sums = rows(FLOAT32, 1);
    try (CudaStream another = device.stream();
        CudaEvent forward = device.event()) {
      CudaSaved kept = there.on(another).saved(Keep.INPUT, ROWS, arena);
      there.apply(x, y, kept);
      forward.record(stream);
      another.waitFor(forward);
      there.on(another).backward(x, kept, gradient, CudaGradients.assigned(sums, null));
      another.synchronize();
    }
    assertThat(back(gradient)).isEqualTo(dx);
    assertThat(back(sums)).isEqualTo(dgain);
  }

  private static float[] back(CudaRows rows) {
    float[] numbers = new float[Math.toIntExact(rows.rows() * rows.width())];
    rows.memory().copyTo(MemorySegment.ofArray(numbers));
    return numbers;
  }
}
