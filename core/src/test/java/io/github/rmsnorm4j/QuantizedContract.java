package io.github.rmsnorm4j;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The section "Quantized output" of docs/numerics.md as plain steps, one element at a time. It
 * shares nothing with the library: an FP8 code is found among all codes.
 */
final class QuantizedContract {
  /** The bytes of one row, which hold its codes, and its scales in memory of their own. */
  record Row(byte[] codes, float[] scales) {}

  private static final double[] E4M3 = magnitudes(448);
  private static final double[] E5M2 = magnitudes(57344);

  private final String codes;
  private final String scaled;
  private final Quantizer rule;
  private final float given;

  /**
   * A rule for rows of a type.
   *
   * @param given the scale of all blocks, where the type has that
   */
  QuantizedContract(QuantizedType type, Quantizer rule, float given) {
    String[] name = type.toString().split(":");
    codes = name[0];
    scaled = name.length > 1 ? name[1] : codes.equals("q8_k") ? "256" : "32";
    this.rule = rule;
    this.given = given;
  }

  Row row(float[] y) {
    boolean given = scaled.equals("given");
    int block = scaled.equals("row") || given ? y.length : Integer.parseInt(scaled);
    boolean apart = !codes.startsWith("q8");
    ByteBuffer bytes = ByteBuffer.allocate(2 * y.length + 8).order(ByteOrder.nativeOrder());
    float[] scales = new float[given || !apart ? 0 : y.length / block];
    for (int from = 0; from < y.length; from += block) {
      float[] of = Arrays.copyOfRange(y, from, from + block);
      float scale =
          switch (codes) {
            case "q8_k" -> q8k(of, bytes);
            case "f8e4m3", "f8e5m2" -> float8(of, given, bytes);
            default -> int8(of, bytes);
          };
      if (scales.length > 0) {
        scales[from / block] = scale;
      }
    }
    byte[] written = new byte[bytes.position()];
    bytes.flip().get(written);
    return new Row(written, scales);
  }

  private static float largest(float[] y) {
    float largest = 0;
    for (float value : y) {
      largest =
          value != value || largest != largest ? Float.NaN : Math.max(largest, Math.abs(value));
    }
    return largest;
  }

  private float int8(float[] y, ByteBuffer into) {
    float a = largest(y);
    float d = a / 127;
    boolean floor = rule.floor() == ScaleFloor.VLLM && codes.equals("int8") && d < 0x1p-23f;
    d = floor ? 0x1p-23f : d;
    boolean zeros = !Float.isFinite(a) || d == 0;
    float factor = rule.factor() == CodeFactor.RATIO && !floor ? 127 / a : 1 / d;
    if (!zeros && rule.factor() != CodeFactor.DIVISION && Float.isInfinite(factor)) {
      d = 0;
      zeros = true;
    }
    byte[] integers = new byte[y.length];
    int sum = 0;
    for (int i = 0; i < y.length && !zeros; i++) {
      float v = rule.factor() == CodeFactor.DIVISION ? y[i] / d : y[i] * factor;
      integers[i] = (byte) Math.max(-127, Math.min(127, rounded(v, rule.rounding())));
      sum += integers[i];
    }
    if (codes.startsWith("q8")) {
      into.putShort(float16(d));
    }
    if (codes.equals("q8_1")) {
      into.putShort(float16(d * sum));
    }
    into.put(integers);
    return d;
  }

  private static short float16(float value) {
    return value != value ? 0x7e00 : Float.floatToFloat16(value);
  }

  private static int rounded(float v, CodeRounding rounding) {
    if (rounding == CodeRounding.HALF_ADDED) {
      return (int) (v + 0.5f);
    }
    double magnitude = Math.abs((double) v);
    int below = (int) magnitude;
    double rest = magnitude - below;
    boolean up = rest > 0.5 || rest == 0.5 && (rounding == CodeRounding.AWAY || below % 2 == 1);
    return (v < 0 ? -1 : 1) * (up ? below + 1 : below);
  }

  private static float q8k(float[] y, ByteBuffer into) {
    float a = largest(y);
    float first = Float.NaN;
    for (int i = y.length - 1; i >= 0; i--) {
      first = Math.abs(y[i]) == a ? y[i] : first;
    }
    float factor = -127 / first;
    boolean zeros = !Float.isFinite(a) || Float.isInfinite(factor);
    float d = zeros && Float.isFinite(a) ? 0 : 1 / factor;
    into.putFloat(d);
    int[] sums = new int[16];
    for (int i = 0; i < y.length; i++) {
      int code = zeros ? 0 : rounded(y[i] * factor, CodeRounding.EVEN);
      into.put((byte) code);
      sums[i / 16] += code;
    }
    for (int sum : sums) {
      into.putShort((short) sum);
    }
    return d;
  }

  private float float8(float[] y, boolean given, ByteBuffer into) {
    float most = codes.equals("f8e4m3") ? 448 : 57344;
    float a = largest(y);
    float d = a / most;
    float least = 1 / (most * 512);
    d = rule.floor() == ScaleFloor.VLLM && d < least ? least : d;
    boolean zeros = !given && (!Float.isFinite(a) || d == 0);
    for (float value : y) {
      float v = given ? value * (1 / this.given) : value / d;
      into.put(zeros ? 0 : float8(v, most));
    }
    return d;
  }

  /** The nearest of all codes below NaN and infinity; of two, the even one. */
  private static byte float8(float v, float most) {
    if (v != v) {
      return 0x7f;
    }
    double wanted = Math.min(Math.abs(v), most);
    double[] magnitudes = most == 448 ? E4M3 : E5M2;
    int nearest = 0;
    for (int code = 1; code < 0x7f && magnitudes[code] <= most; code++) {
      double now = Math.abs(magnitudes[code] - wanted);
      double before = Math.abs(magnitudes[nearest] - wanted);
      nearest = now < before || now == before && code % 2 == 0 ? code : nearest;
    }
    return (byte) (Math.copySign(1, v) < 0 ? nearest | 0x80 : nearest);
  }

  private static double[] magnitudes(float most) {
    return IntStream.range(0, 0x7f).mapToDouble(code -> magnitude(code, most)).toArray();
  }

  /** The magnitude of a finite code. */
  private static double magnitude(int code, float most) {
    int digits = most == 448 ? 3 : 2;
    int least = most == 448 ? -6 : -14;
    int exponent = code >> digits;
    double fraction = (code & (1 << digits) - 1) / (double) (1 << digits);
    return exponent == 0
        ? fraction * Math.pow(2, least)
        : (1 + fraction) * Math.pow(2, least + exponent - 1);
  }
}
