package io.github.rmsnorm4j.cli.testing;

import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/** Numbers on their way to a page's script and back, as the patterns of float64. */
public final class PageBits {
  /** Numbers travel as the patterns of float64: there is NaN, infinity and -0 among them. */
  public static final String SCRIPT =
      """
      const view = new DataView(new ArrayBuffer(8));
      const numbers = (text) => text === "" ? null : text.split(" ").map((bits) => {
        view.setBigUint64(0, BigInt("0x" + bits));
        return view.getFloat64(0);
      });
      const text = (values) => values.map((value) => {
        if (Number.isNaN(value)) return "7ff8000000000000";
        view.setFloat64(0, value);
        return view.getBigUint64(0).toString(16).padStart(16, "0");
      }).join(" ");
      """;

  private PageBits() {}

  /** The float64 patterns of numbers, which tell apart what JSON does not. */
  public static String text(double... values) {
    return DoubleStream.of(values)
        .mapToObj(value -> "%016x".formatted(Double.doubleToLongBits(value)))
        .collect(Collectors.joining(" "));
  }

  public static double[] numbers(String bits) {
    return Arrays.stream(bits.split(" "))
        .mapToDouble(each -> Double.longBitsToDouble(Long.parseUnsignedLong(each, 16)))
        .toArray();
  }
}
