package io.github.rmsnorm4j.cuda;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.ElementType.FLOAT64;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** What is refused, in one line, before anything is started. */
class CudaNormArgumentsTest extends RefusedCalls {
  @Test
  void rowsThatDoNotFit() {
    refused(() -> norm.apply(rows(FLOAT32, 4, 9), y), "x has rows 9 wide, the norm is 8 wide");
    refused(() -> norm.apply(x, rows(FLOAT32, 5)), "y has 5 rows, x has 4: they must be the same");
    refused(
        () -> norm.addAndApply(x, rows(FLOAT64, 4), y),
        "residual is float64, x is float32: both must be float64, or neither");
    refused(() -> norm.apply(null, y), NullPointerException.class, "x is null");
    refused(() -> norm.apply(x, null), NullPointerException.class, "y is null");
    refused(() -> norm.on(null), NullPointerException.class, "stream is null");
    refused(() -> norm.apply(x, y, (CudaSaved) null), NullPointerException.class, "saved is null");
    refused(
        () -> norm.apply(x, y, (CudaStatistics) null),
        NullPointerException.class,
        "statistics is null");
    refused(() -> norm.addAndApply(x, null, y), NullPointerException.class, "residual is null");
    CudaNorm groups = onStream(RmsNorm.builder(1 << 20).groupCount(1 << 19).build());
    refused(() -> groups.saved(Keep.INPUT, 4096, arena), "rows is 4096, it may be 0 to 4095");
  }

  @Test
  void memoryThatOverlaps() {
    CudaMemory memory = device.allocate(1000, arena);
    CudaRows first = CudaRows.of(memory, FLOAT32, 4, WIDTH);
    CudaRows shifted = CudaRows.of(memory.asSlice(4), FLOAT32, 4, WIDTH);
    refused(
        () -> norm.apply(first, shifted),
        "y overlaps x: they must be the same rows, or share no memory");
    refused(
        () -> norm.addAndApply(x, first, shifted),
        "y overlaps residual: each must be memory of its own");
    // Rows that interleave share nothing.
    CudaRows left = CudaRows.of(memory, FLOAT32, 4, WIDTH, 2 * WIDTH);
    CudaRows right = CudaRows.of(memory.asSlice(4 * WIDTH), FLOAT32, 4, WIDTH, 2 * WIDTH);
    memory.copyFrom(arena.allocate(1000));
    norm.apply(left, right);
    stream.synchronize();
    assertThat(stub.calls(EntryPoint.LAUNCH_KERNEL)).hasSize(1);
  }

  @Test
  void memoryAndStreamsOfAnotherDevice() {
    CudaRows theirs = CudaRows.of(other.allocate(1000, arena), FLOAT32, 4, WIDTH);
    refused(
        () -> norm.apply(theirs, y),
        "x is in memory of device 1 (Stub GPU B), the norm is on " + DEVICE);
    refused(
        () -> norm.apply(x, theirs),
        "y is in memory of device 1 (Stub GPU B), the norm is on " + DEVICE);
    try (CudaStream stream = other.stream()) {
      refused(
          () -> norm.on(stream), "stream is of device 1 (Stub GPU B), the norm is on " + DEVICE);
    }
    CudaSaved saved = norm.saved(Keep.INPUT, 4, arena);
    norm.apply(x, y, saved);
    stream.synchronize();
    stub.calls();
    CudaRows dgain = CudaRows.of(other.allocate(1000, arena), FLOAT32, 1, WIDTH);
    refused(
        () -> norm.backward(y, saved, y, CudaGradients.added(dgain, null)),
        "dgain is in memory of device 1 (Stub GPU B), the norm is on " + DEVICE);
  }

