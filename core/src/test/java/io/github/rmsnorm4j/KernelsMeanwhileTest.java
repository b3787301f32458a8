package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.norm.KernelThread;
import io.github.rmsnorm4j.internal.norm.Payoff;
import io.github.rmsnorm4j.internal.norm.Plans;
import io.github.rmsnorm4j.internal.norm.Runner;
import io.github.rmsnorm4j.internal.quantized.CodeRule;
import io.github.rmsnorm4j.internal.quantized.QuantizedChunks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Kernels are made by a thread of the library while calls go on, and change no bit. */
class KernelsMeanwhileTest {
  private static final int NORMS = Backends.ALL_DRAWS ? 400 : 100;
  private static final int CALLS = 20;

  /** Several threads call one norm before, while and after its kernels are made. */
  @Test
  void bitsStayWhileKernelsAreMade() throws Exception {
    Assumptions.assumeTrue(Backend.best().vectorBits() > 0, "no kernels that are faster");
    TreeSet<String> reached = new TreeSet<>();
    AtomicInteger before = new AtomicInteger();
    for (int seed = 0; seed < NORMS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Shape shape = new Shape(seed, random);
      reached.add(shape.spec.kind() + " " + shape.isNative + " " + shape.adds);
      assertThat(shape.norm.first).isNotNull();
      // As if there had been work enough.
      Payoff.forward(shape.spec.kind()).isOfFirstTier(500_000_000);
      try (ExecutorService threads = Executors.newFixedThreadPool(3);
          Arena arena = Arena.ofShared()) {
        List<Future<?>> all = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
          all.add(
              threads.submit(
                  () -> {
                    for (int call = 0; call < CALLS; call++) {
                      before.addAndGet(shape.norm.backEndParts == null ? 1 : 0);
                      shape.check(arena);
                    }
                  }));
        }
        for (Future<?> one : all) {
          one.get(1, TimeUnit.MINUTES);
        }
        KernelsReady.await();
        assertThat(shape.norm.backEndParts).as("kernels of %s", shape.norm).isNotNull();
        shape.check(arena);
      }
    }
    assertThat(reached).as("three norms, two memories, with and without a residual").hasSize(12);
    assertThat(before.get()).isPositive();
  }

  /** What the calls of a norm are, and what they give. */
  private static final class Shape {
    final long seed;
    final NormSpec spec;
    final Norm norm;
    final int width;
    final int rows;
    final boolean isNative;
    final boolean adds;
    final float[] x;
    final float[] expected;

    Shape(long seed, SplittableRandom random) {
      this.seed = seed;
      width = random.nextInt(1, 3000);
      rows = random.nextInt(2, 6);
      isNative = random.nextBoolean();
      adds = random.nextBoolean();
      spec = Variant.any(random, width, 1e-5).whole().spec().withCastOrder(CastOrder.FLOAT32);
      RandomRows source = new RandomRows(random);
      float[] gain = floats(source.ordinary(ElementType.FLOAT32, width));
      norm = spec.builder(width).gain(gain).threads(2).build();
      x = new float[rows * width];
      for (int row = 0; row < rows; row++) {
        float[] values = floats(source.ordinary(ElementType.FLOAT32, width));
        System.arraycopy(values, 0, x, row * width, width);
      }
      expected = new float[x.length];
      spec.builder(width).gain(gain).backend(Backend.scalar()).build().apply(x, expected);
    }

    private static float[] floats(double[] values) {
      float[] floats = new float[values.length];
      for (int i = 0; i < floats.length; i++) {
        floats[i] = (float) values[i];
      }
      return floats;
    }

    /** A residual of -0 changes nothing. */
    void check(Arena arena) {
      float[] y = new float[x.length];
      float[] sum = new float[x.length];
      Arrays.fill(sum, -0f);
      if (isNative) {
        MemorySegment out = arena.allocate(4L * x.length);
        Rows in = rows(x, arena);
        if (adds) {
          norm.addAndApply(in, rows(sum, arena), rows(out));
        } else {
          norm.apply(in, rows(out));
        }
        MemorySegment.copy(out, ValueLayout.JAVA_FLOAT, 0, y, 0, y.length);
      } else if (adds) {
        norm.addAndApply(x, sum, y);
      } else {
        norm.apply(x, y);
      }
      for (int i = 0; i < y.length; i++) {
        if (Float.floatToIntBits(y[i]) != Float.floatToIntBits(expected[i])) {
          throw new AssertionError("y[" + i + "] is " + y[i] + ", seed " + seed);
        }
      }
    }

    private Rows rows(float[] values, Arena arena) {
      MemorySegment from = MemorySegment.ofArray(values);
      return rows(arena.allocate(from.byteSize(), 4).copyFrom(from));
    }

    private Rows rows(MemorySegment segment) {
      return Rows.of(segment, ElementType.FLOAT32, rows, width);
    }
  }

  /** Plain Java goes on where kernels cannot be made, and nothing is tried again. */
  @Test
  void aFailureLeavesPlainJava() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    Payoff payoff = new Payoff();
    payoff.end();
    Plans plans =
        new Plans(
            () -> {
              tries.incrementAndGet();
              throw new IllegalStateException("no kernel: a test wants it");
            },
            () -> 0,
            true,
            payoff);
    Norm norm = RmsNorm.builder(3).build();
    float[] x = {1, 2, 3, 4, 5, 6};
    float[] expected = new float[6];
    norm.apply(x, expected);
    for (int i = 0; i < 3; i++) {
      float[] y = new float[6];
      ForwardCall of = new ForwardCall(norm, Rows.of(x, 3), Rows.of(y, 3));
      try (Call call = of.call(of.output(norm.backEndParts()), null)) {
        Runner.run(call, plans, 2, 1);
      }
      assertThat(y).containsExactly(expected);
      KernelsReady.await();
    }
    assertThat(tries).hasValue(1);
  }

  /**
   * While a kernel is made, another kind of call of the same norm asks for its own, and is not kept
   * waiting. The thread of kernels must not wait for work that stands behind it.
   */
  @Test
  void anotherKindOfCallIsMadeBehind() throws Exception {
    Assumptions.assumeTrue(Backend.best().vectorBits() > 0, "no kernels that are faster");
    int width = 1 << 21;
    Norm norm = RmsNorm.builder(width).groupCount(64).threads(1).build();
    Rows floats = Rows.of(new float[2 * width], width);
    Rows shorts = Rows.of(new short[3 * width], ElementType.BFLOAT16, width);
    Payoff.forward(NormSpec.Kind.RMS_NORM).isOfFirstTier(500_000_000);
    CountDownLatch begins = new CountDownLatch(1);
    KernelThread.later(new KernelThread.Work(() -> await(begins)));
    norm.apply(floats, floats); // stands in the queue
    Thread other = new Thread(() -> norm.apply(shorts, shorts));
    other.start();
    while (other.isAlive() && other.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    begins.countDown();
    other.join(TimeUnit.MINUTES.toMillis(1));
    assertThat(other.isAlive()).isFalse();
    KernelsReady.await();
    norm.apply(floats, floats);
    assertThat(norm.backEndParts).isNotNull();
  }

  /** Rows become codes by machine code when that is ready, and until then in plain Java. */
  @Test
  void codesStayWhileTheirCodeIsMade() throws Exception {
    int width = 1024;
    float[] x = new float[3 * width];
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextDouble(-1, 1);
    }
    Rows rows = Rows.of(x, width);
    Payoff.QUANTIZE.end();
    Payoff.forward(NormSpec.Kind.RMS_NORM).end();
    for (QuantizedType type : List.of(QuantizedType.Q8_0, QuantizedType.int8(64))) {
      Norm norm = RmsNorm.builder(width).threads(1).build();
      byte[] expected = new byte[3 * (int) type.rowBytes(width)];
      Norm plain = RmsNorm.builder(width).backend(Backend.scalar()).build();
      plain.apply(rows, null, codes(expected, type, width));
      byte[] quantized = new byte[expected.length];
      Quantizer.defaults().quantize(rows, codes(quantized, type, width), 1);
      for (int call = 0; call < 6; call++) {
        byte[] found = new byte[expected.length];
        norm.apply(rows, null, codes(found, type, width));
        assertThat(found).isEqualTo(expected);
        byte[] again = new byte[expected.length];
        Quantizer.defaults().quantize(rows, codes(again, type, width), 1);
        assertThat(again).isEqualTo(quantized);
        if (call > 1) {
          KernelsReady.await();
        }
      }
      QuantizedRows ready = codes(expected, type, width);
      CodeRule rule = Quantizer.defaults().rule();
      assertThat(QuantizedChunks.isReady(ready.memory(), rule, Backend.best().machineBits()))
          .isTrue();
      assertThat(norm.backEndParts().plans.machineBits(1, ready.memory(), rule))
          .isEqualTo(Backend.best().machineBits());
    }
  }

  private static QuantizedRows codes(byte[] codes, QuantizedType type, int width) {
    return type == QuantizedType.Q8_0
        ? QuantizedRows.of(codes, type, width)
        : QuantizedRows.of(codes, new float[3 * type.scales(width)], type, width);
  }

  /** Where more kinds of call come in turn than are kept, each call makes its own. */
  @Test
  void moreKindsThanAreKeptStayWithKernels() throws Exception {
    Payoff payoff = new Payoff();
    payoff.end();
    Plans plans = new Plans(() -> 0, () -> 0, false, payoff);
    for (int round = 0; round < 3; round++) {
      for (int kind = 1; kind <= 100; kind++) {
        // The formula has the epsilon, so these are kinds of their own.
        Norm norm = RmsNorm.builder(64).epsilon(kind * 1e-6).threads(1).build();
        boolean served = runsKernels(norm, plans, ElementType.FLOAT32, ElementType.FLOAT32);
        if (round == 2) {
          assertThat(served).as("kind %d", kind).isTrue();
        } else {
          KernelsReady.await();
        }
      }
    }
  }

  private static boolean runsKernels(Norm norm, Plans plans, ElementType in, ElementType out) {
    Rows x = Rows.of(MemorySegment.ofArray(new byte[4 * 2 * 64]), in, 2, 64);
    Rows y = Rows.of(MemorySegment.ofArray(new byte[4 * 2 * 64]), out, 2, 64);
    ForwardCall of = new ForwardCall(norm, x, y);
    try (Call call = of.call(of.output(norm.backEndParts()), null)) {
      return Runner.runKernels(call, plans, 2, 1);
    }
  }

  /**
   * The thread of kernels makes one for a call of its own, and another call is not kept waiting.
   */
  @Test
  void nobodyWaitsWhileTheThreadMakesAKernel() throws Exception {
    Payoff payoff = new Payoff();
    payoff.end();
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    Plans plans =
        new Plans(
            () -> {
              asked.countDown();
              await(goesOn);
              return 0;
            },
            () -> 0,
            Backends.HAS_JAVA_KERNELS,
            payoff);
    Norm norm = RmsNorm.builder(64).build();
    KernelThread.later(
        new KernelThread.Work(
            () -> runsKernels(norm, plans, ElementType.FLOAT32, ElementType.FLOAT32)));
    await(asked);
    ExecutorService caller = Executors.newSingleThreadExecutor();
    try {
      Future<Boolean> other =
          caller.submit(() -> runsKernels(norm, plans, ElementType.BFLOAT16, ElementType.BFLOAT16));
      assertThat(other.get(1, TimeUnit.MINUTES)).isFalse();
    } finally {
      goesOn.countDown();
      caller.shutdown();
    }
    KernelsReady.await();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(2, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A call that would take longer in plain Java waits for its kernel, and keeps an interrupt. */
  @Test
  void aLongCallWaits() throws Exception {
    Norm norm = RmsNorm.builder(4096).gainOffset(0.5).threads(1).build();
    Rows x = Rows.of(new short[1025 * 4096], ElementType.BFLOAT16, 4096);
    Thread.currentThread().interrupt();
    norm.apply(x, x);
    assertThat(Thread.interrupted()).isTrue();
    KernelsReady.await();
    assertThat(norm.backEndParts().plans.machineBits(1)).isEqualTo(norm.backend().machineBits());
  }

  /**
   * A copy of the library makes Java loops, and is collected when the thread has ended. What the
   * JDK keeps in soft references does not count. Machine code is another matter: its memory is
   * freed by code of the library, which the JDK's cleaner keeps.
   */
  @Test
  void theThreadEndsAndKeepsNoClassLoader() throws Exception {
    List<String> flags = List.of("-XX:SoftRefLRUPolicyMSPerMB=0");
    assertThat(ChildJvm.output(flags, Loaders.class)).contains("[rmsnorm4j-kernels true null]");
  }

  /** Prints what the thread is, and ends when the copy of the library was collected. */
  static final class Loaders {
    public static void main(String[] args) throws Exception {
      WeakReference<ClassLoader> loader = new WeakReference<>(work());
      while (loader.get() != null) {
        System.gc();
        TimeUnit.MILLISECONDS.sleep(100);
      }
    }

    /** Has kernels made, and waits until the thread has ended. */
    private static ClassLoader work() throws Exception {
      URL classes = Norm.class.getProtectionDomain().getCodeSource().getLocation();
      try (URLClassLoader loader =
          new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader())) {
        String library = "io.github.rmsnorm4j.";
        Class<?> norm = loader.loadClass(library + "RmsNorm");
        Object builder = norm.getMethod("builder", int.class).invoke(null, 64);
        Object built = builder.getClass().getMethod("build").invoke(builder);
        Class<?> kind = loader.loadClass(library + "NormSpec$Kind");
        Class<?> payoff = loader.loadClass(library + "internal.norm.Payoff");
        Object ofKind = payoff.getMethod("forward", kind).invoke(null, kind.getEnumConstants()[0]);
        payoff.getMethod("isOfFirstTier", long.class).invoke(ofKind, 500_000_000L);
        norm.getMethod("apply", float[].class, float[].class)
            .invoke(built, new float[128], new float[128]);
        List<Thread> threads = new ArrayList<>(Thread.getAllStackTraces().keySet());
        threads.removeIf(thread -> !thread.getName().startsWith("rmsnorm4j"));
        System.out.println(
            threads.stream()
                .map(t -> t.getName() + " " + t.isDaemon() + " " + t.getContextClassLoader())
                .toList());
        for (Thread thread : threads) {
          thread.join();
        }
        return loader;
      }
    }
  }
}
