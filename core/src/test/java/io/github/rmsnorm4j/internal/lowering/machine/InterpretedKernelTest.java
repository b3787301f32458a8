package io.github.rmsnorm4j.internal.lowering.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Operand;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.lowering.Kernels;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The interpreter gives plain Java's bits for kernels with vectors of any width, on any machine. It
 * checks every address and every register on the way.
 */
class InterpretedKernelTest {
  private static final int[] WIDTHS = {
    1, 2, 31, 32, 33, 64, 95, 96, 256, 300, 1024, 1025, 1056, 2079
  };

  private static final List<ElementType> TYPES =
      List.of(ElementType.FLOAT32, ElementType.BFLOAT16, ElementType.FLOAT16);

  private static final List<CastOrder> ORDERS =
      List.of(CastOrder.FLOAT32, CastOrder.LLAMA, CastOrder.ONNX);

  /** Flush to zero, and subnormals as zero: what other native code may have left. */
  private static final int FLUSHES = 0x1f80 | 0x8040;

  private static final double EPSILON = 1e-5;

  private final SplittableRandom random = new SplittableRandom(11);

  /** What a kernel is for. */
  private record Kind(
      int bits,
      boolean centred,
      ElementType x,
      ElementType y,
      EpsilonPlacement placement,
      CastOrder order,
      boolean adds,
      boolean bfloat16,
      boolean streams) {
    /** Other orders of casts are not for a bias. */
    boolean biased() {
      return order == CastOrder.FLOAT32;
    }

    Target target(int width) {
      Forward forward =
          new Forward(
              new Storage(false, Kernels.narrow(0, false)),
              centred,
              order == CastOrder.ONNX,
              placement,
              x,
              adds ? x : null,
              ResidualRounding.FIRST,
              adds,
              y,
              order == CastOrder.FLOAT32 || x == ElementType.FLOAT32 ? null : x,
              true,
              biased());
      List<Part> parts = List.of(forward.statistic(), forward.roots(), forward.output());
      Target target = MachineKernel.target(parts, bits, width, streams);
      return new Target(parts, bits, target.width(), target.group(), bfloat16, streams);
    }
  }

  private List<Kind> kinds(int bits) {
    List<Kind> kinds = new ArrayList<>();
    for (int choice = 0; choice < 32; choice++) {
      ElementType x = TYPES.get(choice % 3);
      ElementType y = TYPES.get(choice / 3 % 3);
      boolean bfloat16 = bits == 512 && (choice & 16) != 0;
      boolean streams = random.nextInt(4) == 0;
      EpsilonPlacement[] placements = EpsilonPlacement.values();
      EpsilonPlacement placement = placements[random.nextInt(placements.length)];
      boolean centred = (choice & 1) != 0;
      CastOrder order = ORDERS.get(centred ? 0 : random.nextInt(ORDERS.size()));
      boolean adds = (choice & 8) != 0;
      kinds.add(new Kind(bits, centred, x, y, placement, order, adds, bfloat16, streams));
    }
    return kinds;
  }

  /** Every instruction of a kernel for rows of any width is run for one of them. */
  @ParameterizedTest
  @ValueSource(ints = {256, 512})
  void drawnKernelsHaveTheBitsOfPlainJava(int bits) {
    for (Kind kind : kinds(bits)) {
      Set<String> unreached = null;
      for (int width : WIDTHS) {
        if (kind.streams && width * kind.y.bytes() % Area.ALIGNMENT != 0) {
          continue;
        }
        List<String> lines = check(kind, width);
        if (kind.target(width).width() > 0) {
          continue;
        } else if (unreached == null) {
          unreached = new HashSet<>(lines);
        } else {
          unreached.retainAll(lines);
        }
      }
      if (!kind.streams) {
        assertThat(unreached).as(kind.toString()).isEmpty();
      }
    }
  }

  /** Gives back the instructions that were not run. */
  private List<String> check(Kind kind, int width) {
    int rows = width <= 256 ? 11 : 2;
    Map<Operand, byte[]> operands = operands(kind, width, rows);
    Map<Column, byte[]> columns = columns(width);
    byte[] residual = kind.adds ? operands.get(Operand.RESIDUAL).clone() : null;
    byte[] y = expected(kind, width, rows, operands, columns, residual);
    InterpretedKernel kernel = new InterpretedKernel(MachineCode.of(kind.target(width)), FLUSHES);
    int done = kernel.run(operands, columns, rows, width, EPSILON);
    String what = kind + ", width " + width;
    assertThat(done).as(what).isEqualTo(rows);
    assertThat(operands.get(Operand.Y)).as(what).isEqualTo(y);
    if (kind.adds) {
      assertThat(operands.get(Operand.RESIDUAL)).as(what).isEqualTo(residual);
    }
    return kernel.unreached();
  }