  @Test
  void memoryAndStreamsThatAreClosed() {
    CudaRows freed;
    try (Arena shorter = Arena.ofConfined()) {
      freed = CudaRows.of(device.allocate(1000, shorter), FLOAT32, 4, WIDTH);
    }
    refused(
        () -> norm.apply(freed, y),
        IllegalStateException.class,
        "x is in memory that has been closed");
    CudaStream closed = device.stream();
    CudaNorm onClosed = norm.on(closed);
    closed.close();
    refused(
        () -> onClosed.apply(x, y),
        IllegalStateException.class,
        "the stream on " + DEVICE + " is closed");
  }

  @Test
  void gates() {
    refused(
        () -> norm.applyGated(x, x, y),
        "gate is none, for a call with z it must be silu, sigmoid or silu before");
    CudaNorm gated = onStream(RmsNorm.builder(WIDTH).gate(Gate.SILU).build());
    refused(
        () -> gated.apply(x, y),
        "gate is silu, this call has no z and needs a norm without a gate: call applyGated");
    refused(
        () -> gated.applyGated(x, rows(FLOAT32, 3), y),
        "z has 3 rows, x has 4: they must be the same");
    CudaSaved output = gated.saved(Keep.OUTPUT, 4, arena);
    refused(
        () -> gated.applyGated(x, rows(FLOAT32, 4), y, output),
        "saved keeps the output, with a gate it must keep the input or nothing");
    CudaSaved input = gated.saved(Keep.INPUT, 4, arena);
    refused(
        () -> gated.applyGated(x, y, y, input),
        "y is z, but the input is to be kept: write elsewhere");
  }

  @Test
  void whatIsToBeKept() {
    CudaSaved saved = norm.saved(Keep.INPUT, 4, arena);
    refused(
        () -> norm.apply(x, x, saved),
        "y is x, but the input is to be kept: keep the output, or write elsewhere");
    refused(
        () -> norm.apply(rows(FLOAT32, 5), rows(FLOAT32, 5), saved),
        "saved has room for 4 rows, there are 5");
    CudaSaved output = norm.saved(Keep.OUTPUT, 4, arena);
    refused(
        () -> norm.apply(x, y, output),
        "element 0 of the gain is 0, to go back from the output none may be: keep the input");
    CudaNorm another = onStream(RmsNorm.builder(WIDTH).build());
    refused(
        () -> another.apply(x, y, saved),
        "saved is of LayerNorm(8, layernorm, gain) on %s, this is RmsNorm(8, rmsnorm) on %s"
            .formatted(DEVICE, DEVICE));
    refused(
        () -> norm.backward(y, saved, y, null),
        IllegalStateException.class,
        "saved is empty: there has been no forward pass with it");
    refused(() -> norm.saved(null, 4, arena), NullPointerException.class, "keep is null");
    refused(
        () -> norm.saved(Keep.INPUT, -1, arena), "rows is -1, it may be 0 to " + Integer.MAX_VALUE);
  }

  @Test
  void gradients() {
    CudaSaved saved = norm.saved(Keep.INPUT, 4, arena);
    norm.apply(x, y, saved);
    stream.synchronize();
    stub.calls();
    CudaRows dx = rows(FLOAT32, 4);
    CudaRows dgain = rows(FLOAT32, 1);
    refused(
        () -> norm.backward(rows(FLOAT32, 5), saved, dx, null),
        "dy has 5 rows, what was kept has 4: they must be the same");
    refused(
        () -> norm.backward(y, saved, x, null),
        "dx overlaps what was kept: each must be memory of its own");
    refused(
        () -> norm.backward(y, saved, dx, added(rows(BFLOAT16, 1), null)),
        "dgain is bfloat16, after a forward pass of float32 it must be float32");
    refused(
        () -> norm.backward(y, saved, dx, added(null, rows(FLOAT64, 1))),
        "dbias is float64, after a forward pass of float32 it must be float32");
    refused(
        () -> norm.backward(y, saved, dx, added(rows(FLOAT32, 2), null)),
        "dgain has 2 rows, it must have 1");
    refused(
        () -> norm.backward(y, saved, dx, added(rows(FLOAT32, 1, 7), null)),
        "dgain has 7 elements, it must have as many as the other parameters, 8");
    CudaRows inside = CudaRows.of(dx.memory().asSlice(32), FLOAT32, 1, WIDTH);
    refused(
        () -> norm.backward(y, saved, dx, added(inside, null)),
        "dx overlaps dgain: each must be memory of its own");
    refused(
        () -> norm.backward(y, saved, dx, added(dgain, dgain)),
        "dgain overlaps dbias: each must be memory of its own");
    CudaRows mean = CudaRows.of(saved.mean().memory(), FLOAT32, 1, WIDTH);
    refused(
        () -> norm.backward(y, saved, dx, added(mean, null)),
        "dgain overlaps the rstd or the mean of saved: each must be memory of its own");
    CudaRows rstd = CudaRows.of(saved.rstd().memory(), FLOAT32, 1, WIDTH);
    refused(
        () -> norm.backward(y, saved, dx, added(null, rstd)),
        "dbias overlaps the rstd or the mean of saved: each must be memory of its own");
    refused(
        () -> norm.backwardGated(y, saved, dx, dx, null),
        "gate is none, for a call with z it must be silu, sigmoid or silu before");
  }

