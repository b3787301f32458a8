package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.codec.Float8;
import io.github.rmsnorm4j.internal.quantized.CodeFormat;
import io.github.rmsnorm4j.internal.quantized.CodeLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How quantised rows are stored: codes of 8 bits, and scales. An element is its code times the
 * scale of its block. A row is whole blocks. Numbers are in the native byte order of the machine;
 * files of ggml are in little-endian order.
 *
 * <table>
 * <caption>Bytes of a block</caption>
 * <tr><th>type</th><th>elements</th><th>bytes</th><th>layout</th></tr>
 * <tr><td>{@link #Q8_0}</td><td>32</td><td>34</td>
 *     <td>0: float16 scale; 2: 32 int8 codes</td></tr>
 * <tr><td>{@link #Q8_1}</td><td>32</td><td>36</td>
 *     <td>0: float16 scale; 2: float16 scale times the sum of the codes; 4: 32 int8 codes</td></tr>
 * <tr><td>{@link #Q8_K}</td><td>256</td><td>292</td>
 *     <td>0: float32 scale; 4: 256 int8 codes; 260: 16 int16 sums of 16 codes each</td></tr>
 * <tr><td>{@link #int8}</td><td>32, 64 or 128</td><td>as many</td>
 *     <td>int8 codes; a float32 scale in memory of its own</td></tr>
 * <tr><td>{@link #int8PerRow}</td><td>the width</td><td>as many</td><td>the same</td></tr>
 * <tr><td>{@link #e4m3}, {@link #e5m2}</td><td>32, 64 or 128</td><td>as many</td>
 *     <td>FP8 codes; a float32 scale in memory of its own</td></tr>
 * <tr><td>{@link #e4m3PerRow}, {@link #e5m2PerRow}</td><td>the width</td><td>as many</td>
 *     <td>the same</td></tr>
 * <tr><td>{@link #e4m3Given}, {@link #e5m2Given}</td><td>1</td><td>1</td>
 *     <td>FP8 codes; one scale that is given for all</td></tr>
 * </table>
 *
 * <p>There is one object for each type.
 */
public final class QuantizedType {
  private static final int[] BLOCKS = {32, 64, 128};
  private static final int GGML_BLOCK = 32;
  private static final int K_BLOCK = 256;
  private static final String ROW = "row";
  private static final String GIVEN = "given";
  private static final List<QuantizedType> ALL = new ArrayList<>();

  /** The blocks of llama.cpp that are multiplied with weights of Q4_0, Q5_0, Q8_0 and others. */
  public static final QuantizedType Q8_0 = ggml("q8_0", CodeLayout.Q8_0, GGML_BLOCK);

  /** The blocks of llama.cpp that are multiplied with weights of Q4_1 and Q5_1. */
  public static final QuantizedType Q8_1 = ggml("q8_1", CodeLayout.Q8_1, GGML_BLOCK);

  /**
   * The blocks of llama.cpp that are multiplied with K-quants. The scale may be negative: the
   * element of the largest magnitude, the first one of several, has the code -127. The sums are
   * always written.
   */
  public static final QuantizedType Q8_K = ggml("q8_k", CodeLayout.Q8_K, K_BLOCK);

  static {
    apart("int8", null);
    apart("f8e4m3", Float8.E4M3);
    apart("f8e5m2", Float8.E5M2);
  }

  private final String name;
  private final CodeFormat format;

  private QuantizedType(String name, CodeFormat format) {
    this.name = name;
    this.format = format;
    ALL.add(this);
  }

  private static QuantizedType ggml(String name, CodeLayout layout, int block) {
    return new QuantizedType(name, new CodeFormat(layout, block, null, false));
  }

  private static void apart(String codes, @Nullable Float8 float8) {
    for (int block : BLOCKS) {
      new QuantizedType(
          codes + ":" + block, new CodeFormat(CodeLayout.APART, block, float8, false));
    }
    new QuantizedType(codes + ":" + ROW, new CodeFormat(CodeLayout.APART, 0, float8, false));
    if (float8 != null) {
      new QuantizedType(codes + ":" + GIVEN, new CodeFormat(CodeLayout.APART, 1, float8, true));
    }
  }

  /**
   * {@return int8 codes from -127 to 127, with a float32 scale for each block}
   *
   * @param block elements of a block: 32, 64 or 128
   * @throws IllegalArgumentException if it is another number
   */
  public static QuantizedType int8(int block) {
    return ofBlock("int8", block);
  }

  /** {@return int8 codes from -127 to 127, with a float32 scale for each row} */
  public static QuantizedType int8PerRow() {
    return ofName("int8:" + ROW);
  }

  /**
   * {@return FP8 codes with four bits of exponent, with a float32 scale for each block}
   *
   * @param block elements of a block: 32, 64 or 128
   * @throws IllegalArgumentException if it is another number
   */
  public static QuantizedType e4m3(int block) {
    return ofBlock("f8e4m3", block);
  }

  /** {@return FP8 codes with four bits of exponent, with a float32 scale for each row} */
  public static QuantizedType e4m3PerRow() {
    return ofName("f8e4m3:" + ROW);
  }

  /** {@return FP8 codes with four bits of exponent; one scale is given for all rows} */
  public static QuantizedType e4m3Given() {
    return ofName("f8e4m3:" + GIVEN);
  }

  /**
   * {@return FP8 codes with five bits of exponent, with a float32 scale for each block}
   *
   * @param block elements of a block: 32, 64 or 128
   * @throws IllegalArgumentException if it is another number
   */
  public static QuantizedType e5m2(int block) {
    return ofBlock("f8e5m2", block);
  }

  /** {@return FP8 codes with five bits of exponent, with a float32 scale for each row} */
  public static QuantizedType e5m2PerRow() {
    return ofName("f8e5m2:" + ROW);
  }

  /** {@return FP8 codes with five bits of exponent; one scale is given for all rows} */
  public static QuantizedType e5m2Given() {
    return ofName("f8e5m2:" + GIVEN);
  }

  private static QuantizedType ofBlock(String codes, int block) {
    for (int possible : BLOCKS) {
      if (block == possible) {
        return ofName(codes + ":" + block);
      }
    }
    throw new IllegalArgumentException("block is " + block + ", it may be 32, 64 or 128");
  }

  /** {@return all types} */
  public static List<QuantizedType> all() {
    return List.copyOf(ALL);
  }

  /**
   * {@return the type with a name, as {@link #toString} gives it; upper and lower case are the
   * same}
   *
   * @param name for example {@code q8_0}, {@code int8:32}, {@code int8:row}, {@code f8e4m3:128}
   * @throws IllegalArgumentException if no type has that name
   */
  public static QuantizedType ofName(String name) {
    String wanted = NormArguments.requireNonNull(name, "name").toLowerCase(Locale.ROOT);
    for (QuantizedType type : ALL) {
      if (type.name.equals(wanted)) {
        return type;
      }
    }
    throw new IllegalArgumentException("type is '" + name + "', it may be one of " + ALL);
  }

  /**
   * {@return the number of elements that share a scale; a width must be a multiple of it} It is the
   * width where there is one scale for each row, and 1 where one is given for all.
   *
   * @param width of the rows
   */
  public int block(int width) {
    return format.block(width);
  }

  /**
   * {@return the bytes of a row of codes, with the scales that are in the same memory}
   *
   * @param width of the rows, a multiple of the block
   */
  public long rowBytes(int width) {
    return format.rowBytes(width);
  }

  /**
   * {@return the float32 scales of a row in memory of their own; 0 for types of ggml, and where one
   * scale is given}
   *
   * @param width of the rows, a multiple of the block
   */
  public int scales(int width) {
    return format.scales(width);
  }

  CodeFormat format() {
    return format;
  }

  /** The name, for example {@code q8_0} or {@code int8:32}. */
  @Override
  public String toString() {
    return name;
  }
}
