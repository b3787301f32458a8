package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.cuda.driver.StubDriver;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Drawn calls of the public API have the bits of the CPU. They go through the functions of the
 * driver's library to its stub, which has the interpreter run the kernels.
 */
class CudaNormBitsTest {
  private static final long SEED = 20261127;
  private static final int FORWARD = 120;
  private static final int BACKWARD = 70;
  private static final int PAIRS = 40;
  private static final int[] WIDTHS = {1, 2, 31, 32, 33, 96, 127, 256, 999, 1024, 1025, 1536, 2304};

  private final Set<String> reached = new TreeSet<>();
  private StubDriver stub;
  private CudaDevice device;
  private CudaStream stream;

  @BeforeEach
  void open() {
    stub = InterpretedDevice.behind(StubDriver.fresh());
    device = CudaSystem.look(stub.library()).open().orElseThrow();
    stream = device.stream();
  }

  @AfterEach
  void nothingLeaks() throws Throwable {
    if (stub == null) {
      return; // skipped
    }
    stub.rethrow();
    stream.close();
    device.close();
    assertThat(stub.leaks()).isEmpty();
  }

  @Test
  void forwardCallsHaveTheBitsOfTheCpu() {
    stub.lazy();
    SplittableRandom random = new SplittableRandom(SEED);
    for (int draw = 0; Draws.goOn(draw, FORWARD, this::notReachedForward); draw++) {
      for (ElementType type : ElementType.values()) {
        int width = WIDTHS[random.nextInt(WIDTHS.length)];
        int rows = random.nextInt(1, 4 + 3000 / (width + 200));
        new ForwardCase(random.nextLong(), type, rows, width, reached).checkOn(device, stream);
      }
    }
    assertThat(notReachedForward()).as("not reached").isEmpty();
  }

  @Test
  void backwardCallsHaveTheBitsOfTheCpu() {
    stub.lazy();
    SplittableRandom random = new SplittableRandom(SEED + 1);
    for (int draw = 0; Draws.goOn(draw, BACKWARD, this::notReachedBackward); draw++) {
      for (ElementType type : ElementType.values()) {
        int width = WIDTHS[random.nextInt(WIDTHS.length)];
        int rows = random.nextInt(3) == 0 ? 1 + random.nextInt(120 - width / 20) : 3;
        new BackwardCase(random.nextLong(), type, rows, width, reached).checkOn(device, stream);
      }
    }
    assertThat(notReachedBackward()).as("not reached").isEmpty();
  }

  @Test
  void callsOfTwoNormsHaveTheBitsOfTheCpu() {
    stub.lazy();
    SplittableRandom random = new SplittableRandom(SEED + 2);
    for (int draw = 0; Draws.goOn(draw, PAIRS, this::notReachedInPairs); draw++) {
      for (ElementType type : ElementType.values()) {
        int width = WIDTHS[random.nextInt(WIDTHS.length)];
        int rows = random.nextInt(1, 7);
        new SandwichCase(random.nextLong(), type, rows, width, reached).checkOn(device, stream);
      }
    }
    assertThat(notReachedInPairs()).as("not reached").isEmpty();
  }

  private Set<String> notReachedInPairs() {
    Set<String> wanted = new TreeSet<>();
    for (NormSpec.Kind kind : NormSpec.Kind.values()) {
      for (NormSpec.Kind next : NormSpec.Kind.values()) {
        wanted.add(kind + " then " + next);
      }
    }
    for (Keep next : Keep.values()) {
      wanted.add("keeps " + Keep.INPUT + ", " + next);
      wanted.add("keeps " + Keep.NOTHING + ", " + next);
    }
    wanted.add("keeps null, null");
    for (ElementType type : ElementType.values()) {
      wanted.add(type + " residual " + type);
    }
    for (boolean is : new boolean[] {false, true}) {
      wanted.add("in place " + is);
      for (boolean first : new boolean[] {false, true}) {
        wanted.add("first " + first + " of call " + is);
        wanted.add("first " + first + " samples " + is);
      }
    }
    wanted.removeAll(reached);
    return wanted;
  }

  private Set<String> notReachedForward() {
    Set<String> wanted = ForwardCase.choices();
    wanted.add("gain of call, offset false");
    wanted.add("gain of call, offset true");
    for (ElementType type : ElementType.values()) {
      for (ElementType arithmetic : List.of(ElementType.FLOAT32, ElementType.FLOAT64)) {
        wanted.add("gain of call " + type + ", " + arithmetic);
        wanted.add("bias of call " + type + ", " + arithmetic);
      }
    }
    for (NormSpec.Kind kind : NormSpec.Kind.values()) {
      wanted.add("statistics " + kind);
    }
    wanted.removeAll(reached);
    return wanted;
  }

  private Set<String> notReachedBackward() {
    Set<String> wanted = BackwardCase.choices();
    for (ElementType type : ElementType.values()) {
      for (ElementType arithmetic : List.of(ElementType.FLOAT32, ElementType.FLOAT64)) {
        wanted.add("gain of call " + type + ", " + arithmetic);
      }
    }
    wanted.add("gain of call, offset false");
    wanted.add("gain of call, offset true");
    wanted.removeAll(reached);
    return wanted;
  }
}
