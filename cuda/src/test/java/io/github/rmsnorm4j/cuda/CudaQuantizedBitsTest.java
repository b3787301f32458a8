package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.ScaleFloor;
import io.github.rmsnorm4j.cuda.driver.StubDriver;
import io.github.rmsnorm4j.cuda.ptx.Form;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Codes and scales on the interpreter have the bytes of the CPU, for drawn calls. */
class CudaQuantizedBitsTest {
  /** A warp does not do several narrow rows at once if they become codes. */
  private static final List<Form> FORMS = List.of(Form.WARP, Form.BLOCK);

  private static final long SEED = 20261128;

  /** Calls of each type of codes, and of each type of elements. */
  private static final int DRAWS = 12;

  /** Of the types without blocks. */
  private static final int[] ANY_WIDTHS = {
    1, 2, 7, 31, 33, 64, 100, 256, 1000, 1023, 1024, 1025, 1536, 2050, 3000
  };

  private final Set<String> reached = new TreeSet<>();

  private static int width(QuantizedType type, SplittableRandom random) {
    int block = type.block(3);
    if (block <= 3) {
      return ANY_WIDTHS[random.nextInt(ANY_WIDTHS.length)];
    }
    return block * random.nextInt(1, 2200 / block);
  }

  private QuantizedCase drawn(QuantizedType type, ElementType elements, SplittableRandom random) {
    int width = width(type, random);
    int rows = random.nextInt(1, 3 + 1500 / (width + 200));
    return new QuantizedCase(random.nextLong(), type, elements, rows, width, reached);
  }

  @Test
  void drawnCallsHaveTheBytesOfTheCpu() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int draw = 0; Draws.goOn(draw, DRAWS, this::missing); draw++) {
      for (QuantizedType type : QuantizedCase.TYPES) {
        for (ElementType elements : ElementType.values()) {
          drawn(type, elements, random).check();
        }
      }
    }
    assertThat(missing()).as("not reached").isEmpty();
  }

  /** Several super-blocks. */
  @Test
  void wideRowsHaveTheBytesOfTheCpu() {
    SplittableRandom random = new SplittableRandom(SEED + 1);
    for (String name : new String[] {"int8:128", "f8e4m3:row"}) {
      QuantizedType type = QuantizedType.ofName(name);
      new QuantizedCase(random.nextLong(), type, ElementType.BFLOAT16, 1, 66_048, reached).check();
    }
  }

  @Test
  void callsOfADeviceHaveTheBytesOfTheCpu() throws Throwable {
    StubDriver stub = InterpretedDevice.behind(StubDriver.fresh());
    stub.lazy();
    CudaDevice device = CudaSystem.look(stub.library()).open().orElseThrow();
    CudaStream stream = device.stream();
    SplittableRandom random = new SplittableRandom(SEED + 2);
    for (int draw = 0; draw < DRAWS / 4; draw++) {
      for (QuantizedType type : QuantizedCase.TYPES) {
        for (ElementType elements : ElementType.values()) {
          drawn(type, elements, random).checkOn(device, stream);
        }
      }
    }
    stub.rethrow();
    stream.close();
    device.close();
    assertThat(stub.leaks()).isEmpty();
    for (boolean stored : new boolean[] {true, false}) {
      assertThat(reached)
          .contains("residual true output " + stored, "gate " + Gate.SILU + " output " + stored);
    }
  }

  private Set<String> missing() {
    Set<String> wanted = new TreeSet<>();
    for (QuantizedType type : QuantizedCase.TYPES) {
      boolean given = type.toString().endsWith("given");
      boolean integers = type.toString().startsWith("int8");
      wanted.add(type + " exact");
      wanted.add(type + " NaN");
      wanted.add(type + " zero");
      if (!given) {
        wanted.add(type + " infinite");
        wanted.add(type + " subnormal");
      }
      for (Form form : FORMS) {
        wanted.add(form + " " + type);
      }
      for (boolean rounds : new boolean[] {true, false}) {
        wanted.add(type + " rounds " + rounds);
      }
      for (ScaleFloor floor : ScaleFloor.values()) {
        wanted.add(type + " " + floor);
      }
      for (CodeFactor factor : CodeFactor.values()) {
        for (CodeRounding rounding : CodeRounding.values()) {
          if (integers) {
            wanted.add(type + " " + factor + " " + rounding);
          }
        }
        for (ScaleFloor floor : ScaleFloor.values()) {
          wanted.add(factor + " " + floor + " exact");
        }
      }
    }
    for (Form form : FORMS) {
      for (String label : new String[] {"CODES", "BLOCKS", "OUT_OF_RANGE", "SCALE_STORED"}) {
        wanted.add(form + " true " + label);
        wanted.add(form + " false " + label);
      }
      for (String label : new String[] {"CODES_WIDE", "CODES_REST", "BLOCKS_WIDE"}) {
        wanted.add(form + " false " + label);
      }
      for (ElementType elements : ElementType.values()) {
        wanted.add(form + " " + elements + " output none");
        wanted.add(form + " " + elements + " output " + elements);
      }
    }
    for (boolean is : new boolean[] {true, false}) {
      wanted.add("in place " + is);
      wanted.add("residual true output " + is);
      wanted.add("residual false output " + is);
      for (Gate gate : Gate.values()) {
        wanted.add("gate " + gate + " output " + is);
      }
      for (NormSpec.Kind kind : NormSpec.Kind.values()) {
        wanted.add(kind + " groups " + is);
      }
    }
    wanted.add("launches 1");
    wanted.add("launches 2");
    wanted.removeAll(reached);
    return wanted;
  }
}
