package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Ties, zeros, subnormal and infinite numbers, and kept bytes. */
class QuantizerTest {
  private static final HexFormat HEX = HexFormat.of();

  /** The codes of one row, which the contract has to have too. */
  private static byte[] bytes(QuantizedType type, Quantizer rule, float... y) {
    byte[] codes = new byte[(int) type.rowBytes(y.length)];
    float[] scales = new float[type.scales(y.length)];
    QuantizedRows q =
        scales.length > 0
            ? QuantizedRows.of(codes, scales, type, y.length)
            : QuantizedRows.of(codes, type, y.length);
    rule.quantize(Rows.of(y, y.length), q);
    QuantizedContract.Row wanted = new QuantizedContract(type, rule, 0).row(y);
    assertThat(codes).as("%s by %s", type, rule).isEqualTo(wanted.codes());
    assertThat(scales).isEqualTo(wanted.scales());
    return codes;
  }

  private static float[] scales(QuantizedType type, Quantizer rule, float... y) {
    float[] scales = new float[type.scales(y.length)];
    byte[] codes = new byte[y.length];
    rule.quantize(Rows.of(y, y.length), QuantizedRows.of(codes, scales, type, y.length));
    return scales;
  }

  private static float[] block(int n, float... first) {
    return Arrays.copyOf(first, n);
  }

  @Test
  void tiesGoWhereTheRuleSays() {
    float[] y = block(32, 127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 0.49999997f, -126.5f);
    QuantizedType type = QuantizedType.int8(32);
    assertThat(first(bytes(type, Quantizer.defaults(), y), 9))
        .containsExactly(127, 0, 2, 2, 0, -2, -2, 0, -126);
    assertThat(first(bytes(type, Quantizer.ggmlReference(), y), 9))
        .containsExactly(127, 1, 2, 3, -1, -2, -3, 0, -127);
    assertThat(first(bytes(type, Quantizer.jlama(), y), 9))
        .containsExactly(127, 1, 2, 3, 0, -1, -2, 1, -126);
    assertThat(first(bytes(type, Quantizer.vllm(), y), 9))
        .containsExactly(127, 0, 2, 2, 0, -2, -2, 0, -126);
  }

  private static int[] first(byte[] codes, int n) {
    int[] first = new int[n];
    for (int i = 0; i < n; i++) {
      first[i] = codes[i];
    }
    return first;
  }

  /** Next to a tie the codes of a ratio and of an inverse differ. */
  @Test
  void ratioInverseAndDivisionDiffer() {
    SplittableRandom random = new SplittableRandom(3);
    Quantizer[] rules = new Quantizer[3];
    for (int i = 0; i < 3; i++) {
      rules[i] = Quantizer.defaults().withFactor(CodeFactor.values()[i]);
    }
    boolean[] differ = new boolean[3];
    for (int i = 0; i < 3_000; i++) {
      float largest = (float) random.nextDouble(1, 2);
      float[] y = block(32, largest);
      for (int k = 1; k < 32; k++) {
        y[k] = (float) ((k + 0.5) / 127.0 * largest);
      }
      byte[][] codes = new byte[3][];
      for (int r = 0; r < 3; r++) {
        codes[r] = bytes(QuantizedType.Q8_0, rules[r], y);
      }
      for (int r = 0; r < 3; r++) {
        differ[r] |= !Arrays.equals(codes[r], codes[(r + 1) % 3]);
      }
    }
    assertThat(differ).containsOnly(true);
  }

  @Test
  void blocksOfZerosAndOfTinyNumbersAreZeros() {
    for (Quantizer rule : new Quantizer[] {Quantizer.defaults(), Quantizer.ggmlReference()}) {
      for (float tiny : new float[] {0, -0f, Float.MIN_VALUE, 1e-40f, 0x1p-126f, 1e-37f}) {
        assertThat(bytes(QuantizedType.Q8_0, rule, block(32, tiny, -tiny))).hasSize(34);
        assertThat(bytes(QuantizedType.Q8_1, rule, block(32, tiny, -tiny))).hasSize(36);
        byte[] k = bytes(QuantizedType.Q8_K, rule, block(256, tiny, -tiny));
        assertThat(k).isEqualTo(new byte[292]);
      }
    }
    assertThat(bytes(QuantizedType.Q8_0, Quantizer.defaults(), block(32))).isEqualTo(new byte[34]);
    assertThat(scales(QuantizedType.int8(32), Quantizer.vllm(), block(32)))
        .containsExactly(0x1p-23f);
    assertThat(scales(QuantizedType.e4m3PerRow(), Quantizer.vllm(), block(7)))
        .containsExactly(1f / (448 * 512));
    assertThat(scales(QuantizedType.e4m3(128), Quantizer.defaults(), block(128)))
        .containsExactly(0);
  }