  @Test
  void numbersThatAreKept() {
    CudaSaved saved = norm.saved(Keep.INPUT, 4, arena);
    norm.apply(x, y, saved);
    stream.synchronize();
    stub.calls();
    CudaRows rstd = CudaRows.of(saved.rstd().memory(), FLOAT32, 1, WIDTH);
    refused(
        () -> norm.apply(rows(FLOAT32, 1), rstd, saved),
        "y overlaps the rstd or the mean of saved: each must be memory of its own");
    CudaRows mean = CudaRows.of(saved.mean().memory(), FLOAT32, 1, WIDTH);
    refused(
        () -> norm.apply(rows(FLOAT32, 1), mean, saved),
        "y overlaps the rstd or the mean of saved: each must be memory of its own");
  }

  /** The memory of a norm, of what is kept, and of the sums over rows. */
  @Test
  void tooLittleMemoryForWhatACallNeeds() {
    CudaSaved saved = norm.saved(Keep.INPUT, 4, arena);
    norm.apply(x, y, saved);
    stream.synchronize();
    CudaRows dx = rows(FLOAT32, 4);
    CudaRows dgain = rows(FLOAT32, 1);
    try (Arena rest = Arena.ofConfined()) {
      device.allocate(device.freeBytes() - 31, rest);
      stub.calls();
      String asked =
          "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2), meaning of 2: %s bytes are asked";
      String free = " for, 31 are free, on " + DEVICE;
      refused(
          () -> norm.backward(y, saved, dx, added(dgain, null)),
          CudaException.class,
          asked.formatted(32) + free);
      refused(
          () -> norm.saved(Keep.INPUT, 4, arena), CudaException.class, asked.formatted(64) + free);
      RmsNorm another = RmsNorm.builder(1).gain(new float[1]).build();
      refused(() -> device.norm(another, arena), CudaException.class, asked.formatted(512) + free);
    }
    norm.backward(y, saved, dx, added(dgain, null));
    stream.synchronize();
  }

  /** More rows than a launch takes; they are not there, so they must not be used. */
  @Test
  @SuppressWarnings("restricted")
  void tooManyRows() {
    CudaMemory large =
        new CudaMemory(device, MemorySegment.ofAddress(1L << 45).reinterpret(1L << 40));
    CudaRows many = CudaRows.of(large, FLOAT32, 1L << 31, WIDTH);
    refused(() -> norm.apply(many, many), "x has 2147483648 rows, a call takes at most 2147483647");
    CudaNorm groups = onStream(RmsNorm.builder(WIDTH).groupCount(4).build());
    CudaRows quarter = CudaRows.of(large, FLOAT32, 1 << 29, WIDTH);
    refused(
        () -> groups.apply(quarter, quarter),
        "x has 536870912 rows, a call takes at most 536870911");
  }
}
