package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Quantised rows have the bytes of docs/numerics.md on every backend, byte for byte. */
class QuantizedBitsTest {
  private static final int CALLS = Integer.getInteger("quantised.calls", 170);
  private static final Place[] PLACES = {Place.ARRAY, Place.NATIVE, Place.BYTES, Place.ODD};

  /** A multiple of all blocks, many of some, one row of more than a chunk, and a long row. */
  private static final int[] WIDTHS = {256, 256, 512, 768, 768, 4096, 4352, 66048};

  /** For types without blocks. */
  private static final int[] ANY_WIDTHS = {1, 2, 7, 31, 33, 100, 1023, 5001};

  private static final List<Backend> BACKENDS = Backends.of(1 << 20);

  static List<Backend> backends() {
    return BACKENDS;
  }

  @ParameterizedTest
  @MethodSource("backends")
  void ofDrawnCalls(Backend backend) {
    SplittableRandom random = new SplittableRandom(27);
    int turn = BACKENDS.indexOf(backend);
    int types = QuantizedType.all().size();
    for (int i = 0; i < CALLS; i++) {
      SplittableRandom ofCall = random.split();
      if (!Backends.isInTurn(turn, i + i / types)) {
        continue;
      }
      try (Arena arena = Arena.ofShared()) {
        new DrawnCall(arena, backend, ofCall, i).check();
      }
    }
  }

