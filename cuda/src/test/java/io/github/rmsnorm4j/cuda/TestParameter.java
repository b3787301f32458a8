package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * A gain or a bias of any type.
 *
 * @param rows one row, or one for each sample
 * @param ofCall whether it is of the call, and not of the norm
 */
record TestParameter(TestRows rows, boolean ofCall) {
  /**
   * Draws one.
   *
   * @param length of all samples together
   * @param samples 1 for one row
   * @param least a negative number; 0 for numbers that are 0.5 at least, or -0.5 at most
   */
  static TestParameter draw(SplittableRandom random, int length, int samples, double least) {
    ElementType type = ElementType.values()[random.nextInt(ElementType.values().length)];
    int before = random.nextInt(3);
    int gap = samples > 1 ? random.nextInt(3) : 0;
    TestRows rows = TestRows.of(type, samples, length / samples, before, gap);
    for (int row = 0; row < samples; row++) {
      for (int i = 0; i < rows.width(); i++) {
        double number =
            least < 0
                ? random.nextDouble(least, 2)
                : random.nextDouble(0.5, 2) * (random.nextBoolean() ? 1 : -1);
        rows.set(row, i, type.round(number));
      }
    }
    return new TestParameter(rows, samples > 1 || random.nextInt(3) == 0);
  }

  static boolean isOfNorm(TestParameter parameter) {
    return parameter != null && !parameter.ofCall;
  }

  /** Null where there is none, or it is the norm's. */
  static Rows ofCall(TestParameter parameter) {
    return parameter == null || !parameter.ofCall ? null : parameter.onCpu();
  }

  Rows onCpu() {
    return rows.onCpu();
  }

  /** All numbers. */
  int length() {
    return rows.rows() * rows.width();
  }

  /** In the memory of a device: as it is, or as the norm has it. */
  static DeviceColumn column(
      DeviceRun device,
      String name,
      TestParameter parameter,
      double offset,
      boolean float64,
      int width) {
    if (parameter == null) {
      return null;
    }
    TestRows rows = parameter.rows;
    if (parameter.ofCall) {
      long address = device.rows(name, rows, true).address();
      long step = rows.rows() > 1 ? rows.stride() : width;
      return new DeviceColumn(address, rows.type(), rows.type(), parameter.length(), step, offset);
    }
    ElementType arithmetic = float64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
    double[] numbers = new double[rows.width()];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = withOffset(rows.get(0, i), offset, float64);
    }
    long address = device.numbers(name, numbers, arithmetic);
    return DeviceColumn.of(address, rows.type(), arithmetic, numbers.length, width);
  }

  private static double withOffset(double number, double offset, boolean float64) {
    if (float64) {
      return offset == 0 ? number : offset + number;
    }
    return offset == 0 ? (float) number : (float) offset + (float) number;
  }

  /** Notes what was drawn. */
  static void reach(
      Set<String> reached,
      String name,
      TestParameter parameter,
      ElementType arithmetic,
      double offset) {
    if (parameter != null && parameter.ofCall) {
      reached.add(name + " of call " + parameter.rows.type() + ", " + arithmetic);
      reached.add(name + " of call, offset " + (offset != 0));
    }
  }

  @Override
  public String toString() {
    return rows.type() + (ofCall ? " of the call" : "");
  }
}