  @Test
  void whatIsNotFiniteIsInTheScaleAlone() {
    for (QuantizedType type : QuantizedType.all()) {
      if (type.toString().endsWith("given")) {
        continue;
      }
      int n = type.block(64);
      float otherNaN = Float.intBitsToFloat(0xffc12345);
      for (float value : new float[] {Float.NaN, otherNaN, Float.POSITIVE_INFINITY, -1 / 0f}) {
        for (float largest : new float[] {1, Float.MAX_VALUE}) {
          float[] y = block(n, largest, value, -largest);
          byte[] codes = bytes(type, Quantizer.defaults(), y);
          int nonZero = 0;
          for (int i = type.scales(n) > 0 ? 0 : 4; i < Math.min(n, codes.length); i++) {
            nonZero += codes[i] != 0 ? 1 : 0;
          }
          assertThat(nonZero).as("%s with %s", type, value).isZero();
          assertThat(dequantised(type, y)).as("%s with %s", type, value).containsOnly(Float.NaN);
        }
      }
    }
  }

  private static float[] dequantised(QuantizedType type, float[] y) {
    byte[] codes = new byte[(int) type.rowBytes(y.length)];
    float[] scales = new float[type.scales(y.length)];
    QuantizedRows q =
        scales.length > 0
            ? QuantizedRows.of(codes, scales, type, y.length)
            : QuantizedRows.of(codes, type, y.length);
    Quantizer.defaults().quantize(Rows.of(y, y.length), q);
    float[] back = new float[y.length];
    q.dequantize(Rows.of(back, y.length));
    return back;
  }

  /** The largest float32 numbers: the scale of Q8_0 is infinite, the codes are as usual. */
  @Test
  void aFloat16ScaleMayOverflow() {
    byte[] q = bytes(QuantizedType.Q8_0, Quantizer.defaults(), block(32, 8.4e6f, -4.2e6f));
    assertThat(HEX.formatHex(q, 0, 5)).isEqualTo("007c7fc000");
    bytes(QuantizedType.Q8_0, Quantizer.defaults(), block(32, Float.MAX_VALUE, -1));
    bytes(QuantizedType.int8PerRow(), Quantizer.defaults(), Float.MAX_VALUE, -Float.MAX_VALUE);
  }

  /** Every code of FP8, and the numbers in the middle between two. */
  @Test
  void float8NumbersAreRoundedToEvenAndSaturate() {
    for (QuantizedType type :
        new QuantizedType[] {QuantizedType.e4m3Given(), QuantizedType.e5m2Given()}) {
      float most = type == QuantizedType.e4m3Given() ? 448 : 57344;
      float[] y = new float[4 * 256];
      byte[] all = new byte[256];
      for (int i = 0; i < 256; i++) {
        all[i] = (byte) i;
      }
      float[] values = new float[256];
      of(all, type).dequantize(Rows.of(values, 256));
      for (int i = 0; i < 255; i++) {
        y[i] = (values[i] + values[i + 1]) / 2;
        y[256 + i] = Math.nextUp(y[i]);
        y[512 + i] = Math.nextDown(y[i]);
        y[768 + i] = values[i];
      }
      y[255] = Float.POSITIVE_INFINITY;
      y[511] = -Float.MAX_VALUE;
      y[767] = most * 1.1f;
      y[1023] = Float.MIN_VALUE;
      byte[] codes = new byte[y.length];
      Quantizer.defaults().quantize(Rows.of(y, y.length), of(codes, type));
      QuantizedContract.Row wanted = new QuantizedContract(type, Quantizer.defaults(), 1).row(y);
      assertThat(codes).isEqualTo(wanted.codes());
      assertThat(codes[255]).isEqualTo((byte) (most == 448 ? 0x7e : 0x7b));
    }
  }

  private static QuantizedRows of(byte[] codes, QuantizedType type) {
    return QuantizedRows.of(
        java.lang.foreign.MemorySegment.ofArray(codes), 1f, type, 1, codes.length);
  }

  /** Bytes worked out by hand from the formulas of the systems that the presets are named after. */
  @Test
  void keptBytes() {
    float[] y = block(32, -2, 1, 0.5f, 0.01f, -0.0079f);
    // d = 2 / 127 = 0.015748, in float16 0x2408; codes -127, 63.5, 31.75, 0.635, -0.50165.
    assertThat(HEX.formatHex(bytes(QuantizedType.Q8_0, Quantizer.defaults(), y), 0, 7))
        .isEqualTo("0824" + "81402001ff");
    // The sum of the codes is -31; times d it is -0.488189, in float16 0xb7d0.
    assertThat(HEX.formatHex(bytes(QuantizedType.Q8_1, Quantizer.defaults(), y), 0, 9))
        .isEqualTo("0824" + "d0b7" + "81402001ff");
    assertThat(HEX.formatHex(bytes(QuantizedType.int8(32), Quantizer.jlama(), y), 0, 5))
        .isEqualTo("82402001" + "00");
    // The factor is 63.5; its inverse is 0.015748032, 0x3c810204.
    byte[] k = bytes(QuantizedType.Q8_K, Quantizer.defaults(), block(256, -2, 1, 0.5f));
    assertThat(HEX.formatHex(k, 0, 7)).isEqualTo("0402813c" + "814020");
    assertThat(HEX.formatHex(k, 260, 264)).isEqualTo("e1ff" + "0000");
    // 448 / 2 is 224: 224 is 0x76, 112 is 0x6e, 2.24 is nearest to 2.25, 0x41.
    assertThat(
            HEX.formatHex(
                bytes(QuantizedType.e4m3(128), Quantizer.vllm(), block(128, -2, 1, 0.01f)), 0, 3))
        .isEqualTo("fe7641");
  }

