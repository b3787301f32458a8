package io.github.rmsnorm4j;

import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Checks the arguments of norms and views of rows; {@link CallOperands} checks those of calls. */
final class NormArguments {
  /** The longest array that every JVM makes. */
  static final int MAX_ELEMENTS = Integer.MAX_VALUE - 8;

  private NormArguments() {}

  static void requireGate(Gate gate) {
    if (gate == Gate.NONE) {
      throw new IllegalArgumentException(
          "gate is none, for a call with z it must be silu, sigmoid or silu before");
    }
  }

  /**
   * Refuses a call without the rows of a gate.
   *
   * @param call the method that takes them
   */
  static void requireNoGate(Gate gate, String call) {
    if (gate != Gate.NONE) {
      throw new IllegalArgumentException(
          "gate is " + gate + ", this call has no z and needs a norm without a gate: call " + call);
    }
  }

  /** Refuses a forward call without the rows of a gate, and says what a call with them lacks. */
  static void requireNoGate(Gate gate, @Nullable Rows residual) {
    if (gate != Gate.NONE && residual != null) {
      throw new IllegalArgumentException(
          "gate is " + gate + ", a call with a residual needs a norm without a gate");
    }
    requireNoGate(gate, "applyGated");
  }

  /**
   * Refuses an output where the input is that a backward pass needs.
   *
   * @param either whether the output may be kept instead
   */
  static void requireDistinct(Rows x, Rows y, String name, boolean either) {
    if (Overlap.any(x, y)) {
      throw new IllegalArgumentException(
          ("y is " + name + ", but the input is to be kept: ")
              + (either ? "keep the output, or write elsewhere" : "write elsewhere"));
    }
  }

  /** Checks a gain or a bias of a call with rows. */
  static void checkParameter(Rows parameter, Norm norm, long rows, String name) {
    checkShape(parameter, norm.width(), norm.groupWidth, name);
    requireSamples(parameter, rows, name);
    requireAccess(parameter, name);
  }