  private Map<Operand, byte[]> operands(Kind kind, int width, int rows) {
    Map<Operand, byte[]> operands = new EnumMap<>(Operand.class);
    operands.put(Operand.X, random(kind.x, rows * width));
    operands.put(Operand.Y, new byte[rows * width * kind.y.bytes()]);
    if (kind.adds) {
      operands.put(Operand.RESIDUAL, random(kind.x, rows * width));
    }
    return operands;
  }

  @ParameterizedTest
  @CsvSource({
    "256, 64, 3, 0",
    "256, 64, 6, 4",
    "256, 64, 9, 9",
    "256, 100, 3, 3",
    "512, 64, 3, 0",
    "512, 64, 9, 9"
  })
  void rowsOutOfRangeAreRefused(int bits, int width, int bad, int done) {
    int rows = 11;
    for (Kind kind : kinds(bits)) {
      if (kind.streams) {
        continue;
      }
      Map<Operand, byte[]> operands = operands(kind, width, rows);
      byte[] x = operands.get(Operand.X);
      Arrays.fill(x, bad * width * kind.x.bytes(), bad * width * kind.x.bytes() + 4, (byte) -1);
      Map<Column, byte[]> columns = columns(width);
      InterpretedKernel kernel = new InterpretedKernel(MachineCode.of(kind.target(width)), FLUSHES);
      assertThat(kernel.run(operands, columns, rows, width, EPSILON))
          .as(kind.toString())
          .isEqualTo(done);
    }
  }

  /**
   * Some gains are subnormal and their biases 0, so that some groups of 32 have subnormal outputs.
   */
  private Map<Column, byte[]> columns(int width) {
    ByteBuffer gain = ByteBuffer.wrap(random(ElementType.FLOAT32, width));
    ByteBuffer bias = ByteBuffer.wrap(random(ElementType.FLOAT32, width));
    gain.order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < width; i += 61) {
      gain.putInt(Float.BYTES * i, 0x0040_0000 + i);
      bias.putInt(Float.BYTES * i, 0);
    }
    return new EnumMap<>(Map.of(Column.GAIN, gain.array(), Column.BIAS, bias.array()));
  }

  /** Numbers around 1 of all kinds; one in 50 is subnormal. */
  private byte[] random(ElementType type, int n) {
    ByteBuffer bytes = ByteBuffer.allocate(n * type.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < n; i++) {
      float value = (float) random.nextDouble(-4, 4);
      int pattern = Float.floatToRawIntBits(value);
      pattern = random.nextInt(50) == 0 ? pattern & 0x807f_ffff : pattern;
      if (type == ElementType.FLOAT32) {
        bytes.putInt(pattern);
      } else {
        bytes.putShort(narrow(pattern, type));
      }
    }
    return bytes.array();
  }

  private static short narrow(int pattern, ElementType type) {
    if (type == ElementType.BFLOAT16) {
      return (short) (pattern >>> 16);
    }
    boolean subnormal = (pattern & 0x7f80_0000) == 0;
    return subnormal
        ? (short) (pattern >>> 13 & 0x3ff)
        : Float.floatToFloat16(Float.intBitsToFloat(pattern));
  }

  private static float[] floats(byte[] bytes) {
    float[] floats = new float[bytes.length / Float.BYTES];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(floats);
    return floats;
  }

  private static <B extends Norm.Builder<B>> B configured(
      B builder, Kind kind, Map<Column, byte[]> columns) {
    if (kind.biased()) {
      builder.bias(floats(columns.get(Column.BIAS)));
    }
    return builder
        .gain(floats(columns.get(Column.GAIN)))
        .epsilon(EPSILON)
        .epsilonPlacement(kind.placement)
        .backend(Backend.scalar());
  }

  private static byte[] expected(
      Kind kind,
      int width,
      int rows,
      Map<Operand, byte[]> operands,
      Map<Column, byte[]> columns,
      byte[] residual) {
    Norm norm =
        kind.centred
            ? configured(LayerNorm.builder(width), kind, columns).build()
            : configured(RmsNorm.builder(width).castOrder(kind.order), kind, columns).build();
    byte[] y = new byte[rows * width * kind.y.bytes()];
    Rows x = Rows.of(MemorySegment.ofArray(operands.get(Operand.X)), kind.x, rows, width);
    Rows to = Rows.of(MemorySegment.ofArray(y), kind.y, rows, width);
    if (residual == null) {
      norm.apply(x, to);
    } else {
      norm.addAndApply(x, Rows.of(MemorySegment.ofArray(residual), kind.x, rows, width), to);
    }
    return y;
  }
}