  /** Enough rows for several threads, as the definition of one thread gives them. */
  @ParameterizedTest
  @CsvSource({"q8_0, 0", "q8_k, 1", "int8:64, 2", "int8:row, 3", "f8e4m3:128, 4"})
  void onSeveralThreads(String name, int turn) {
    int rows = 3001;
    int width = 256;
    float[] x = new float[rows * width];
    SplittableRandom random = new SplittableRandom(5);
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextDouble(-1, 1);
    }
    float[] y = new float[x.length];
    RmsNorm.builder(width)
        .backend(Backend.scalar())
        .threads(1)
        .build()
        .apply(Rows.of(x, width), Rows.of(y, width));
    float[][] wanted = new float[rows][];
    for (int r = 0; r < rows; r++) {
      wanted[r] = Arrays.copyOfRange(y, r * width, (r + 1) * width);
    }
    QuantizedType type = QuantizedType.ofName(name);
    QuantizedContract contract =
        new QuantizedContract(type, Quantizer.defaults(), QuantizedBlock.GIVEN);
    try (Arena arena = Arena.ofShared()) {
      // Machine code writes codes itself; the others quantise rows.
      Set<Backend> backends = new LinkedHashSet<>(Backends.inTurn(BACKENDS, turn));
      backends.addAll(Backends.machineCode());
      for (Backend backend : backends) {
        QuantizedBlock q = new QuantizedBlock(arena, false, type, rows, width, random);
        RmsNorm.builder(width)
            .backend(backend)
            .threads(3)
            .build()
            .apply(Rows.of(x, width), null, q.rows);
        assertThat(q.mismatch(contract, wanted)).as("%s on %s", name, backend).isNull();
      }
      QuantizedBlock ofRows = new QuantizedBlock(arena, true, type, rows, width, random);
      Quantizer.defaults().quantize(Rows.of(y, width), ofRows.rows, 3);
      assertThat(ofRows.mismatch(contract, wanted)).as("%s of rows", name).isNull();
    }
  }

  /** One call, with what a norm of plain Java gives and the contract makes of it. */
  private static final class DrawnCall {
    private final Arena arena;
    private final SplittableRandom random;
    private final String name;
    private final QuantizedType type;
    private final Quantizer rule;
    private final ElementType elements;
    private final int width;
    private final int rows;
    private final boolean adds;
    private final boolean keepsOutput;
    private final Gate gate;
    private final int groups;
    private final Norm norm;
    private final Norm oracle;

    DrawnCall(Arena arena, Backend backend, SplittableRandom random, int i) {
      this.arena = arena;
      this.random = random;
      type = QuantizedType.all().get(i % QuantizedType.all().size());
      rule = rule();
      elements = ElementType.values()[random.nextInt(4)];
      boolean blocks = type.block(3) > 3;
      width = blocks || random.nextInt(4) == 0 ? width(WIDTHS) : width(ANY_WIDTHS);
      rows = random.nextInt(1, Math.min(300, 9_000 / width + 2));
      gate = random.nextInt(4) > 0 ? Gate.NONE : Gate.values()[random.nextInt(1, 4)];
      groups = random.nextInt(4) > 0 ? 1 : groups(width, random.nextInt(1, width + 1));
      adds = gate == Gate.NONE && random.nextBoolean();
      keepsOutput = random.nextInt(4) == 0;
      int threads = random.nextInt(1, 4);
      boolean centred = gate != Gate.SILU_BEFORE && random.nextBoolean();
      CastOrder cast = CastOrder.values()[random.nextInt(CastOrder.values().length)];
      float[] gain = new float[width];
      for (int c = 0; c < width; c++) {
        gain[c] = (float) random.nextDouble(-2, 2);
      }
      norm = norm(centred, cast, gain).backend(backend).threads(threads).quantizer(rule).build();
      oracle = norm(centred, cast, gain).backend(Backend.scalar()).threads(1).build();
      name =
          "%s of %d x %d %s, call %d: %s by %s, %s%s"
              .formatted(
                  norm,
                  rows,
                  width,
                  elements,
                  i,
                  type,
                  rule,
                  adds ? "with residual" : "",
                  keepsOutput ? " and output" : "");
    }

    /** A divisor of a width, not above a number. */
    private static int groups(int width, int most) {
      int groups = most;
      while (width % groups > 0) {
        groups--;
      }
      return groups;
    }

    private int width(int[] widths) {
      return widths[random.nextInt(widths.length)];
    }

    private Quantizer rule() {
      List<Quantizer> presets =
          List.of(
              Quantizer.defaults(),
              Quantizer.ggmlReference(),
              Quantizer.vllm(),
              Quantizer.jlama(),
              Quantizer.defaults().withFactor(CodeFactor.DIVISION));
      Quantizer preset = presets.get(random.nextInt(presets.size()));
      return random.nextBoolean()
          ? preset
          : preset
              .withFactor(CodeFactor.values()[random.nextInt(3)])
              .withRounding(CodeRounding.values()[random.nextInt(3)])
              .withFloor(ScaleFloor.values()[random.nextInt(2)])
              .withRoundedOutput(random.nextBoolean());
    }

    private NormBuilder<?> norm(boolean centred, CastOrder cast, float[] gain) {
      NormBuilder<?> builder =
          centred
              ? LayerNorm.builder(width).gain(gain)
              : RmsNorm.builder(width).castOrder(cast).gain(gain);
      return builder.gate(gate).groupCount(groups);
    }

    private Place place() {
      return PLACES[random.nextInt(PLACES.length)];
    }

    private Block block(ElementType of) {
      return new Block(arena, place(), of, rows, width, width + random.nextInt(3));
    }

    void check() {
      Block x = block(elements);
      Block residual = block(elements);
      Block sameResidual = block(elements);
      double[][] values = new RandomRows(random).of(mix(), elements, rows, width, 4, true);
      for (int r = 0; r < rows; r++) {
        x.put(r, values[r]);
        residual.put(r, values[rows - 1 - r]);
        sameResidual.put(r, values[rows - 1 - r]);
      }
      ElementType stored = ElementType.values()[random.nextInt(4)];
      boolean rounds = rule.roundsOutput() && elements != ElementType.FLOAT64;
      Block y = block(keepsOutput ? stored : rounds ? elements : ElementType.FLOAT32);
      Block output = block(y.rows.type());
      apply(oracle, x, sameResidual, y);
      QuantizedBlock q = new QuantizedBlock(arena, random.nextBoolean(), type, rows, width, random);
      if (gate != Gate.NONE && keepsOutput) {
        norm.applyGated(x.rows, residual.rows, output.rows, q.rows);
      } else if (gate != Gate.NONE) {
        norm.applyGated(x.rows, residual.rows, null, q.rows);
      } else if (adds && keepsOutput) {
        norm.addAndApply(x.rows, residual.rows, output.rows, q.rows);
      } else if (adds) {
        norm.addAndApply(x.rows, residual.rows, null, q.rows);
      } else if (keepsOutput) {
        norm.apply(x.rows, output.rows, q.rows);
      } else {
        norm.apply(x.rows, null, q.rows);
      }
      assertThat(q.mismatch(contract(), floats(y))).as(name).isNull();
      for (int r = 0; r < rows; r++) {
        assertThat(residual.mismatch(r, sameResidual.values(r))).as(name).isEqualTo(-1);
        assertThat(keepsOutput ? output.mismatch(r, y.values(r)) : -1).as(name).isEqualTo(-1);
      }
      assertThat(residual.isGuardIntact() && output.isGuardIntact()).as(name).isTrue();
      QuantizedBlock again =
          new QuantizedBlock(arena, random.nextBoolean(), type, rows, width, random);
      rule.quantize(y.rows, again.rows, random.nextInt(1, 3));
      assertThat(again.mismatch(contract(), floats(y))).as("rows as they are, %s", name).isNull();
    }

    private QuantizedContract contract() {
      return new QuantizedContract(type, rule, QuantizedBlock.GIVEN);
    }

    private RandomRows.Mix mix() {
      return RandomRows.Mix.values()[random.nextInt(RandomRows.Mix.values().length)];
    }

    private void apply(Norm norm, Block x, Block residual, Block y) {
      if (gate != Gate.NONE) {
        norm.applyGated(x.rows, residual.rows, y.rows);
      } else if (adds) {
        norm.addAndApply(x.rows, residual.rows, y.rows);
      } else {
        norm.apply(x.rows, y.rows);
      }
    }

    private float[][] floats(Block y) {
      float[][] floats = new float[rows][width];
      for (int r = 0; r < rows; r++) {
        double[] values = y.values(r);
        for (int i = 0; i < width; i++) {
          floats[r][i] = (float) values[i];
        }
      }
      return floats;
    }
  }
}