  @Test
  void dequantisedElementsAreCodesTimesScales() {
    SplittableRandom random = new SplittableRandom(8);
    for (QuantizedType type : QuantizedType.all()) {
      if (type.toString().endsWith("given")) {
        continue;
      }
      float[] y = new float[512];
      for (int i = 0; i < y.length; i++) {
        y[i] = (float) random.nextDouble(-3, 3);
      }
      float[] back = dequantised(type, y);
      double step = type.toString().startsWith("f8e5m2") ? 0.13 : 0.07;
      for (int i = 0; i < y.length; i++) {
        double bound = type.toString().startsWith("f8") ? step * Math.abs(y[i]) + 1e-4 : 0.0125;
        assertThat((double) back[i]).as("%s", type).isBetween(y[i] - bound, y[i] + bound);
      }
    }
  }

  /** More rows than are decoded at once, with gaps between rows of codes, scales and elements. */
  @Test
  void rowsWithGapsAreDequantised() {
    int rows = 5_000;
    byte[] codes = new byte[rows * 40];
    float[] scales = new float[rows * 3];
    float[] y = new float[rows * 35];
    Arrays.fill(y, -1);
    float[] expected = y.clone();
    for (int row = 0; row < rows; row++) {
      scales[row * 3] = 1 + row;
      for (int i = 0; i < 32; i++) {
        codes[row * 40 + i] = (byte) (i - row % 90);
        expected[row * 35 + i] = (i - row % 90) * (1f + row);
      }
    }
    QuantizedRows q =
        QuantizedRows.of(
            MemorySegment.ofArray(codes),
            40,
            MemorySegment.ofArray(scales),
            3,
            QuantizedType.int8(32),
            rows,
            32);
    q.dequantize(Rows.of(y, 0, rows, 32, 35));
    assertThat(y).isEqualTo(expected);
    assertThat(q).hasToString("5000 x 32 int8:32 at a stride of 40");
    assertThat(q.scale()).isZero();
  }

  @Test
  void aScaleThatIsGivenIsThatOfEachElement() {
    MemorySegment one = MemorySegment.ofArray(new byte[] {0x38, 0x40, (byte) 0xb8, 0});
    float[] y = new float[4];
    for (float scale : new float[] {Float.MIN_NORMAL, 3, Float.MAX_VALUE / 2}) {
      QuantizedRows q = QuantizedRows.of(one, scale, QuantizedType.e4m3Given(), 1, 4);
      assertThat(q.scale()).isEqualTo(scale);
      assertThat(q).hasToString("1 x 4 f8e4m3:given");
      q.dequantize(Rows.of(y, 4));
      // In E4M3 they are 1, 2, -1 and 0.
      assertThat(y).containsExactly(scale, 2 * scale, -scale, 0);
    }
  }

  @Test
  void eachChoiceIsReplacedAlone() {
    Quantizer other =
        Quantizer.defaults()
            .withFactor(CodeFactor.DIVISION)
            .withRounding(CodeRounding.AWAY)
            .withFloor(ScaleFloor.VLLM)
            .withRoundedOutput(true);
    assertThat(other.factor()).isEqualTo(CodeFactor.DIVISION);
    assertThat(other.rounding()).isEqualTo(CodeRounding.AWAY);
    assertThat(other.floor()).isEqualTo(ScaleFloor.VLLM);
    assertThat(other.roundsOutput()).isTrue();
    assertThat(other.withRoundedOutput(false).roundsOutput()).isFalse();
    assertThat(other.withFloor(ScaleFloor.NONE))
        .extracting(Quantizer::factor, Quantizer::rounding, Quantizer::floor)
        .containsExactly(CodeFactor.DIVISION, CodeRounding.AWAY, ScaleFloor.NONE);
  }

  @Test
  void namesOfTypesAreRead() {
    for (QuantizedType type : QuantizedType.all()) {
      assertThat(QuantizedType.ofName(type.toString().toUpperCase(java.util.Locale.ROOT)))
          .isSameAs(type);
    }
    assertThat(QuantizedType.ofName("int8:32")).isSameAs(QuantizedType.int8(32));
    assertThat(Quantizer.vllm())
        .hasToString("quantizer(INVERSE, EVEN, floor VLLM, of rounded output)");
  }
}