  /** What a gain or a bias of a call has whatever x is; null where there is none. */
  static void checkShape(@Nullable Rows parameter, int width, int group, String name) {
    if (parameter == null) {
      return;
    }
    boolean fits = parameter.width() == width || parameter.width() == group;
    if (parameter.rows() > 1 && group < width) {
      throw new IllegalArgumentException(
          name + " has " + parameter.rows() + " rows, for a norm of groups it must have 1");
    }
    if (!fits || parameter.rows() < 1) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "%s has %d x %d elements, the rows are %d wide%s",
              name,
              parameter.rows(),
              parameter.width(),
              width,
              ofGroups(width, group)));
    }
    if (parameter.rows() > MAX_ELEMENTS / parameter.width()) {
      throw new IllegalArgumentException(
          (name + " has " + parameter.rows() + " rows of " + parameter.width() + " elements")
              + (", together they must be at most " + MAX_ELEMENTS));
    }
  }

  /**
   * A parameter of several rows has one for each sample: for as many rows of x one after the other.
   */
  static void requireSamples(Rows parameter, long rows, String name) {
    long samples = parameter.rows();
    if (rows % samples != 0) {
      throw new IllegalArgumentException(
          (name + " has " + samples + " rows, x has " + rows)
              + (": it must have 1, or a number that divides " + rows));
    }
  }

  /** Statistics of so many rows, or of groups of rows; null where they are not wanted. */
  static void requireRoom(double @Nullable [] values, long rows, int groups, String name) {
    if (values != null && values.length < rows * groups) {
      throw new IllegalArgumentException(
          (name + " has room for " + values.length + (groups > 1 ? " groups" : " rows"))
              + (", there are " + rows * groups));
    }
  }

  static <T> T requireNonNull(@Nullable T value, String name) {
    if (value == null) {
      throw new NullPointerException(name + " is null");
    }
    return value;
  }

  static void requireWholeRows(int length, int width, String name) {
    if (length % width != 0) {
      throw new IllegalArgumentException(
          name + " has " + length + " elements, they must be whole rows of " + width);
    }
  }

  static void requireAccess(Rows rows, String name) {
    requireAccess(rows.segment(), name);
  }

  static void requireAccess(MemorySegment segment, String name) {
    requireAccess(segment, name, "is");
  }

  /** For a name of one thing or of several: the verb is {@code is} or {@code are}. */
  static void requireAccess(MemorySegment segment, String name, String verb) {
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException(name + " " + verb + " in memory that has been closed");
    }
    if (!segment.isAccessibleBy(Thread.currentThread())) {
      throw new WrongThreadException(
          name + " " + verb + " in memory that is confined to another thread");
    }
  }

  /** The parameters of a norm serve all rows; null without one. */
  static void requireParameter(@Nullable Parameter parameter, int width, int group, String name) {
    if (parameter != null) {
      requireParameterLength(parameter.length(), width, group, name);
    }
  }

  static void requireParameterLength(int length, int width, int group, String name) {
    if (length != width && length != group) {
      throw new IllegalArgumentException(
          name
              + " has "
              + length
              + " elements, the rows are "
              + width
              + " wide"
              + ofGroups(width, group)
              + ofHeads(length, width, group));
    }
  }

  private static String ofGroups(int width, int group) {
    return group == width
        ? ""
        : ", their groups " + group + ": it must be one row, with as many elements as either";
  }

  /** What is meant by a parameter that is too short, if it is as long as a group could be. */
  private static String ofHeads(int length, int width, int group) {
    boolean mayBeGroup = group == width && length > 1 && length < width && width % length == 0;
    return mayBeGroup ? ": for one of each head set groupSize(" + length + ")" : "";
  }

  /**
   * Gain and bias, where there are both, have as many elements; 0 stands for none.
   *
   * @param isHeld whether the gain is of the call and the bias of the norm
   */
  static void requireSameParameters(int gain, int bias, boolean isHeld) {
    if (gain > 0 && bias > 0 && gain != bias) {
      throw new IllegalArgumentException(
          ((isHeld ? "the norm's own bias has " : "bias has ")
                  + bias
                  + " elements, gain has "
                  + gain)
              + (": they must be the same" + (isHeld ? ", pass a bias, too" : "")));
    }
  }

  /**
   * A parameter of a row or of groups. How many groups there are is known when a norm is built.
   *
   * @param groups those that are set so far
   */
  static void requireDivisor(int length, int width, RowGroups groups, String name) {
    if (length == 0 || width % length != 0) {
      requireParameterLength(length, width, width / groups.count(width), name);
    }
  }

  static void requireSameLength(float[] x, float[] y) {
    if (requireNonNull(x, "x").length != requireNonNull(y, "y").length) {
      throw new IllegalArgumentException(
          "y has " + y.length + " elements, x has " + x.length + ": they must be the same");
    }
  }

  static float[] requireArray(float[] array, int width, RowGroups groups, String name) {
    requireDivisor(requireNonNull(array, name).length, width, groups, name);
    return array;
  }

  static double[] requireArray(double[] array, int width, RowGroups groups, String name) {
    requireDivisor(requireNonNull(array, name).length, width, groups, name);
    return array;
  }

  static Rows rows(float[] array, int offset, int rows, int width, String name) {
    requireRoom(requireNonNull(array, name).length, offset, rows, width, name);
    return Rows.of(array, offset, rows, width);
  }

  private static void requireRoom(int length, int offset, int rows, int width, String name) {
    if (offset < 0 || (long) offset + (long) rows * width > length) {
      throw new IndexOutOfBoundsException(
          String.format(
              Locale.ROOT,
              "%1$sOffset is %2$d, %1$s has %3$d elements: %4$d x %5$d must lie between",
              name,
              offset,
              length,
              rows,
              width));
    }
  }

  /** Checks rows that are arrays of their own. */
  static void requireRows(float[][] x, float[][] y, int width) {
    if (requireNonNull(x, "x").length != requireNonNull(y, "y").length) {
      throw new IllegalArgumentException(
          "y has " + y.length + " rows, x has " + x.length + ": they must be the same");
    }
    IdentityHashMap<float[], Integer> written = new IdentityHashMap<>(y.length);
    for (int i = 0; i < y.length; i++) {
      requireRow(y[i], i, width, "y");
      requireOwn(i, "y", written.put(y[i], i));
    }
    for (int i = 0; i < x.length; i++) {
      requireRow(x[i], i, width, "x");
      requireOwn(i, "x", written.get(x[i]));
    }
  }

  private static void requireRow(float[] row, int i, int width, String name) {
    if (requireNonNull(row, name + "[" + i + "]").length != width) {
      throw new IllegalArgumentException(
          name + "[" + i + "] has " + row.length + " elements, the norm is " + width + " wide");
    }
  }

  private static void requireOwn(int i, String name, @Nullable Integer written) {
    if (written != null && written != i) {
      throw new IllegalArgumentException(
          ("y[" + written + "] is " + name + "[" + i + "]")
              + ": it must be an array of its own, or x["
              + written
              + "]");
    }
  }
}
