package io.github.rmsnorm4j.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.L2Norm;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import io.github.rmsnorm4j.cuda.driver.StubDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CudaNormTest {
  private static final int ROWS = 3;
  private static final int WIDTH = 40;

  private final float[] x = numbers(1);
  private final float[] z = numbers(2);
  private final float[] dy = numbers(3);
  private final float[] gain = new float[WIDTH];
  private StubDriver stub;
  private CudaDevice device;
  private Arena arena;

  @BeforeEach
  void open() {
    stub = InterpretedDevice.behind(StubDriver.fresh());
    device = CudaSystem.look(stub.library()).open().orElseThrow();
    arena = Arena.ofShared();
    System.arraycopy(numbers(4), 0, gain, 0, WIDTH);
  }

  @AfterEach
  void nothingLeaks() {
    if (stub != null) {
      if (arena.scope().isAlive()) {
        arena.close();
      }
      device.close();
      assertThat(stub.leaks()).isEmpty();
    }
  }

  private static float[] numbers(int seed) {
    float[] numbers = new float[ROWS * WIDTH];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = (i * 7 * seed % 23 - 11) / 4f + 0.1f;
    }
    return numbers;
  }

  private static Rows onCpu(float... numbers) {
    return Rows.of(numbers, WIDTH);
  }

  private CudaRows rows(float... numbers) {
    return rows(ROWS, numbers);
  }

  private CudaRows rows(int rows, float... numbers) {
    CudaMemory memory = device.allocate(4L * numbers.length, arena);
    memory.copyFrom(MemorySegment.ofArray(numbers));
    return CudaRows.of(memory, ElementType.FLOAT32, rows, numbers.length / rows);
  }

  private static float[] back(CudaRows rows) {
    float[] numbers = new float[(int) rows.rows() * rows.width()];
    rows.memory().copyTo(MemorySegment.ofArray(numbers));
    return numbers;
  }

  private Norm norm() {
    return RmsNorm.builder(WIDTH).gain(gain).build();
  }

  /** Copies without a stream wait for the default stream. */
  @Test
  void callsWithoutAStreamHaveTheBitsOfTheCpu() {
    stub.lazy();
    Norm cpu = norm();
    float[] y = new float[x.length];
    float[] residual = z.clone();
    float[] dx = new float[x.length];
    float[] dgain = new float[WIDTH];
    CudaNorm norm = device.norm(cpu, arena);
    CudaRows there = rows(x);
    CudaRows output = rows(new float[x.length]);
    cpu.apply(x, y);
    norm.apply(there, output);
    assertThat(back(output)).isEqualTo(y);

    cpu.addAndApply(x, residual, y);
    CudaRows sum = rows(z);
    norm.addAndApply(there, sum, output);
    assertThat(back(output)).isEqualTo(y);
    assertThat(back(sum)).isEqualTo(residual);

    Saved saved = new Saved(Keep.INPUT, ROWS);
    CudaSaved kept = norm.saved(Keep.INPUT, ROWS, arena);
    CudaRows gradient = rows(new float[x.length]);
    CudaRows sums = rows(1, new float[WIDTH]);
    cpu.apply(onCpu(x), onCpu(y), saved);
    cpu.backward(onCpu(dy), saved, onCpu(dx), ParameterGradients.assigned(dgain, null));
    norm.apply(there, output, kept);
    norm.backward(rows(dy), kept, gradient, CudaGradients.assigned(sums, null));
    assertThat(back(gradient)).isEqualTo(dx);
    assertThat(back(sums)).isEqualTo(dgain);

    cpu.addAndApply(onCpu(x), onCpu(residual), onCpu(y), saved);
    cpu.backward(onCpu(dy), saved, onCpu(z), onCpu(dx), null);
    norm.addAndApply(there, sum, output, kept);
    norm.backward(rows(dy), kept, rows(z), gradient, null);
    assertThat(back(gradient)).isEqualTo(dx);
    assertThat(back(output)).isEqualTo(y);
  }

  @Test
  void gatedCallsWithoutAStreamHaveTheBitsOfTheCpu() {
    Norm cpu = RmsNorm.builder(WIDTH).gain(gain).gate(Gate.SILU).build();
    CudaNorm norm = device.norm(cpu, arena);
    float[] y = new float[x.length];
    float[] dx = new float[x.length];
    float[] dz = new float[x.length];
    CudaRows there = rows(x);
    CudaRows gate = rows(z);
    CudaRows output = rows(new float[x.length]);
    cpu.applyGated(onCpu(x), onCpu(z), onCpu(y));
    norm.applyGated(there, gate, output);
    assertThat(back(output)).isEqualTo(y);

    Saved saved = new Saved(Keep.NOTHING, ROWS);
    CudaSaved kept = norm.saved(Keep.NOTHING, ROWS, arena);
    CudaRows[] gradients = {rows(new float[x.length]), rows(new float[x.length])};
    cpu.applyGated(onCpu(x), onCpu(z), onCpu(y), saved);
    cpu.backwardGated(onCpu(dy), saved, onCpu(dx), onCpu(dz), null);
    norm.applyGated(there, gate, output, kept);
    norm.backwardGated(rows(dy), kept, gradients[0], gradients[1], null);
    assertThat(back(gradients[0])).isEqualTo(dx);
    assertThat(back(gradients[1])).isEqualTo(dz);
  }

  @Test
  void whatIsKeptIsInTheMemoryOfTheDevice() {
    Norm cpu = LayerNorm.builder(WIDTH).build();
    CudaNorm norm = device.norm(cpu, arena);
    CudaSaved kept = norm.saved(Keep.INPUT, ROWS + 1, arena);
    assertThat(kept.rstd()).isNull();
    assertThat(kept.mean()).isNull();
    norm.apply(rows(x), rows(x), kept);
    Saved saved = new Saved(Keep.INPUT, ROWS);
    cpu.apply(onCpu(x), onCpu(new float[x.length]), saved);
    assertThat(doubles(kept.rstd())).isEqualTo(saved.rstd());
    assertThat(doubles(kept.mean())).isEqualTo(saved.mean());
    assertThat(kept.keep()).isEqualTo(Keep.INPUT);

    CudaSaved output = norm.saved(Keep.OUTPUT, ROWS, arena);
    norm.apply(rows(x), rows(x), output);
    assertThat(doubles(output.rstd())).isEqualTo(saved.rstd());
    assertThat(output.mean()).isNull();
    CudaSaved nothing = norm.saved(Keep.NOTHING, ROWS, arena);
    norm.apply(rows(x), rows(x), nothing);
    assertThat(nothing.rstd()).isNull();
  }

  private static double[] doubles(CudaRows rows) {
    assertThat(rows.type()).isEqualTo(ElementType.FLOAT64);
    double[] numbers = new double[(int) rows.rows() * rows.width()];
    rows.memory().copyTo(MemorySegment.ofArray(numbers));
    return numbers;
  }

  /** The numbers of each row, as the calls of the CPU with arrays give them. */
  @Test
  void numbersOfRowsWithoutABackwardPass() {
    CudaRows there = rows(x);
    CudaRows output = rows(new float[x.length]);
    Rows in = Rows.of(x, WIDTH);
    Rows out = Rows.of(new float[x.length], WIDTH);
    double[] rstd = new double[ROWS];
    double[] other = new double[ROWS];
    CudaRows rstdThere = statistics(ROWS, 1);
    CudaRows otherThere = statistics(ROWS, 1);

    RmsNorm rms = RmsNorm.builder(WIDTH).gain(gain).build();
    rms.apply(in, out, rstd);
    device.norm(rms, arena).apply(there, output, CudaStatistics.rstd(rstdThere));
    assertThat(doubles(rstdThere)).isEqualTo(rstd);

    LayerNorm layer = LayerNorm.builder(WIDTH).gain(gain).build();
    layer.apply(in, out, other, rstd);
    CudaNorm layerThere = device.norm(layer, arena);
    CudaStatistics both = CudaStatistics.meanAndRstd(otherThere, rstdThere);
    layerThere.apply(there, output, both);
    assertThat(doubles(rstdThere)).isEqualTo(rstd);
    assertThat(doubles(otherThere)).isEqualTo(other);

    L2Norm l2 = L2Norm.builder(WIDTH).build();
    l2.apply(in, out, other);
    device.norm(l2, arena).apply(there, there, CudaStatistics.length(otherThere));
    assertThat(doubles(otherThere)).isEqualTo(other);
    assertThat(back(there)).isEqualTo(out.segment().toArray(JAVA_FLOAT));

    RmsNorm groups = RmsNorm.builder(WIDTH).groupCount(4).build();
    double[] ofGroups = new double[ROWS * 4];
    CudaRows groupsThere = statistics(ROWS, 4);
    groups.apply(in, out, ofGroups);
    device.norm(groups, arena).apply(rows(x), output, CudaStatistics.rstd(groupsThere));
    assertThat(doubles(groupsThere)).isEqualTo(ofGroups);
  }

  private CudaRows statistics(int rows, int groups) {
    CudaMemory memory = device.allocate(8L * rows * groups, arena);
    return CudaRows.of(memory, ElementType.FLOAT64, rows, groups);
  }

  /** A gain that an optimizer has changed in place is read by the next call. */
  @Test
  void parametersAreReadByEachCall() {
    CudaNorm norm = device.norm(LayerNorm.builder(WIDTH).gain(gain).build(), arena);
    CudaRows weights = rows(1, new float[WIDTH]);
    CudaRows offsets = rows(1, new float[WIDTH]);
    CudaNorm given = norm.withParameters(weights, null).withParameters(null, offsets);
    assertThat(given.norm()).isSameAs(norm.norm());
    assertThat(given).hasToString(norm + ", with gain 1 x 40 float32 and bias 1 x 40 float32");
    assertThat(norm.withParameters(null, offsets)).hasToString(norm + ", with bias 1 x 40 float32");
    CudaRows there = rows(x);
    CudaRows output = rows(new float[x.length]);
    given.apply(there, output);
    assertThat(back(output)).containsOnly(0);
    float[] ones = new float[WIDTH];
    Arrays.fill(ones, 1);
    offsets.memory().copyFrom(MemorySegment.ofArray(ones));
    given.apply(there, output);
    assertThat(back(output)).containsOnly(1);
    weights.memory().copyFrom(MemorySegment.ofArray(gain));
    given.apply(there, output);
    float[] y = new float[x.length];
    LayerNorm.builder(WIDTH).gain(gain).bias(ones).build().apply(x, y);
    assertThat(back(output)).isEqualTo(y);
    norm.apply(there, output);
    LayerNorm.builder(WIDTH).gain(gain).build().apply(x, y);
    assertThat(back(output)).as("the norm's own are as they were").isEqualTo(y);
  }

  @Test
  void aPassThroughTwoNormsThereAndBack() {
    RmsNorm cpu = RmsNorm.builder(WIDTH).gain(gain).build();
    LayerNorm cpuOfSum = LayerNorm.builder(WIDTH).build();
    float[] sum = z.clone();
    float[] y = new float[x.length];
    float[] dh = new float[x.length];
    float[] dx = new float[x.length];
    float[] dgain = new float[WIDTH];
    Rows residual = Rows.of(sum, WIDTH);
    Rows in = Rows.of(x, WIDTH);
    Rows out = Rows.of(y, WIDTH);
    Saved saved = new Saved(Keep.INPUT, ROWS);
    Saved savedOfSum = new Saved(Keep.INPUT, ROWS);
    cpu.applyAndAdd(in, residual, cpuOfSum, out, saved, savedOfSum);
    cpuOfSum.backward(onCpu(dy), savedOfSum, onCpu(z), onCpu(dh), null);
    cpu.backward(onCpu(dh), saved, onCpu(dx), ParameterGradients.assigned(dgain, null));

    CudaNorm norm = device.norm(cpu, arena);
    CudaNorm ofSum = device.norm(cpuOfSum, arena);
    CudaSaved kept = norm.saved(Keep.INPUT, ROWS, arena);
    CudaSaved keptOfSum = ofSum.saved(Keep.INPUT, ROWS, arena);
    CudaRows sumThere = rows(z);
    CudaRows there = rows(x);
    CudaRows output = rows(new float[x.length]);
    CudaRows gradient = rows(new float[x.length]);
    CudaRows sums = rows(1, new float[WIDTH]);
    norm.applyAndAdd(there, sumThere, ofSum, output, kept, keptOfSum);
    ofSum.backward(rows(dy), keptOfSum, rows(z), gradient, null);
    norm.backward(gradient, kept, gradient, CudaGradients.assigned(sums, null));
    assertThat(back(sumThere)).isEqualTo(sum);
    assertThat(back(output)).isEqualTo(y);
    assertThat(back(gradient)).isEqualTo(dx);
    assertThat(back(sums)).isEqualTo(dgain);

    CudaRows again = rows(z);
    norm.applyAndAdd(there, again, ofSum, there);
    assertThat(back(there)).isEqualTo(y);
    stub.calls();
    norm.applyAndAdd(there, again, norm, there);
    assertThat(stub.calls(EntryPoint.LAUNCH_KERNEL)).hasSize(2);
  }

  @Test
  void aCallOfNoRowsStartsNothing() {
    CudaNorm norm = device.norm(norm(), arena);
    CudaMemory nothing = device.allocate(0, arena);
    CudaRows none = CudaRows.of(nothing, ElementType.FLOAT32, 0, WIDTH);
    CudaSaved saved = norm.saved(Keep.INPUT, 0, arena);
    stub.calls();
    norm.apply(none, none);
    norm.apply(none, none, CudaStatistics.rstd(CudaRows.of(nothing, ElementType.FLOAT64, 0, 1)));
    norm.applyAndAdd(none, none, norm, none);
    norm.apply(none, none, saved);
    norm.backward(none, saved, none, null);
    assertThat(stub.calls(EntryPoint.LAUNCH_KERNEL)).isEmpty();
    CudaRows dgain = rows(1, gain);
    norm.backward(none, saved, none, CudaGradients.added(dgain, null));
    assertThat(back(dgain)).isEqualTo(gain);
    norm.backward(none, saved, none, CudaGradients.assigned(dgain, null));
    assertThat(back(dgain)).containsOnly(0);
  }

  /** Gain and bias go to the device once, and a kernel is compiled once. */
  @Test
  void aCallIsOneLaunch() {
    CudaNorm norm = device.norm(norm(), arena);
    CudaRows there = rows(x);
    CudaRows output = rows(x);
    norm.apply(there, output);
    stub.calls();
    norm.apply(there, output);
    assertThat(stub.calls())
        .filteredOn(call -> !call.startsWith("cuCtx"))
        .singleElement()
        .asString()
        .startsWith(EntryPoint.LAUNCH_KERNEL.symbol());
  }

  @Test
  void aCallReturnsBeforeItsWork() {
    CudaNorm norm = device.norm(norm(), arena);
    CudaRows there = rows(x);
    AtomicInteger done = new AtomicInteger();
    stub.onLaunch(
        launch -> {
          done.incrementAndGet();
          return 0;
        });
    stub.lazy();
    try (CudaStream stream = device.stream()) {
      norm.on(stream).apply(there, there);
      assertThat(done).hasValue(0);
      stream.synchronize();
      assertThat(done).hasValue(1);
    }
  }

  @Test
  void severalThreadsUseOneNorm() throws Throwable {
    float[] y = new float[x.length];
    norm().apply(x, y);
    try (Arena shared = Arena.ofShared();
        ExecutorService threads = Executors.newFixedThreadPool(4)) {
      CudaNorm norm = device.norm(norm(), shared);
      List<Callable<float[]>> calls =
          Collections.nCopies(
              12,
              () -> {
                try (Arena own = Arena.ofConfined();
                    CudaStream stream = device.stream()) {
                  CudaMemory memory = device.allocate(4L * x.length, own);
                  memory.copyFrom(MemorySegment.ofArray(x));
                  CudaRows rows = CudaRows.of(memory, ElementType.FLOAT32, ROWS, WIDTH);
                  norm.on(stream).apply(rows, rows);
                  return back(rows);
                }
              });
      for (Future<float[]> result : threads.invokeAll(calls)) {
        assertThat(result.get()).isEqualTo(y);
      }
    }
    stub.rethrow();
  }

  @Test
  void aKernelThatFailsIsNamedWithItsCall() {
    CudaNorm norm = device.norm(norm(), arena);
    CudaRows there = rows(x);
    CudaRows output = rows(x);
    stub.failKernel(700);
    norm.apply(there, output);
    assertThatThrownBy(() -> norm.apply(there, output))
        .isInstanceOfSatisfying(
            CudaException.class,
            e -> {
              assertThat(e.isContextLost()).isTrue();
              assertThat(e.codeName()).isEqualTo("CUDA_ERROR_ILLEGAL_ADDRESS");
            })
        .hasMessageContaining(
            "kernel rms_norm_forward_float32_float32_narrow of RmsNorm.apply(3 x 40 float32)");
    arena.close();
    assertThatThrownBy(device::freeBytes).hasMessageContaining("was lost before");
    device.close();
    stub = null; // nothing can be given back
  }

  /** All kernels of a backward call are compiled before the first one is started. */
  @Test
  void aKernelThatIsRefusedIsNamedBeforeAnyIsStarted() {
    CudaNorm norm = device.norm(norm(), arena);
    CudaSaved saved = norm.saved(Keep.INPUT, ROWS, arena);
    CudaRows dgain = rows(1, gain);
    norm.apply(rows(x), rows(x), saved);
    stub.calls();
    stub.fail(EntryPoint.MODULE_LOAD_DATA_EX, 1, 222);
    CudaGradients gradients = CudaGradients.assigned(dgain, null);
    assertThatThrownBy(() -> norm.backward(rows(dy), saved, rows(dy), gradients))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
    assertThat(stub.calls(EntryPoint.LAUNCH_KERNEL)).isEmpty();
    stub.fail(EntryPoint.LAUNCH_KERNEL, 0, 701);
    assertThatThrownBy(() -> norm.backward(rows(dy), saved, rows(dy), gradients))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("of RmsNorm.backward(3 x 40 float32)");
    norm.backward(rows(dy), saved, rows(dy), gradients);
  }

  @Test
  void theMemoryOfTheNormLivesAsLongAsItsArena() {
    CudaRows there = rows(x);
    CudaNorm closed;
    CudaSaved saved;
    CudaNorm norm = device.norm(norm(), arena);
    try (Arena shorter = Arena.ofConfined()) {
      closed = device.norm(norm(), shorter);
      saved = norm.saved(Keep.INPUT, ROWS, shorter);
    }
    CudaRows output = rows(x);
    assertThatThrownBy(() -> closed.apply(there, output))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "the memory of RmsNorm(40, rmsnorm, gain) on device 0 (Stub GPU A) was freed:"
                + " its arena is closed");
    assertThatThrownBy(() -> norm.apply(there, output, saved))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("saved was freed: its arena is closed");
  }

  @Test
  void anotherThreadMayUseItIfTheArenaLetsIt() throws InterruptedException {
    CudaRows there = rows(x);
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    try (Arena mine = Arena.ofConfined()) {
      CudaNorm norm = device.norm(norm(), mine);
      Thread thread =
          new Thread(
              () -> {
                try {
                  norm.apply(there, there);
                } catch (WrongThreadException e) {
                  thrown.set(e);
                }
              });
      thread.start();
      thread.join();
    }
    assertThat(thrown.get()).hasMessageStartingWith("the memory of RmsNorm(40");
  }

  @Test
  void aNormOnAClosedDeviceSaysSo() {
    assertThatThrownBy(() -> device.norm(null, arena)).hasMessage("norm is null");
    CudaNorm norm = device.norm(norm(), arena);
    CudaRows there = rows(x);
    assertThat(norm.device()).isSameAs(device);
    assertThat(norm.norm().width()).isEqualTo(WIDTH);
    device.close();
    assertThatThrownBy(() -> norm.apply(there, there))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("device 0 (Stub GPU A) is closed");
  }

  /** Closing a device has freed what was allocated through it, though the arena is open. */
  @Test
  void memoryOfAClosedDeviceIsRefusedByAnotherObjectOfTheSameDevice() {
    CudaDevice other = CudaSystem.look(stub.library()).open().orElseThrow();
    CudaNorm norm = other.norm(norm(), arena);
    CudaSaved saved = norm.saved(Keep.INPUT, ROWS, arena);
    CudaRows open = rows(other, x);
    CudaRows freed = rows(x);
    CudaQuantizedRows codes =
        CudaQuantizedRows.of(
            device.allocate(ROWS * WIDTH, arena), 1, QuantizedType.e4m3Given(), ROWS, WIDTH);
    CudaRows gradient = CudaRows.of(freed.memory(), ElementType.FLOAT32, 1, WIDTH);
    norm.apply(open, rows(other, x), saved);
    CudaNorm ofFreed = norm.withParameters(gradient, null);
    device.close();
    stub.calls();
    List<ThrowingCallable> calls =
        List.of(
            () -> norm.apply(freed, freed),
            () -> norm.apply(open, freed),
            () -> norm.apply(open, null, codes),
            () -> ofFreed.apply(open, open),
            () -> norm.backward(open, saved, freed, null),
            () ->
                norm.backward(
                    rows(other, x), saved, rows(other, x), CudaGradients.added(gradient, null)),
            () -> open.memory().copyFrom(freed.memory(), other.defaultStream()));
    calls.forEach(
        call ->
            assertThatThrownBy(call)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("device 0 (Stub GPU A) is closed"));
    assertThat(stub.calls(EntryPoint.LAUNCH_KERNEL)).isEmpty();
    other.close();
  }

  private static CudaRows rows(CudaDevice device, float... numbers) {
    CudaMemory memory = device.allocate(4L * numbers.length, Arena.ofAuto());
    memory.copyFrom(MemorySegment.ofArray(numbers));
    return CudaRows.of(memory, ElementType.FLOAT32, ROWS, WIDTH);
  }

  /** An array of one float for a row that is checked by hand: 3 and 4 have the rms 5 / sqrt(2). */
  @Test
  void aRowByHand() {
    CudaNorm norm = device.norm(RmsNorm.builder(2).epsilon(0).build(), arena);
    CudaRows there = rows(1, 3, 4);
    norm.apply(there, there);
    float[] y = new float[2];
    there.memory().copyTo(MemorySegment.ofArray(y));
    double rms = Math.sqrt(12.5);
    assertThat(y).containsExactly((float) (3 / rms), (float) (4 / rms));
    assertThat(there.memory().byteSize()).isEqualTo(2 * JAVA_FLOAT.byteSize());
  }
}
